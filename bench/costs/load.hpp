#pragma once
// Kernels that keep the device busy while a call is made, and the call's own time without the wait for them.

#include "bench/costs/cost_probe.hpp"

#include <cstdint>
#include <optional>

namespace vrambench::costs {

struct loaded_time {
    std::int64_t ps = 0;                     ///< of the call, the wait for kernels taken off
    bool waited = false;                     ///< it returned only when the kernels had ended
};

/// Calls `f` while kernels are queued and running on stream 0 that take `hold_ps` in all; they have ended when this
/// returns. Empty where the device cannot tell when its kernels ran.
template <class F> std::optional<loaded_time> time_under_load(cost_probe& p, std::int64_t hold_ps, F f)
{
    constexpr int kernels = 4;
    constexpr std::int64_t tolerance_ps = 30'000'000;    // host and device timers are matched to some microseconds
    device& dev = p.dev;
    for (int i = 0; i < kernels; ++i) dev.launch(0, hold_ps / kernels, {});
    for (int i = 0; i < 3; ++i) dev.query_memory();      // some 20 us, in which the first kernel begins
    const std::int64_t busy_until = dev.busy_until_ps();
    const std::int64_t begin = p.watch.now_ps();
    f();
    const std::int64_t end = p.watch.now_ps();
    dev.sync_stream(0);
    const std::int64_t elapsed = p.watch.elapsed(begin, end);
    if (busy_until >= 0) {
        const bool waited = end >= busy_until;
        return loaded_time{waited ? elapsed - std::max<std::int64_t>(busy_until - begin, 0) : elapsed, waited};
    }
    const std::int64_t within = dev.busy_within_ps(begin, end);
    const std::int64_t after = dev.busy_within_ps(end, p.watch.now_ps());
    if (within < 0 || after < 0) return std::nullopt;
    const bool waited = after < tolerance_ps;
    return loaded_time{waited ? std::max<std::int64_t>(elapsed - within, 0) : elapsed, waited};
}

}  // namespace vrambench::costs
