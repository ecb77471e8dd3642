#include "bench/plan.hpp"

#include "bench/reading.hpp"
#include "spec/errors.hpp"
#include "workloads/neighbour.hpp"
#include "workloads/registry.hpp"
#include "workloads/resident.hpp"

#include <algorithm>

namespace vrambench {

namespace {

void add_resident(planned_workload& w, std::uint64_t bytes)
{
    w.recipe = with_resident(w.recipe, w.summary.external_ids, bytes);
    w.summary = with_resident(w.summary, bytes);
}

void add_neighbour(planned_workload& w, const neighbour_plan& plan, std::uint64_t most_events)
{
    if (const std::uint64_t last = std::max(plan.from_step, plan.to_step); last > w.summary.steps)
        throw input_error("--neighbour: step " + std::to_string(last) + " of a trace that has " + std::to_string(w.summary.steps) +
                          " (" + printable(w.recipe->header().name) + ")");
    const std::uint64_t own = w.summary.max_external_bytes;
    w.recipe = with_neighbour(w.recipe, w.summary.external_ids, plan);
    w.summary = summarise_telling(*w.recipe, most_events);
    w.summary.max_external_bytes = own;
}

}  // namespace

std::shared_ptr<const planned_workload> plan_workload(const std::string& spec, std::uint64_t seed, std::uint64_t resident_bytes,
                                                      const std::string& neighbour, const std::string& target,
                                                      std::uint64_t most_events)
{
    auto w = std::make_shared<planned_workload>();
    w->recipe = make_trace(spec, seed, target);
    w->summary = summarise_telling(*w->recipe, most_events);
    if (w->summary.events == 0) throw input_error("workload " + in_quotes(spec) + " has no events");
    if (resident_bytes) add_resident(*w, resident_bytes);
    if (!neighbour.empty()) add_neighbour(*w, parse_neighbour(neighbour), most_events);
    return w;
}

const char* to_string(run_mode m)
{
    switch (m) {
    case run_mode::eager: return "eager";
    case run_mode::graph: return "graph";
    }
    return "?";
}

const char* to_string(kernel_model k)
{
    switch (k) {
    case kernel_model::hold: return "hold";
    case kernel_model::traffic: return "traffic";
    }
    return "?";
}

const char* to_string(verify_level v)
{
    switch (v) {
    case verify_level::off: return "off";
    case verify_level::sample: return "sample";
    case verify_level::full: return "full";
    }
    return "?";
}

}  // namespace vrambench
