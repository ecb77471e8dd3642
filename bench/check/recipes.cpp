#include "bench/check/recipes.hpp"

#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "workloads/registry.hpp"
#include "workloads/trace_file.hpp"

#include <algorithm>

namespace vrambench::checking {

void recipe::want(std::uint64_t event)
{
    if (const std::uint64_t at = std::min(event, made_->summary.events); !known_.contains(at)) wanted_.insert(at);
}

const trace_position& recipe::at(std::uint64_t event)
{
    want(event);
    if (!wanted_.empty()) {
        known_.merge(positions_in(*made_->recipe, made_->summary, wanted_));
        wanted_.clear();
    }
    return known_.at(std::min(event, made_->summary.events));
}

const recipe_shelf::slot& recipe_shelf::get(const cell& c)
{
    const trace_header& h = c.workload->recipe->header();
    const std::uint64_t events = c.workload->summary.events;
    const std::string key = h.spec + '|' + std::to_string(h.seed) + '|' + std::to_string(c.resident_bytes) + '|' +
                            std::to_string(events) + '|' + c.neighbour;
    const auto [found, is_new] = slots_.try_emplace(key);
    if (!is_new) return found->second;
    try {
        found->second.found =
            std::make_shared<recipe>(plan_workload(h.spec, h.seed, c.resident_bytes, c.neighbour, default_target, events));
    } catch (const input_error& e) {
        found->second.why_not = e.what();
    }
    return found->second;
}

bool names_a_file(const cell& c)
{
    const std::string& text = c.workload->recipe->header().spec;
    if (text.starts_with(trace_file_entry().name + ":")) return true;
    try {
        const spec s = parse_spec(text);
        const auto values = resolve(find_entry(workload_entries(), s.name, "workload"), s).values();
        return std::any_of(values.begin(), values.end(), [](const auto& v) { return v.second.starts_with('@'); });
    } catch (const input_error&) {
        return false;
    }
}

}  // namespace vrambench::checking
