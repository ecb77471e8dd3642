#include "bench/repetition_json.hpp"

#include "bench/json_errors.hpp"
#include "bench/json_numbers.hpp"
#include "bench/json_text.hpp"

#include <limits>

namespace vrambench {

using nlohmann::json;

namespace {

// Bins are in ns; every picosecond value below 2^52 survives the division and comes back by rounding.
json histogram_json(const histogram& h)
{
    json bins = json::array();
    for (const auto& [middle, count] : h.bins()) bins.push_back({static_cast<double>(middle) / 1000.0, count});
    return {{"error", histogram::relative_error}, {"bins", std::move(bins)}, {"sum_ps", h.sum()}, {"max_ps", h.max()}};
}

histogram histogram_from(const json& j)
{
    std::vector<std::pair<std::int64_t, std::uint64_t>> bins;
    for (const json& b : j.at("bins")) {
        const double ps = b.at(0).get<double>() * 1000.0;
        if (!(ps >= 0 && ps < 9.2e18)) throw input_error("a histogram's bin is out of range");
        bins.emplace_back(std::llround(ps), count_from(b.at(1), "bins"));
    }
    return histogram::from_bins(bins, whole_from(j.at("sum_ps"), "sum_ps"), whole_from(j.at("max_ps"), "max_ps"));
}

/// Calls `each(name, histogram)` for every histogram of a pass; `p` may be const.
template <class Pass, class Each> void for_each_histogram(Pass& p, Each each)
{
    for (std::size_t k = 0; k < path_kinds; ++k) {
        const std::string how = to_string(static_cast<path>(k));
        each("alloc_ns." + how, p.alloc[k]);
        each("alloc_drain_ns." + how, p.alloc_parts[k].drain);
        each("alloc_idle_ns." + how, p.alloc_parts[k].idle);
        each("free_ns." + how, p.free[k]);
        each("free_drain_ns." + how, p.free_parts[k].drain);
        each("free_idle_ns." + how, p.free_parts[k].idle);
    }
    for (auto& f : p.phases) each("step_ns." + json_text(f.name).template get<std::string>(), f.step);
}

json histograms_json(const pass_measurement& p)
{
    json all = json::object();
    for_each_histogram(p, [&](const std::string& name, const histogram& h) {
        if (h.count() != 0) all[name] = histogram_json(h);
    });
    return all;
}

void read_histograms(const json& all, pass_measurement& p)
{
    for_each_histogram(p, [&](const std::string& name, histogram& h) {
        if (const auto found = all.find(name); found != all.end()) h = histogram_from(*found);
    });
}

driver_call_counts driver_calls_from(const json& j)
{
    driver_call_counts counts{};
    for (std::size_t k = 0; k < driver_call_kinds; ++k)
        if (const auto found = j.find(to_string(static_cast<driver_call>(k))); found != j.end())
            counts[k] = count_from(*found, found.key());
    return counts;
}

json phases_json(const std::vector<phase_measurement>& phases, bool with_times)
{
    json all = json::array();   // an array: the order of phases is part of the truth
    for (const phase_measurement& f : phases) {
        all.push_back({{"name", json_text(f.name)}, {"steps", f.steps}, {"tokens", f.tokens}});
        if (with_times) all.back()["time_ps"] = f.time_ps;
    }
    return all;
}

std::vector<phase_measurement> phases_from(const json& j)
{
    std::vector<phase_measurement> phases;
    for (const json& f : j) {
        phase_measurement& p = phases.emplace_back();
        f.at("name").get_to(p.name);
        read(f, "steps", p.steps);
        read(f, "tokens", p.tokens);
        read_if_there(f, "time_ps", p.time_ps);
    }
    return phases;
}

json recovery_ps_json(const recovery_times& t)
{
    return {{"drain", {{"sync", t.drain_sync}, {"free", t.drain_free}, {"allocate", t.drain_allocate}}},
            {"idle", {{"sync", t.idle_sync}, {"free", t.idle_free}, {"allocate", t.idle_allocate}}}};
}

void read_recovery_ps(const json& j, recovery_times& t)
{
    const json &drain = j.at("drain"), &idle = j.at("idle");
    read(drain, "sync", t.drain_sync);
    read(drain, "free", t.drain_free);
    read(drain, "allocate", t.drain_allocate);
    read(idle, "sync", t.idle_sync);
    read(idle, "free", t.idle_free);
    read(idle, "allocate", t.idle_allocate);
}

json oom_json(const pass_measurement& p)
{
    return {{"failures", p.failures},
            {"recoveries", p.recoveries},
            {"flushes", p.flushes},
            {"flushed_bytes", p.flushed_bytes},
            {"evictions", p.evictions},
            {"evicted_bytes", p.evicted_bytes},
            {"bytes_given_back", p.recovery.bytes_given_back}};
}

void read_oom(const json& j, pass_measurement& p)
{
    read(j, "failures", p.failures);
    read(j, "recoveries", p.recoveries);
    read(j, "flushes", p.flushes);
    read(j, "flushed_bytes", p.flushed_bytes);
    read(j, "evictions", p.evictions);
    read(j, "evicted_bytes", p.evicted_bytes);
    read(j, "bytes_given_back", p.recovery.bytes_given_back);
    if (const auto times = j.find("recovery_ps"); times != j.end()) read_recovery_ps(*times, p.recovery);
}

json recovery_record_json(const recovery_record& r)
{
    json j = {{"event", r.event},
              {"step", r.step},
              {"by", to_string(r.by)},
              {"bytes_given_back", r.times.bytes_given_back},
              {"calls_after", r.calls_after},
              {"misses_after", r.misses_after}};
    if (!r.has_times()) return j;
    j["recovery_ps"] = recovery_ps_json(r.times);
    j["misses_ps"] = r.misses_ps;
    j["steps_before"] = {{"count", r.steps_before}, {"time_ps", r.steps_before_ps}};
    j["steps_after"] = {{"count", r.steps_after}, {"time_ps", r.steps_after_ps}};
    return j;
}

recovery_record recovery_record_from(const json& j)
{
    recovery_record r;
    read(j, "event", r.event);
    read(j, "step", r.step);
    r.by = from_word<recovery_action>(j.at("by").get<std::string>(), recovery_actions, "step of a recovery");
    read(j, "bytes_given_back", r.times.bytes_given_back);
    read(j, "calls_after", r.calls_after);
    read(j, "misses_after", r.misses_after);
    if (!j.contains("recovery_ps")) {
        r.forget_times();
        return r;
    }
    read_recovery_ps(j.at("recovery_ps"), r.times);
    read(j, "misses_ps", r.misses_ps);
    read(j.at("steps_before"), "count", r.steps_before);
    read(j.at("steps_before"), "time_ps", r.steps_before_ps);
    read(j.at("steps_after"), "count", r.steps_after);
    read(j.at("steps_after"), "time_ps", r.steps_after_ps);
    return r;
}

void add_times(json& j, const pass_measurement& p)
{
    j["time_ps"] = p.time_ps;
    j["busy_ps"] = p.activity.busy_ps;
    j["empty_queue_ps"] = p.activity.empty_queue_ps;
    j["span_ps"] = p.activity.span_ps;
    j["live_byte_ps"] = json_number(p.live_byte_ps);
    j["reserved_byte_ps"] = json_number(p.reserved_byte_ps);
    j["oom"]["recovery_ps"] = recovery_ps_json(p.recovery);
}

json raw_json(const pass_measurement& p)
{
    json j = {{"events", p.events},
              {"phases", phases_json(p.phases, p.has_times())},
              {"free_bytes_at_start", p.free_bytes_at_start},
              {"peak_live_bytes", p.peak_live_bytes},
              {"peak_reserved_bytes", p.peak_reserved_bytes},
              {"peak_device_bytes", p.peak_device_bytes},
              {"end_reserved_bytes", p.end_reserved_bytes},
              {"driver_calls", driver_calls_json(p.calls)},
              {"refused_calls", sparse_calls_json(p.refused)},
              {"teardown_calls", sparse_calls_json(p.teardown_calls)},
              {"oom", oom_json(p)},
              {"cached_blocks_bytes", p.cached_blocks}};
    if (p.has_times()) add_times(j, p);
    for (const recovery_record& r : p.first_recoveries) j["recoveries"].push_back(recovery_record_json(r));
    if (!p.idle_reserved_bytes.empty()) j["idle_reserved_bytes"] = p.idle_reserved_bytes;
    if (p.unsplit_calls != 0) j["unsplit_calls"] = p.unsplit_calls;
    if (p.activity.overrun_kernels >= 0) {    // where the device counts them
        j["stated_kernels"] = p.activity.stated_kernels;
        j["overrun_kernels"] = p.activity.overrun_kernels;
    }
    return j;
}

double double_from(const json& j) { return j.is_null() ? std::numeric_limits<double>::quiet_NaN() : j.get<double>(); }

void read_times(const json& j, pass_measurement& p)
{
    read(j, "time_ps", p.time_ps);
    read(j, "busy_ps", p.activity.busy_ps);
    read(j, "empty_queue_ps", p.activity.empty_queue_ps);
    read(j, "span_ps", p.activity.span_ps);
    p.live_byte_ps = double_from(j.at("live_byte_ps"));
    p.reserved_byte_ps = double_from(j.at("reserved_byte_ps"));
}

/// No comparison may be made of times that cannot be: below zero (but for those that are not known), or phases that are
/// together longer than their pass.
void check_times(std::int64_t pass_ps, const std::vector<phase_measurement>& phases)
{
    std::int64_t left = std::max<std::int64_t>(pass_ps, 0);
    for (const phase_measurement& f : phases) {
        if (f.time_ps < 0 || f.time_ps > left) throw input_error("phase " + in_quotes(f.name) + " takes an impossible time");
        left -= f.time_ps;
    }
}

void read_raw(const json& j, pass_measurement& p)
{
    read(j, "events", p.events);
    p.phases = phases_from(j.at("phases"));
    read(j, "free_bytes_at_start", p.free_bytes_at_start);
    read(j, "peak_live_bytes", p.peak_live_bytes);
    read(j, "peak_reserved_bytes", p.peak_reserved_bytes);
    read(j, "peak_device_bytes", p.peak_device_bytes);
    read(j, "end_reserved_bytes", p.end_reserved_bytes);
    p.calls = driver_calls_from(j.at("driver_calls"));
    p.refused = driver_calls_from(j.at("refused_calls"));
    p.teardown_calls = driver_calls_from(j.at("teardown_calls"));
    read_oom(j.at("oom"), p);
    if (const auto found = j.find("recoveries"); found != j.end())
        for (const json& r : *found) p.first_recoveries.push_back(recovery_record_from(r));
    read(j, "cached_blocks_bytes", p.cached_blocks);
    if (j.contains("time_ps")) read_times(j, p);
    else p.forget_times();
    check_times(p.time_ps, p.phases);
    read_if_there(j, "idle_reserved_bytes", p.idle_reserved_bytes);
    read_if_there(j, "unsplit_calls", p.unsplit_calls);
    read_if_there(j, "stated_kernels", p.activity.stated_kernels);
    read_if_there(j, "overrun_kernels", p.activity.overrun_kernels);
}

json hazards_json(const std::vector<hazard>& hazards)
{
    json all = json::array();
    for (const hazard& h : hazards) {
        // UINT64_MAX says that there is no earlier event.
        const json earlier = h.earlier_event == UINT64_MAX ? json(nullptr) : json(h.earlier_event);
        all.push_back({{"kind", json_text(h.kind)}, {"event", h.event}, {"earlier_event", earlier}, {"message", json_text(h.message)}});
    }
    return all;
}

std::vector<hazard> hazards_from(const json& j)
{
    std::vector<hazard> hazards;
    for (const json& h : j) {
        const json& earlier = h.at("earlier_event");
        hazards.push_back({h.at("kind").get<std::string>(), count_from(h.at("event"), "event"),
                           earlier.is_null() ? UINT64_MAX : count_from(earlier, "earlier_event"), h.at("message").get<std::string>()});
    }
    return hazards;
}

/// Of an outcome: what was asked after the pass, if it was.
constexpr std::pair<const char*, std::optional<std::uint64_t> outcome::*> asked_afterwards[] = {
    {"largest_cached_block_bytes", &outcome::largest_cached_block_bytes},
    {"largest_driver_block_bytes", &outcome::largest_driver_block_bytes},
    {"next_served_bytes", &outcome::next_served_bytes},
    {"kept_by_driver_bytes", &outcome::kept_by_driver_bytes},
};

outcome outcome_from(const json& j)
{
    outcome o;
    o.what = from_word<status>(j.at("status").get<std::string>(), 7, "status");
    if (o.what == status::completed) return o;
    o.cause = j.value("cause", "");
    o.message = j.value("message", "");
    o.phase = j.value("phase", "");
    o.tag = j.value("tag", "");
    read(j, "event", o.event);
    read(j, "step", o.step);
    read(j, "wanted_bytes", o.wanted_bytes);
    read(j, "live_bytes", o.live_bytes);
    read(j, "cached_bytes", o.cached_bytes);
    read(j, "reserved_bytes", o.reserved_bytes);
    read(j, "driver_free_bytes", o.driver_free_bytes);
    for (const auto& [key, member] : asked_afterwards)
        if (const auto found = j.find(key); found != j.end()) o.*member = count_from(*found, key);
    return o;
}

json condition_json(const card_condition& c)
{
    return {{"sm_mhz", c.sm_mhz}, {"memory_mhz", c.memory_mhz}, {"temperature_c", c.temperature_c},
            {"power_mw", c.power_mw}, {"held_by", c.held_by}};
}

card_condition condition_from(const json& j)
{
    card_condition c;
    read(j, "sm_mhz", c.sm_mhz);
    read(j, "memory_mhz", c.memory_mhz);
    read(j, "temperature_c", c.temperature_c);
    read(j, "power_mw", c.power_mw);
    j.at("held_by").get_to(c.held_by);
    return c;
}

json reference_json(const reference_measurement& m)
{
    return {{"time_ps", m.time_ps},
            {"phases", phases_json(m.phases, true)},
            {"busy_ps", m.activity.busy_ps},
            {"empty_queue_ps", m.activity.empty_queue_ps},
            {"span_ps", m.activity.span_ps}};
}

reference_measurement reference_from(const json& j)
{
    reference_measurement m;
    read(j, "time_ps", m.time_ps);
    m.phases = phases_from(j.at("phases"));
    read(j, "busy_ps", m.activity.busy_ps);
    read(j, "empty_queue_ps", m.activity.empty_queue_ps);
    read(j, "span_ps", m.activity.span_ps);
    check_times(m.time_ps, m.phases);
    return m;
}

json entry_json(const repetition& r, const pass_measurement& p, const char* pass)
{
    const bool whole = p.result.what == status::completed;
    // A did-not-finish has no metrics: what it had reached stands under a name that nobody compares by accident.
    json j = {{"index", r.index},
              {"order", r.order},
              {"process", r.process},
              {"pass", pass},
              {"role", to_string(r.what)},
              {"outcome", outcome_json(p.result)},
              {"metrics", whole ? raw_json(p) : json::object()},
              {"reached", whole ? json(nullptr) : raw_json(p)},
              {"histograms", histograms_json(p)},
              {"hazard_count", p.hazard_count},
              {"hazards", hazards_json(p.hazards)},
              {"disturbed", r.disturbed ? json_text(*r.disturbed) : json(nullptr)}};
    // Of the repetition, not of a pass: they stand with its first entry.
    if (&p == &r.cold && r.before && r.after) j["clocks"] = {{"before", condition_json(*r.before)}, {"after", condition_json(*r.after)}};
    if (&p == &r.cold && r.reference) j["reference"] = reference_json(*r.reference);
    return j;
}

pass_measurement pass_from(const json& entry)
{
    pass_measurement p;
    p.result = outcome_from(entry.at("outcome"));
    read_raw(p.result.what == status::completed ? entry.at("metrics") : entry.at("reached"), p);
    read_histograms(entry.at("histograms"), p);
    read(entry, "hazard_count", p.hazard_count);
    p.hazards = hazards_from(entry.at("hazards"));
    return p;
}

repetition repetition_from(const json& entry)
{
    repetition r;
    read(entry, "index", r.index);
    read(entry, "order", r.order);
    read(entry, "process", r.process);
    r.what = from_word<role>(entry.at("role").get<std::string>(), 3, "role");
    r.cold = pass_from(entry);
    if (const auto clocks = entry.find("clocks"); clocks != entry.end()) {
        r.before = condition_from(clocks->at("before"));
        r.after = condition_from(clocks->at("after"));
    }
    if (const auto reference = entry.find("reference"); reference != entry.end()) r.reference = reference_from(*reference);
    if (const json& d = entry.at("disturbed"); !d.is_null()) r.disturbed = d.get<std::string>();
    return r;
}

/// A cold pass begins a repetition, its steady pass follows.
void add_entry(const json& e, std::vector<repetition>& all)
{
    const auto pass = e.at("pass").get<std::string>();
    if (pass == "cold") {
        all.push_back(repetition_from(e));
    } else if (pass == "steady" && !all.empty() && !all.back().steady && all.back().order == count_from(e.at("order"), "order")) {
        all.back().steady = pass_from(e);
    } else {
        throw input_error("a pass " + in_quotes(pass) + " without its cold pass before it");
    }
}

}  // namespace

json driver_calls_json(const driver_call_counts& counts)
{
    json calls = json::object();
    for (std::size_t k = 0; k < driver_call_kinds; ++k) calls[to_string(static_cast<driver_call>(k))] = counts[k];
    return calls;
}

json sparse_calls_json(const driver_call_counts& counts)
{
    json calls = json::object();
    for (std::size_t k = 0; k < driver_call_kinds; ++k)
        if (counts[k] != 0) calls[to_string(static_cast<driver_call>(k))] = counts[k];
    return calls;
}

json outcome_json(const outcome& o)
{
    json j = {{"status", to_string(o.what)}};
    if (o.what == status::completed) return j;
    const auto add_text = [&](const char* key, const std::string& text) {
        if (!text.empty()) j[key] = json_text(text);
    };
    add_text("cause", o.cause);
    add_text("message", o.message);
    add_text("phase", o.phase);
    add_text("tag", o.tag);
    if (o.what == status::oom) j["tag"] = json_text(o.tag);   // promised with every oom, even where a site has no name
    j["event"] = o.event;
    j["step"] = o.step;
    j["wanted_bytes"] = o.wanted_bytes;
    j["live_bytes"] = o.live_bytes;
    j["cached_bytes"] = o.cached_bytes;
    j["reserved_bytes"] = o.reserved_bytes;
    j["driver_free_bytes"] = o.driver_free_bytes;
    for (const auto& [key, member] : asked_afterwards)
        if (o.*member) j[key] = *(o.*member);
    return j;
}

std::vector<json> repetition_json(const repetition& r)
{
    std::vector<json> entries{entry_json(r, r.cold, "cold")};
    if (r.steady) entries.push_back(entry_json(r, *r.steady, "steady"));
    return entries;
}

std::vector<repetition> repetitions_from(const json& entries)
{
    std::vector<repetition> all;
    for (std::size_t i = 0; i < entries.size(); ++i) read_at("repetitions/" + std::to_string(i), [&] { add_entry(entries[i], all); });
    return all;
}

}  // namespace vrambench
