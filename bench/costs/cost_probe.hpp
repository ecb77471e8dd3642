#pragma once
// What every measurement of driver costs works with, and the measurements. All go through the device interface alone, so
// that on the simulator they must give back the prices of its profile.

#include "bench/costs/cost_report.hpp"
#include "device/device.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace vrambench::costs {

/// Times one call, less what reading the clock costs.
class stopwatch {
public:
    explicit stopwatch(const host_clock& clock);
    /// Picoseconds, at least 0.
    template <class F> std::int64_t time(F f) const
    {
        const std::int64_t begin = clock_.now_ps();
        f();
        return elapsed(begin, clock_.now_ps());
    }
    std::int64_t now_ps() const { return clock_.now_ps(); }
    std::int64_t elapsed(std::int64_t begin, std::int64_t end) const { return std::max<std::int64_t>(end - begin - cost_ps_, 0); }

private:
    const host_clock& clock_;
    std::int64_t cost_ps_ = 0;
};

struct cost_probe {
    device& dev;
    bool quick = false;                      ///< fewer sizes and repetitions
    stopwatch watch;
    cost_report report = {};
    std::vector<std::uint64_t> sizes = {};   ///< rising

    cost_probe(device& d, bool be_quick);

    /// How often a call of this size is timed.
    std::uint32_t repetitions(std::uint64_t bytes) const;
    /// Lets time pass until the driver has cleaned `bytes` that were given back (inferred; see sim::cleaning): a kernel
    /// that runs so long, since time passes in kernels on every device.
    void rest(std::uint64_t bytes);
};

/// Raw memory and handles in rows without a free between, then the frees in a row. To be measured before anything else was
/// taken. Also small blocks that share memory.
void measure_growth(cost_probe& p);
/// Every raw and virtual memory call, by size: idle, and under load.
void measure_calls(cost_probe& p);
/// Launches, synchronisations, events, graphs, queries; the stream's launch queue.
void measure_launches(cost_probe& p);
/// The stream-ordered pool with memory left on the card.
void measure_pool(cost_probe& p);
/// What happens on a nearly full card: refusals, cleaning, the margin, and what a pool does then.
void measure_full_card(cost_probe& p);
/// A slot that an allocator's scan visits, on this host.
void measure_policy_work(cost_probe& p);

/// All of them on a fresh device. A part that the device refuses is left out and noted. `quick`: fewer sizes.
cost_report measure_costs(device& dev, bool quick);

}  // namespace vrambench::costs
