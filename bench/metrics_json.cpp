#include "bench/metrics_json.hpp"

#include "bench/json_text.hpp"
#include "bench/long_calls.hpp"
#include "bench/metrics.hpp"
#include "bench/repetition_json.hpp"

namespace vrambench {

using nlohmann::json;

namespace {

json to_json_value(const number& n)
{
    if (const auto* whole = std::get_if<std::uint64_t>(&n)) return *whole;
    return json_number(std::get<double>(n));
}

void add_estimate(json& to, const estimate& e)
{
    to["median"] = to_json_value(e.median);
    to["ci95"] = e.ci95 ? json::array({to_json_value(e.ci95->first), to_json_value(e.ci95->second)}) : json(nullptr);
    to["samples"] = e.samples;
}

json metric_json(const metric_info& m) { return json{{"unit", m.unit}, {"better", to_string(m.direction)}}; }

/// Collects the metrics of one pass; what could not be derived is left out.
class metric_writer {
public:
    void add(const char* name, const std::optional<estimate>& e)
    {
        if (e) add_estimate(start(name), *e);
    }
    json& start(const char* name) { return all_[name] = metric_json(metric(name)); }
    /// Metrics that are plain counts by name carry no unit among the counts; the schema's table has it.
    void set(const char* name, json value) { all_[metric(name).name] = std::move(value); }
    json take() { return std::move(all_); }

private:
    json all_ = json::object();
};

json quantiles_json(const quantiles& q)
{
    return {{"count", q.count}, {"p50", json_number(q.p50)},    {"p90", json_number(q.p90)},
            {"p99", json_number(q.p99)}, {"p99.9", json_number(q.p999)}, {"max", json_number(q.max)}};
}

json part_json(const part_numbers& p)
{
    json j = quantiles_json(p.each);
    j["total"] = json_number(p.total);
    return j;
}
json split_json(const call_split& s) { return {{"drain", part_json(s.drain)}, {"idle", part_json(s.idle)}}; }

/// Nothing where no call was long.
void add_split(json& metric, const std::array<call_split, path_kinds>& by_path, const call_split& any)
{
    if (any.idle.each.count == 0) return;
    json& m = metric["split"];
    m["above"] = static_cast<double>(long_calls::threshold_ps) / 1000.0;
    m["any"] = split_json(any);
    for (std::size_t k = 0; k < path_kinds; ++k)
        if (by_path[k].idle.each.count != 0) m["paths"][to_string(static_cast<path>(k))] = split_json(by_path[k]);
}

void add_latency(metric_writer& out, const char* name, const std::array<quantiles, path_kinds>& by_path, const quantiles& any,
                 const std::array<call_split, path_kinds>& split_by_path, const call_split& split)
{
    if (any.count == 0) return;
    json& m = out.start(name);
    m["error"] = histogram::relative_error;
    m["any"] = quantiles_json(any);
    m["paths"] = json::object();
    for (std::size_t k = 0; k < path_kinds; ++k)
        if (by_path[k].count != 0) m["paths"][to_string(static_cast<path>(k))] = quantiles_json(by_path[k]);
    add_split(m, split_by_path, split);
}

void set_divisor(json& to, bool per_token) { to["per"] = per_token ? "token" : "step"; }

void add_added(metric_writer& out, const pass_numbers& n)
{
    if (!n.added_ns) return;
    json& m = out.start("added_ns_per_token");
    if (!n.per_token) m["unit"] = "ns/step";
    set_divisor(m, n.per_token);
    add_estimate(m, *n.added_ns);
    m["phases"] = json::object();
    for (const phase_metrics& p : n.phases)
        if (p.added_ns) {
            json& phase = m["phases"][json_text(p.name).get<std::string>()];
            set_divisor(phase, p.per_token);
            add_estimate(phase, *p.added_ns);
        }
}

void add_slowdown(metric_writer& out, const pass_numbers& n)
{
    if (!n.slowdown) return;
    json& m = out.start("slowdown");
    add_estimate(m, *n.slowdown);
    m["phases"] = json::object();
    for (const phase_metrics& p : n.phases)
        if (p.slowdown) add_estimate(m["phases"][json_text(p.name).get<std::string>()], *p.slowdown);
}

void add_steps(metric_writer& out, const pass_numbers& n)
{
    if (n.phases.empty()) return;
    json& m = out.start("step_ns");
    m["error"] = histogram::relative_error;
    m["phases"] = json::object();
    for (const phase_metrics& p : n.phases)
        m["phases"][json_text(p.name).get<std::string>()] = {
            {"count", p.step_ns.count}, {"p50", p.step_ns.p50}, {"p99", p.step_ns.p99}, {"max", p.step_ns.max}};
}

void add_rate(metric_writer& out, const char* name, const std::optional<estimate>& rate)
{
    if (!rate) return;
    json& m = out.start(name);
    m["label"] = "modelled";   // the kernels' times are a declared model, so that nobody quotes this as the card's rate
    add_estimate(m, *rate);
}

void add_max_live(metric_writer& out, std::uint64_t bytes)
{
    add_estimate(out.start("max_live_bytes"), {bytes, std::nullopt, 1});
}

json calls_json(const call_numbers& calls)
{
    json j = json::object();
    for (std::size_t k = 0; k < driver_call_kinds; ++k) j[to_string(static_cast<driver_call>(k))] = to_json_value(calls[k]);
    return j;
}

json recovery_json(const recovery_metrics& r)
{
    json j = {{"failures", to_json_value(r.failures)},
            {"recoveries", to_json_value(r.recoveries)},
            {"flushes", to_json_value(r.flushes)},
            {"flushed_bytes", to_json_value(r.flushed_bytes)},
            {"evictions", to_json_value(r.evictions)},
            {"evicted_bytes", to_json_value(r.evicted_bytes)},
            {"bytes_given_back", to_json_value(r.bytes_given_back)}};
    if (r.has_times)
        j["recovery_ns"] = {{"drain", {{"sync", r.drain_sync}, {"free", r.drain_free}, {"allocate", r.drain_allocate}}},
                            {"idle", {{"sync", r.idle_sync}, {"free", r.idle_free}, {"allocate", r.idle_allocate}}}};
    return j;
}

json numbers_json(const pass_numbers& n)
{
    metric_writer out;
    add_added(out, n);
    add_slowdown(out, n);
    add_steps(out, n);
    add_rate(out, "pp_tokens_per_s", n.pp_tokens_per_s);
    add_rate(out, "tg_tokens_per_s", n.tg_tokens_per_s);
    add_latency(out, "alloc_ns", n.alloc, n.any_alloc, n.alloc_split, n.any_alloc_split);
    add_latency(out, "free_ns", n.free, n.any_free, n.free_split, n.any_free_split);
    out.add("unsplit_calls", n.unsplit_calls);
    out.add("device_idle_ns", n.device_idle_ns);
    out.add("stall_ns", n.stall_ns);
    out.add("host_bound", n.host_bound);
    out.add("overrun_share", n.overrun_share);
    out.add("peak_live_bytes", n.peak_live_bytes);
    add_max_live(out, n.max_live_bytes);
    out.add("peak_reserved_bytes", n.peak_reserved_bytes);
    out.add("peak_device_bytes", n.peak_device_bytes);
    out.add("device_bloat", n.device_bloat);
    out.add("end_reserved_bytes", n.end_reserved_bytes);
    if (!n.idle_reserved_bytes.empty()) out.start("idle_reserved_bytes")["values"] = n.idle_reserved_bytes;
    out.add("byte_seconds_ratio", n.byte_seconds_ratio);
    out.set("driver_calls", calls_json(n.calls));
    out.set("oom", recovery_json(n.recovery));
    return out.take();
}

json reached_json(const reached_values& r)
{
    return {{"events", r.events},
            {"peak_live_bytes", r.peak_live_bytes},
            {"peak_reserved_bytes", r.peak_reserved_bytes},
            {"peak_device_bytes", r.peak_device_bytes},
            {"end_reserved_bytes", r.end_reserved_bytes},
            {"driver_calls", driver_calls_json(r.calls)},
            {"refused_calls", sparse_calls_json(r.refused)},
            {"oom", recovery_json(r.recovery)}};
}

}  // namespace

json pass_metrics_json(const pass_metrics& m)
{
    return {{"attempted", m.attempted},
            {"completed", m.completed},
            {"outcome", m.result ? outcome_json(*m.result) : json(nullptr)},
            {"metrics", m.numbers ? numbers_json(*m.numbers) : json::object()},
            {"reached", m.reached ? reached_json(*m.reached) : json(nullptr)},
            {"cached_blocks_bytes", m.cached_blocks},
            {"hazard_count", m.hazard_count}};
}

}  // namespace vrambench
