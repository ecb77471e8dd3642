#pragma once
// How long a kernel lasts: as the trace states it, by the roofline of the device, or as long as its memory traffic.

#include "bench/plan.hpp"

#include <algorithm>
#include <cstdint>

namespace vrambench {

/// How a trace's kernels become launches.
struct kernel_settings {
    kernel_model model = kernel_model::hold;
    double scale = 1.0;                                      ///< of stated and derived durations
};

/// Kernel durations from what the trace states.
class kernel_clock {
public:
    kernel_clock(const device_info& info, const kernel_settings& settings)
        : traffic_(settings.model == kernel_model::traffic), scale_(settings.scale * 1000.0),
          ps_per_flop_(1e12 / static_cast<double>(info.flops_per_second) * settings.scale),
          ps_per_byte_(1e12 / static_cast<double>(info.bytes_per_second) * settings.scale)
    {
    }

    bool needs_traffic() const { return traffic_; }
    /// The roofline: the longer of arithmetic and memory time, or the stated duration.
    std::int64_t duration_ps(const event& e) const
    {
        if (e.nanoseconds >= 0) return whole(static_cast<double>(e.nanoseconds) * scale_);
        return std::max(whole(static_cast<double>(e.flops) * ps_per_flop_), whole(static_cast<double>(e.bytes) * ps_per_byte_));
    }
    /// `--kernels traffic`: the time of touching the blocks named, no more.
    std::int64_t traffic_ps(std::uint64_t bytes) const
    {
        return whole(static_cast<double>(bytes) * ps_per_byte_);
    }

private:
    /// A kernel lasts a million seconds at most: beyond that, picoseconds would soon not fit their integer.
    static std::int64_t whole(double picoseconds) { return static_cast<std::int64_t>(std::min(picoseconds, 1e18)); }

    bool traffic_;
    double scale_;
    double ps_per_flop_;
    double ps_per_byte_;
};

}  // namespace vrambench
