#include "bench/derive.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <string_view>
#include <type_traits>

namespace vrambench {

namespace {

double ns(std::int64_t picoseconds) { return static_cast<double>(picoseconds) / 1000.0; }

/// One repetition's pass of the kind (cold or steady) that is being derived.
struct pass_of {
    const repetition* of;
    const pass_measurement* pass;
};
using passes = std::vector<pass_of>;

std::vector<const repetition*> all_of(const cell& c)
{
    std::vector<const repetition*> all;
    for (const repetition& r : c.repetitions) all.push_back(&r);
    return all;
}

passes undisturbed(const std::vector<const repetition*>& repetitions, bool steady)
{
    passes all;
    for (const repetition* r : repetitions) {
        if (r->disturbed) continue;
        if (!steady) all.push_back({r, &r->cold});
        else if (r->steady) all.push_back({r, &*r->steady});
    }
    return all;
}

passes completed(const passes& all, role what)
{
    passes chosen;
    for (const pass_of& p : all)
        if (p.of->what == what && p.pass->result.what == status::completed) chosen.push_back(p);
    return chosen;
}

/// One value of every pass, as an estimate. `value` gives a number, or an optional one where a pass may have none.
template <typename Value>
std::optional<estimate> over(const passes& used, Value value)
{
    using result = decltype(value(*used.front().pass));
    if constexpr (std::is_same_v<result, std::uint64_t>) {
        std::vector<std::uint64_t> values;
        for (const pass_of& p : used) values.push_back(value(*p.pass));
        return estimate_of(std::move(values));
    } else {
        std::vector<double> values;
        for (const pass_of& p : used)
            if (const std::optional<double> v = value(*p.pass)) values.push_back(*v);
        return estimate_of(std::move(values));
    }
}

std::optional<double> ratio(double above, double below)
{
    const double r = above / below;
    if (!(below > 0) || !std::isfinite(r)) return std::nullopt;
    return r;
}

/// What a reference's own cell measured, in the form of one that ran in the same process.
reference_measurement as_reference(const pass_measurement& p)
{
    reference_measurement m{p.time_ps, {}, p.activity};
    for (const phase_measurement& f : p.phases) m.phases.push_back({f.name, f.steps, f.tokens, f.time_ps, {}});
    return m;
}

/// Passes of the cell, each beside the reference that ran in its own process; where none did, beside the pass of the
/// reference's cell with the same repetition index.
class pairing {
public:
    pairing(const passes& used, const passes& reference)
    {
        std::map<std::uint64_t, const pass_measurement*> by_index;
        for (const pass_of& p : reference) by_index.emplace(p.of->index, p.pass);
        for (const pass_of& p : used)
            if (p.of->reference) pairs_.push_back({p.pass, *p.of->reference});
            else if (const auto twin = by_index.find(p.of->index); twin != by_index.end())
                pairs_.push_back({p.pass, as_reference(*twin->second)});
    }

