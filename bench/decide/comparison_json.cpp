#include "bench/decide/comparison_json.hpp"

#include "bench/document_parts.hpp"
#include "bench/json_text.hpp"

namespace vrambench {

using nlohmann::json;

namespace {

json optional_number(const std::optional<double>& v) { return v ? json_number(*v) : json(nullptr); }

json interval_json(const std::optional<interval>& i)
{
    return i ? json{json_number(i->low), json_number(i->high)} : json(nullptr);
}

json arm_json(const arm_value& a)
{
    return {{"processes", a.processes}, {"mean", a.processes ? json_number(a.mean) : json(nullptr)}};
}

json metric_json(const metric_verdict& v)
{
    json j = {{"metric", v.metric},
              {"phase", v.phase.empty() ? json(nullptr) : json_text(v.phase)},
              {"pass", v.steady ? "steady" : "cold"},
              {"unit", metric(v.metric).unit},
              {"better", to_string(metric(v.metric).direction)},
              {"base", arm_json(v.base)},
              {"other", arm_json(v.other)},
              {"paired", v.paired},
              {"exact", v.exact},
              {"difference", optional_number(v.difference)},
              {"ci95", interval_json(v.ci95)},
              {"ratio", optional_number(v.ratio)},
              {"ratio_ci95", interval_json(v.ratio_ci95)},
              {"cliffs_delta", optional_number(v.effect)}};
    if (!v.decides) return j;
    j["verdict"] = to_string(v.what);
    j["margin"] = v.margin;
    j["p"] = v.test ? json_number(v.test->p) : json(nullptr);
    j["p_adjusted"] = v.test ? json_number(v.test->p_adjusted) : json(nullptr);
    j["resolution"] = optional_number(v.resolution);
    j["processes_wanted"] = optional_number(v.processes_wanted);
    j["note"] = v.note.empty() ? json(nullptr) : json(v.note);
    return j;
}

json pair_json(const pair_verdict& p)
{
    const cell& c = *p.cells.base;
    json outcomes = json::array(), decided = json::array(), described = json::array();
    for (const outcome_verdict& o : p.outcomes)
        outcomes.push_back({{"pass", o.steady ? "steady" : "cold"},
                            {"base", json_text(o.base)},
                            {"other", json_text(o.other)},
                            {"verdict", to_string(o.what)}});
    for (const metric_verdict& m : p.metrics) (m.decides ? decided : described).push_back(metric_json(m));
    const auto arm = [](const std::string& name, const cell& of) {
        return json{{"name", json_text(name)}, {"allocator", json_text(of.allocator.spec)}, {"id", of.id}};
    };
    return {{"workload", json_text(c.workload->recipe->header().spec)},
            {"device", device_json(c.on)},
            {"vram_limit_bytes", c.vram_limit_bytes ? json(*c.vram_limit_bytes) : json(nullptr)},
            {"mode", to_string(c.mode)},
            {"kernels", to_string(c.kernels)},
            {"kernel_scale", c.kernel_scale},
            {"base", arm(p.base_name, c)},
            {"other", arm(p.other_name, *p.cells.other)},
            {"verdict", to_string(p.overall())},
            {"outcomes", std::move(outcomes)},
            {"metrics", std::move(decided)},
            {"described", std::move(described)}};
}

}  // namespace

std::string comparison_json(const comparison& c)
{
    json j = {{"schema", comparison_schema},
              {"of", c.of_allocators ? "allocators" : "files"},
              {"judged_together", c.judged_together},
              {"warnings", json::array()},
              {"verdicts",
               {{"same", c.counts.same},
                {"better", c.counts.better},
                {"worse", c.counts.worse},
                {"not_enough_evidence", c.counts.not_enough_evidence},
                {"outcome_change", c.counts.outcome_changes}}},
              {"pairs", json::array()}};
    for (const std::string& w : c.warnings) j["warnings"].push_back(json_text(w));
    for (const pair_verdict& p : c.pairs) j["pairs"].push_back(pair_json(p));
    std::string out;
    print_json(out, j, 4, 0);
    return out + "\n";
}

}  // namespace vrambench
