#include "bench/recovery_log.hpp"

#include "allocators/retry.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace vrambench {

void recovery_log::noted(path how, std::int64_t ps, std::uint64_t event, std::uint64_t step, const recovery_trace* how_recovered)
{
    if (how == path::flush_retry) {
        watched_ = 0;    // what is missed from here on is this recovery's doing
        if (how_recovered && count_ < kept) recovered(event, step, *how_recovered);
        return;
    }
    --watched_;
    recovery_record& r = entries_[count_ - 1].record;
    ++r.calls_after;
    if (how != path::driver && how != path::grow) return;
    ++r.misses_after;
    r.misses_ps += ps;
}

void recovery_log::recovered(std::uint64_t event, std::uint64_t step, const recovery_trace& trace)
{
    entry& e = entries_[count_++];
    e.trace = trace;
    e.record.event = event;
    e.record.step = step;
    e.record.by = trace.by;
    e.record.steps_before = std::min(steps_, steps_compared);
    e.record.steps_before_ps = std::accumulate(last_steps_.begin(), last_steps_.end(), std::int64_t{0});
    watched_ = calls_watched;
}

void recovery_log::step_ended(std::int64_t ps)
{
    last_steps_[steps_++ % steps_compared] = ps;
    for (std::size_t i = first_open_; i < count_; ++i) {
        entry& e = entries_[i];
        if (std::exchange(e.in_its_step, false)) continue;
        e.record.steps_after_ps += ps;
        if (++e.record.steps_after == steps_compared) first_open_ = i + 1;    // they close in the order in which they came
    }
}

std::vector<recovery_record> recovery_log::resolve(device& dev) const
{
    std::vector<recovery_record> all;
    for (std::size_t i = 0; i < count_; ++i) {
        all.push_back(entries_[i].record);
        all.back().times = times_of(entries_[i].trace, dev);
    }
    return all;
}

}  // namespace vrambench