    /// `value(pass, reference)` of every pair, as an optional double.
    template <typename Value>
    std::optional<estimate> over(Value value) const
    {
        std::vector<double> values;
        for (const auto& [mine, ideal] : pairs_)
            if (const std::optional<double> v = value(*mine, ideal)) values.push_back(*v);
        return estimate_of(std::move(values));
    }

private:
    std::vector<std::pair<const pass_measurement*, reference_measurement>> pairs_;
};

quantiles quantiles_of(const histogram& h)
{
    quantiles q;
    q.count = h.count();
    q.p50 = ns(h.quantile(0.50));
    q.p90 = ns(h.quantile(0.90));
    q.p99 = ns(h.quantile(0.99));
    q.p999 = ns(h.quantile(0.999));
    q.max = ns(h.max());
    return q;
}

/// The histograms of one field, merged over repetitions, by path and over all paths.
void derive_latency(const passes& used, std::array<histogram, path_kinds> pass_measurement::*field,
                    std::array<quantiles, path_kinds>& by_path, quantiles& any)
{
    histogram all;
    for (std::size_t k = 0; k < path_kinds; ++k) {
        histogram merged;
        for (const pass_of& p : used) merged.merge((p.pass->*field)[k]);
        by_path[k] = quantiles_of(merged);
        all.merge(merged);
    }
    any = quantiles_of(all);
}

part_numbers part_of(const histogram& h, std::size_t n_passes)
{
    return {quantiles_of(h), ns(h.sum()) / static_cast<double>(n_passes)};
}

/// The parts of long calls, merged like the calls themselves.
void derive_split(const passes& used, std::array<call_parts, path_kinds> pass_measurement::*field,
                  std::array<call_split, path_kinds>& by_path, call_split& any)
{
    call_parts all;
    for (std::size_t k = 0; k < path_kinds; ++k) {
        call_parts merged;
        for (const pass_of& p : used) {
            merged.drain.merge((p.pass->*field)[k].drain);
            merged.idle.merge((p.pass->*field)[k].idle);
        }
        by_path[k] = {part_of(merged.drain, used.size()), part_of(merged.idle, used.size())};
        all.drain.merge(merged.drain);
        all.idle.merge(merged.idle);
    }
    any = {part_of(all.drain, used.size()), part_of(all.idle, used.size())};
}

const phase_measurement* find_phase(const std::vector<phase_measurement>& phases, const std::string& name)
{
    const auto found = std::find_if(phases.begin(), phases.end(), [&](const auto& f) { return f.name == name; });
    return found == phases.end() ? nullptr : &*found;
}

phase_metrics derive_phase(const phase_measurement& first, const passes& used, const pairing& pairs)
{
    phase_metrics m;
    m.name = first.name;
    m.per_token = first.tokens > 0;
    m.added_ns = pairs.over([&](const pass_measurement& mine, const reference_measurement& ideal) -> std::optional<double> {
        const auto* a = find_phase(mine.phases, m.name);
        const auto* b = find_phase(ideal.phases, m.name);
        if (!a || !b) return std::nullopt;
        return ratio(ns(a->time_ps - b->time_ps), static_cast<double>(m.per_token ? a->tokens : a->steps));
    });
    m.slowdown = pairs.over([&](const pass_measurement& mine, const reference_measurement& ideal) -> std::optional<double> {
        const auto* a = find_phase(mine.phases, m.name);
        const auto* b = find_phase(ideal.phases, m.name);
        if (!a || !b) return std::nullopt;
        return ratio(ns(a->time_ps), ns(b->time_ps));
    });
    histogram steps;
    for (const pass_of& p : used)
        if (const auto* f = find_phase(p.pass->phases, m.name)) steps.merge(f->step);
    m.step_ns = quantiles_of(steps);
    return m;
}

/// Tokens over time of all phases of these names, those at several depths ("decode@4096") together.
std::optional<estimate> token_rate(const passes& used, std::initializer_list<std::string_view> names)
{
    return over(used, [&](const pass_measurement& p) -> std::optional<double> {
        std::uint64_t tokens = 0;
        std::int64_t time_ps = 0;
        for (const phase_measurement& f : p.phases) {
            if (std::find(names.begin(), names.end(), kind_of(f.name)) == names.end()) continue;
            tokens += f.tokens;
            time_ps += f.time_ps;
        }
        if (tokens == 0) return std::nullopt;
        return ratio(static_cast<double>(tokens), static_cast<double>(time_ps) / 1e12);
    });
}

std::optional<estimate> added_per_token(const pairing& pairs, const std::string& kind = {})
{
    return pairs.over([&](const pass_measurement& mine, const reference_measurement& ideal) {
        const token_time a = token_time_of(mine.phases, kind), b = token_time_of(ideal.phases, kind);
        return ratio(ns(a.ps - b.ps), static_cast<double>(a.tokens));
    });
}

std::vector<kind_metrics> derive_kinds(const pass_measurement& first, const pairing& pairs)
{
    std::vector<kind_metrics> kinds;
    for (const phase_measurement& f : first.phases) {
        const std::string name(kind_of(f.name));
        if (f.tokens == 0 || std::any_of(kinds.begin(), kinds.end(), [&](const auto& k) { return k.name == name; })) continue;
        kinds.push_back({name, added_per_token(pairs, name)});
    }
    if (kinds.size() == 1) kinds.clear();
    return kinds;
}

void derive_times(pass_numbers& n, const passes& used, const pairing& pairs, const trace_summary& summary)
{
    n.added_ns = n.per_token ? added_per_token(pairs)
                             : pairs.over([&](const pass_measurement& mine, const reference_measurement& ideal) {
                                   return ratio(ns(mine.time_ps - ideal.time_ps), static_cast<double>(summary.steps));
                               });
    n.slowdown = pairs.over([&](const pass_measurement& mine, const reference_measurement& ideal) {
        return n.per_token ? ratio(ns(token_time_of(mine.phases).ps), ns(token_time_of(ideal.phases).ps)) : ratio(ns(mine.time_ps), ns(ideal.time_ps));
    });
    for (const phase_measurement& f : used.front().pass->phases) n.phases.push_back(derive_phase(f, used, pairs));
    n.kinds = derive_kinds(*used.front().pass, pairs);
    n.pp_tokens_per_s = token_rate(used, {"prefill"});
    n.tg_tokens_per_s = token_rate(used, {"decode", "replay"});
    derive_latency(used, &pass_measurement::alloc, n.alloc, n.any_alloc);
    derive_latency(used, &pass_measurement::free, n.free, n.any_free);
    derive_split(used, &pass_measurement::alloc_parts, n.alloc_split, n.any_alloc_split);
    derive_split(used, &pass_measurement::free_parts, n.free_split, n.any_free_split);
    if (std::any_of(used.begin(), used.end(), [](const pass_of& p) { return p.pass->unsplit_calls != 0; }))
        n.unsplit_calls = over(used, [](const pass_measurement& p) { return p.unsplit_calls; });
}

/// None where the device could not tell: a negative time says so.
std::optional<std::int64_t> idle_ps(const device_activity& a)
{
    if (a.busy_ps < 0 || a.span_ps < 0) return std::nullopt;
    return a.span_ps - a.busy_ps;
}

void derive_activity(pass_numbers& n, const passes& used, const pairing& pairs)
{
    n.device_idle_ns = over(used, [](const pass_measurement& p) -> std::optional<double> {
        const std::optional<std::int64_t> idle = idle_ps(p.activity);
        if (!idle) return std::nullopt;
        return ns(*idle);
    });
    n.stall_ns = pairs.over([](const pass_measurement& mine, const reference_measurement& ideal) -> std::optional<double> {
        const std::optional<std::int64_t> a = idle_ps(mine.activity), b = idle_ps(ideal.activity);
        if (!a || !b) return std::nullopt;
        return ns(*a - *b);    // exact before it is rounded
    });
    n.host_bound = over(used, [](const pass_measurement& p) -> std::optional<double> {
        if (p.activity.empty_queue_ps < 0) return std::nullopt;
        return ratio(ns(p.activity.empty_queue_ps), ns(p.activity.span_ps));
    });
    n.overrun_share = over(used, [](const pass_measurement& p) -> std::optional<double> {
        if (p.activity.overrun_kernels < 0) return std::nullopt;
        return ratio(static_cast<double>(p.activity.overrun_kernels), static_cast<double>(p.activity.stated_kernels));
    });
}

/// The driver's view comes from the memory repetitions, or from the timed ones of a device that knows it without asking.
std::optional<estimate> device_peak(const passes& all, const passes& timed)
{
    std::vector<std::uint64_t> peaks;
    for (const passes& from : {completed(all, role::memory), timed}) {
        for (const pass_of& p : from)
            if (p.pass->peak_device_bytes != 0) peaks.push_back(p.pass->peak_device_bytes);
        if (!peaks.empty()) break;
    }
    return estimate_of(std::move(peaks));
}

std::optional<estimate> divided(const std::optional<estimate>& e, std::uint64_t by)
{
    if (!e || by == 0) return std::nullopt;
    const auto part = [&](const number& n) { return number{as_double(n) / static_cast<double>(by)}; };
    estimate d{part(e->median), std::nullopt, e->samples};
    if (e->ci95) d.ci95 = std::pair{part(e->ci95->first), part(e->ci95->second)};
    return d;
}

void derive_bytes(pass_numbers& n, const passes& all, const passes& used, const trace_summary& summary)
{
    n.peak_live_bytes = over(used, [](const pass_measurement& p) { return p.peak_live_bytes; });
    n.max_live_bytes = summary.max_live_bytes;
    n.peak_reserved_bytes = over(used, [](const pass_measurement& p) { return p.peak_reserved_bytes; });
    n.peak_device_bytes = device_peak(all, used);
    n.device_bloat = divided(n.peak_device_bytes, summary.max_live_bytes);
    n.end_reserved_bytes = over(used, [](const pass_measurement& p) { return p.end_reserved_bytes; });
    n.idle_reserved_bytes = used.front().pass->idle_reserved_bytes;
    if (used.front().pass->has_times())
        n.byte_seconds_ratio = over(used, [](const pass_measurement& p) { return ratio(p.reserved_byte_ps, p.live_byte_ps); });
}

number median_count(const passes& used, std::uint64_t pass_measurement::*field)
{
    std::vector<std::uint64_t> values;
    for (const pass_of& p : used) values.push_back(p.pass->*field);
    return median(std::move(values));
}

double median_ns(const passes& used, std::int64_t recovery_times::*field)
{
    std::vector<double> values;
    for (const pass_of& p : used) values.push_back(ns(p.pass->recovery.*field));
    return median(std::move(values));
}

recovery_metrics derive_recovery(const passes& used)
{
    recovery_metrics m;
    m.failures = median_count(used, &pass_measurement::failures);
    m.recoveries = median_count(used, &pass_measurement::recoveries);
    m.flushes = median_count(used, &pass_measurement::flushes);
    m.flushed_bytes = median_count(used, &pass_measurement::flushed_bytes);
    m.evictions = median_count(used, &pass_measurement::evictions);
    m.evicted_bytes = median_count(used, &pass_measurement::evicted_bytes);
    std::vector<std::uint64_t> given_back;
    for (const pass_of& p : used) given_back.push_back(p.pass->recovery.bytes_given_back);
    m.bytes_given_back = median(std::move(given_back));
    m.has_times = used.front().pass->has_times();
    m.drain_sync = median_ns(used, &recovery_times::drain_sync);
    m.drain_free = median_ns(used, &recovery_times::drain_free);
    m.drain_allocate = median_ns(used, &recovery_times::drain_allocate);
    m.idle_sync = median_ns(used, &recovery_times::idle_sync);
    m.idle_free = median_ns(used, &recovery_times::idle_free);
    m.idle_allocate = median_ns(used, &recovery_times::idle_allocate);
    return m;
}

call_numbers derive_calls(const passes& used)
{
    call_numbers calls;
    for (std::size_t k = 0; k < driver_call_kinds; ++k) {
        std::vector<std::uint64_t> values;
        for (const pass_of& p : used) values.push_back(p.pass->calls[k]);
        calls[k] = median(std::move(values));
    }
    return calls;
}

reached_values reached_by(const pass_of& failed)
{
    const pass_measurement& p = *failed.pass;
    reached_values r;
    r.events = p.events;
    r.peak_live_bytes = p.peak_live_bytes;
    r.peak_reserved_bytes = p.peak_reserved_bytes;
    r.peak_device_bytes = p.peak_device_bytes;
    r.end_reserved_bytes = p.end_reserved_bytes;
    r.calls = p.calls;
    r.refused = p.refused;
    r.recovery = derive_recovery({failed});
    return r;
}

/// The worst pass, the earliest measured of equals.
const pass_of& deciding(const passes& all)
{
    return *std::max_element(all.begin(), all.end(), [](const pass_of& a, const pass_of& b) {
        const int bad_a = severity(a.pass->result.what), bad_b = severity(b.pass->result.what);
        return bad_a != bad_b ? bad_a < bad_b : a.of->order > b.of->order;
    });
}

void take_state(pass_metrics& m, const pass_measurement& from)
{
    m.cached_blocks = from.cached_blocks;
    m.recovered = from.recoveries;
    m.first_recoveries = from.first_recoveries;
}

pass_metrics derive_pass(const cell& c, const passes& all, const passes& reference)
{
    pass_metrics m;
    m.attempted = all.size();
    for (const pass_of& p : all) {
        if (p.pass->result.what == status::completed) ++m.completed;
        m.hazard_count = std::max(m.hazard_count, p.pass->hazard_count);
    }
    if (all.empty()) return m;

    const pass_of& worst = deciding(all);
    m.result = worst.pass->result;
    if (m.result->what != status::completed) {
        m.reached = reached_by(worst);
        take_state(m, *worst.pass);
        return m;
    }
    const passes used = completed(all, role::timed);
    take_state(m, used.empty() ? *worst.pass : *used.front().pass);
    if (used.empty()) return m;

    const pairing pairs(used, completed(reference, role::timed));
    pass_numbers& n = m.numbers.emplace();
    n.per_token = c.workload->summary.tokens > 0;
    if (used.front().pass->has_times()) {
        derive_times(n, used, pairs, c.workload->summary);
        derive_activity(n, used, pairs);
    }
    derive_bytes(n, all, used, c.workload->summary);
    n.calls = derive_calls(used);
    n.recovery = derive_recovery(used);
    return m;
}

passes reference_passes(const cell* reference, bool steady)
{
    return reference ? undisturbed(all_of(*reference), steady) : passes{};
}

}  // namespace

std::string_view kind_of(std::string_view phase) { return phase.substr(0, phase.find('@')); }

token_time token_time_of(const std::vector<phase_measurement>& phases, const std::string& kind)
{
    token_time t;
    for (const phase_measurement& f : phases) {
        if (f.tokens == 0 || (!kind.empty() && kind_of(f.name) != kind)) continue;
        t.ps += f.time_ps;
        t.tokens += f.tokens;
    }
    return t;
}

cell_metrics derive(const cell& c, const cell* reference) { return derive(c, all_of(c), reference); }

cell_metrics derive(const cell& c, const std::vector<const repetition*>& some, const cell* reference)
{
    cell_metrics m;
    m.cold = derive_pass(c, undisturbed(some, false), reference_passes(reference, false));
    if (const passes steady = undisturbed(some, true); !steady.empty())
        m.steady = derive_pass(c, steady, reference_passes(reference, true));
    return m;
}

double memory_calls(const call_numbers& calls)
{
    using enum driver_call;
    double sum = 0;
    for (const driver_call k : {driver_call::malloc, driver_call::free, malloc_async, free_async, pool_trim, reserve, unreserve,
                                create, map, set_access, unmap, release})
        sum += as_double(calls[static_cast<std::size_t>(k)]);
    return sum;
}

bool may_be_reference(const cell& c) { return c.allocator.name == "ideal" && !c.vram_limit_bytes && c.inject.empty(); }

const cell* reference_of(const run_document& run, const cell& c)
{
    const auto serves = [&](const cell& r) { return may_be_reference(r) && same_conditions(r, c); };
    const auto found = std::find_if(run.cells.begin(), run.cells.end(), serves);
    return found == run.cells.end() ? nullptr : &*found;
}

int severity(status s)
{
    switch (s) {
    case status::completed: return 0;
    case status::unsupported: return 1;
    case status::oom: return 2;
    case status::starved: return 3;
    case status::timeout: return 4;
    case status::crashed: return 5;
    case status::corrupted: return 6;
    }
    return 7;
}

std::string in_words(const outcome& o)
{
    std::string words = to_string(o.what);
    if (o.what == status::completed) return words;
    if (!o.cause.empty()) words += ": " + o.cause;
    else if (o.what == status::unsupported || o.what == status::crashed || o.what == status::timeout)
        if (!o.message.empty()) words += ": " + o.message;
    if (o.step != 0) words += " at step " + std::to_string(o.step);
    return words;
}

}  // namespace vrambench
