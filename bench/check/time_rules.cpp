// Times and the histograms of calls and steps.

#include "bench/check/pass_rules.hpp"
#include "bench/long_calls.hpp"

#include <algorithm>
#include <array>

namespace vrambench::checking {

namespace {

using by_path = std::array<histogram, path_kinds>;
using parts_by_path = std::array<call_parts, path_kinds>;

std::uint64_t count_of(const by_path& all)
{
    std::uint64_t n = 0;
    for (const histogram& h : all) n += h.count();
    return n;
}

/// "alloc_ns.hit"
std::string named(const char* which, std::size_t how) { return std::string(which) + "." + to_string(static_cast<path>(how)); }

/// The parts of the long calls of one path beside the calls themselves.
void check_parts(const std::string& what, const histogram& calls, const call_parts& parts, bool all_split, expectations& e)
{
    for (const histogram* h : {&calls, &parts.drain, &parts.idle})
        e.holds(h->is_possible(), what + ": its sum or largest value cannot be of its bins");
    const std::uint64_t n_long = parts.idle.count();
    e.same(what + ": drained parts", parts.drain.count(), n_long, "the idle ones");
    const auto [least, most] = calls.count_from(long_calls::threshold_ps);
    e.holds(n_long <= most && (!all_split || n_long >= least), what + ": the calls that are split are not those that were long");
    if (e.broken()) return;
    const __int128 split = __int128{parts.drain.sum()} + parts.idle.sum(), left = calls.sum() - split;    // a file may say anything
    const __int128 short_calls = calls.count() - n_long;
    e.holds(left >= 0 && (!all_split || left <= short_calls * long_calls::threshold_ps), what + ": its parts do not add up to its calls");
}

void check_call_times(const char* which, const by_path& calls, const parts_by_path& parts, bool all_split, expectations& e)
{
    for (std::size_t k = 0; k < path_kinds && !e.broken(); ++k) check_parts(named(which, k), calls[k], parts[k], all_split, e);
}

void check_call_counts(const judged_pass& p, expectations& e)
{
    const pass_measurement& m = p.pass;
    const trace_summary& s = p.of.workload->summary;
    const trace_position* end = p.end();
    if (p.completed() || end) {
        e.same("the calls in alloc_ns", count_of(m.alloc), (end ? end->allocs : s.alloc_calls) + m.failures, "its trace");
        e.same("the calls in free_ns", count_of(m.free), end ? end->frees : s.free_calls, "its trace");
    }
    e.same("the calls in alloc_ns.fail", m.alloc[static_cast<std::size_t>(path::fail)].count(), m.failures, "oom/failures");
    e.same("the calls in alloc_ns.flush_retry", m.alloc[static_cast<std::size_t>(path::flush_retry)].count(), m.recoveries, "oom/recoveries");
}

void check_step_times(const pass_measurement& m, expectations& e)
{
    for (const phase_measurement& f : m.phases) {
        const std::string what = "step_ns." + f.name;
        e.holds(f.step.is_possible(), what + ": its sum or largest value cannot be of its bins");
        e.same("the steps in " + what, f.step.count(), f.steps, "its phase");
        e.holds(f.step.sum() == f.time_ps, what + ": its sum is not the time of its phase");
    }
}

/// An integral of bytes over time is at most the peak all the time; the slack is for its rounding.
bool is_within(double integral, std::uint64_t peak, std::int64_t time_ps)
{
    return integral >= 0 && integral <= static_cast<double>(peak) * static_cast<double>(time_ps) * (1 + 1e-9);
}

void check_device_times(const judged_pass& p, expectations& e)
{
    const pass_measurement& m = p.pass;
    const device_activity& a = m.activity;
    e.holds(is_within(m.live_byte_ps, m.peak_live_bytes, m.time_ps), "live_byte_ps is beyond peak_live_bytes all the time");
    e.holds(is_within(m.reserved_byte_ps, m.peak_reserved_bytes, m.time_ps),
            "reserved_byte_ps is beyond peak_reserved_bytes all the time");
    if (p.completed()) e.holds(m.live_byte_ps <= m.reserved_byte_ps * (1 + 1e-9), "live_byte_ps is above reserved_byte_ps");
    e.holds(a.span_ps < 0 || a.span_ps >= m.time_ps, "span_ps is less than the pass took");
    e.holds(a.busy_ps <= a.span_ps, "its device was busy for longer than the pass lasted");
    e.holds(a.empty_queue_ps <= a.span_ps, "its launch queue was empty for longer than the pass lasted");
    if (a.overrun_kernels < 0) return;
    const bool stated = p.of.kernels == kernel_model::hold;
    if (const trace_position* end = p.end(); end && p.of.mode == run_mode::eager)
        e.holds(a.stated_kernels <= static_cast<std::int64_t>(stated ? end->touching_launches : 0),
                "stated_kernels is above its trace's");
    e.holds(a.overrun_kernels <= a.stated_kernels, "overrun_kernels is above stated_kernels");
}

}  // namespace

void check_times(const judged_pass& p, expectations& e)
{
    e.holds(p.pass.has_times() == p.of.on.times_known, p.pass.has_times() ? "it has times, which its device does not know"
                                                                          : "it has no times, which its device knows");
    if (!p.pass.has_times() || e.broken()) return;
    check_call_counts(p, e);
    check_call_times("alloc_ns", p.pass.alloc, p.pass.alloc_parts, p.pass.unsplit_calls == 0, e);
    check_call_times("free_ns", p.pass.free, p.pass.free_parts, p.pass.unsplit_calls == 0, e);
    check_step_times(p.pass, e);
    check_device_times(p, e);
}

}  // namespace vrambench::checking
