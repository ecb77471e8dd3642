// Recoveries: the sum of them beside the first ones, and each beside the trace.

#include "bench/check/pass_rules.hpp"
#include "bench/recovery_log.hpp"

#include <algorithm>

namespace vrambench::checking {

namespace {

constexpr std::int64_t recovery_times::* parts[] = {
    &recovery_times::drain_sync, &recovery_times::drain_free, &recovery_times::drain_allocate,
    &recovery_times::idle_sync,  &recovery_times::idle_free,  &recovery_times::idle_allocate};

/// The allocations from after recovery `i` to before the next one, or to the end; none where the next one is not known.
std::optional<std::uint64_t> calls_after(const judged_pass& p, std::size_t i)
{
    const auto& all = p.pass.first_recoveries;
    const std::uint64_t after = p.known->at(all[i].event).allocs + 1;
    if (i + 1 < all.size()) return p.known->at(all[i + 1].event).allocs - after;
    if (p.pass.recoveries > all.size()) return std::nullopt;
    return p.end()->allocs + p.pass.failures - after;
}

/// The steps on either side of that of the recovery. Before the first step there is none that is its own: the first one counts
/// as that.
void check_steps(const recovery_record& r, std::uint64_t steps, const std::string& what, expectations& e)
{
    constexpr std::uint64_t most = recovery_log::steps_compared;
    const std::uint64_t own = std::max<std::uint64_t>(r.step, 1);
    e.same(what + "/steps_before/count", r.steps_before, std::min(own - 1, most), "its trace");
    e.same(what + "/steps_after/count", r.steps_after, std::min(steps - std::min(steps, own), most), "its trace");
}

void check_in_trace(const judged_pass& p, std::size_t i, const std::string& what, expectations& e)
{
    const recovery_record& r = p.pass.first_recoveries[i];
    const trace_position& at = p.known->at(r.event);
    e.holds(r.event < p.pass.events && at.next.kind == event_kind::alloc, what + "/event allocates nothing in its trace");
    if (e.broken()) return;
    e.same(what + "/step", r.step, at.steps, "its trace");
    if (r.has_times()) check_steps(r, p.end()->steps, what, e);
    if (const auto calls = calls_after(p, i))
        e.same(what + "/calls_after", r.calls_after, std::min<std::uint64_t>(*calls, recovery_log::calls_watched), "its trace");
}

bool is_time_of(std::int64_t ps, std::uint64_t count, std::int64_t most) { return count == 0 ? ps == 0 : ps >= 0 && ps <= most; }

void check_record_times(const recovery_record& r, std::int64_t pass_ps, const std::string& what, expectations& e)
{
    e.holds(is_time_of(r.misses_ps, r.misses_after, pass_ps) && is_time_of(r.steps_before_ps, r.steps_before, pass_ps) &&
                is_time_of(r.steps_after_ps, r.steps_after, pass_ps),
            what + ": its misses or steps took an impossible time");
}

void check_record(const judged_pass& p, std::size_t i, expectations& e)
{
    const recovery_record& r = p.pass.first_recoveries[i];
    const std::string what = "recoveries/" + std::to_string(i);
    e.holds(i == 0 || p.pass.first_recoveries[i - 1].event < r.event, what + "/event is not after the one before");
    e.same(what + "/by", to_string(r.by), retry_of(p.of), "its allocator");
    e.holds(r.calls_after <= recovery_log::calls_watched, what + "/calls_after is above what is watched");
    e.at_least(what + "/calls_after", r.calls_after, r.misses_after, "misses_after");
    if (r.has_times()) check_record_times(r, p.pass.time_ps, what, e);
    if (p.known && !e.broken()) check_in_trace(p, i, what, e);
}

/// Where all of them are told they add up.
void check_sums(const judged_pass& p, bool all_told, expectations& e)
{
    const auto& told = p.pass.first_recoveries;
    const recovery_times& whole = p.pass.recovery;
    std::uint64_t given_back = 0;
    for (const recovery_record& r : told) given_back += r.times.bytes_given_back;
    e.at_least("oom/bytes_given_back", whole.bytes_given_back, given_back, "its recoveries");
    if (all_told && p.pass.failures == 0) e.same("oom/bytes_given_back", whole.bytes_given_back, given_back, "its recoveries");
    if (!p.pass.has_times()) return;
    for (const auto part : parts) {
        __int128 sum = 0;    // a file may say anything
        for (const recovery_record& r : told) sum += r.times.*part;
        e.holds(all_told ? whole.*part == sum : whole.*part >= sum, "oom/recovery_ps is not the sum of its recoveries");
    }
}

}  // namespace

void check_recoveries(const judged_pass& p, expectations& e)
{
    const pass_measurement& m = p.pass;
    if (m.has_times())
        for (const auto part : parts)
            e.holds(m.recoveries == 0 ? m.recovery.*part == 0 : m.recovery.*part >= 0, "oom/recovery_ps is of recoveries that were not");
    const std::size_t told = m.first_recoveries.size();
    if (told == 0) return;    // files of early versions tell none
    e.same("the number of recoveries told", told, std::min<std::uint64_t>(m.recoveries, recovery_log::kept), "oom/recoveries");
    for (std::size_t i = 0; i < told && !e.broken(); ++i) check_record(p, i, e);
    check_sums(p, told == m.recoveries, e);
}

}  // namespace vrambench::checking
