#pragma once
// Chains of kernels that are longer than their launches, so that the device sets the pace: what is between two of them on
// the device shows in the time of the whole.

#include "bench/costs/cost_probe.hpp"

#include <utility>

namespace vrambench::costs {

inline constexpr std::int64_t chain_kernel_ps = 20'000'000;

/// Median of a few runs of `f`.
template <class F> std::int64_t median_of(std::uint32_t n, F f)
{
    samples times(n);
    for (auto& t : times) t = f();
    return median(std::move(times));
}

/// From the first launch to the end of the synchronisation behind the last of `n` kernels; `between` comes before each.
template <class F> std::int64_t chain(cost_probe& p, int n, F between)
{
    p.dev.sync_stream(0);
    return p.watch.time([&] {
        for (int i = 0; i < n; ++i) {
            between();
            p.dev.launch(0, chain_kernel_ps, {});
        }
        p.dev.sync_stream(0);
    });
}

/// Device time per kernel of a long chain.
template <class F> std::int64_t per_kernel(cost_probe& p, F between)
{
    constexpr int few = 100, many = 300;
    const std::uint32_t n = p.quick ? 3 : 9;
    const std::int64_t shorter = median_of(n, [&] { return chain(p, few, between); });
    const std::int64_t longer = median_of(n, [&] { return chain(p, many, between); });
    return (longer - shorter) / (many - few);
}

}  // namespace vrambench::costs
