#include "bench/plan.hpp"

#include "spec/errors.hpp"
#include "workloads/registry.hpp"
#include "workloads/resident.hpp"

namespace vrambench {

std::shared_ptr<const planned_workload> plan_workload(const std::string& spec, std::uint64_t seed, std::uint64_t resident_bytes)
{
    auto w = std::make_shared<planned_workload>();
    w->recipe = make_trace(spec, seed);
    w->summary = summarise(*w->recipe);
    if (w->summary.events == 0) throw input_error("workload " + in_quotes(spec) + " has no events");
    if (resident_bytes == 0) return w;
    w->recipe = with_resident(w->recipe, w->summary.external_ids, resident_bytes);
    w->summary = with_resident(w->summary, resident_bytes);
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
