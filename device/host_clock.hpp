#pragma once
// The clock that times allocator calls: the CPU's time-stamp counter on a GPU, a virtual one on the simulated device. It
// is read twice around every timed call, so reading it is a branch and a load (virtual) or a branch, a counter read and a
// multiplication (real): no virtual call.

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace vrambench {

class host_clock {
public:
    /// The host's steady clock: what the counter is calibrated against, and what serves where there is no counter.
    host_clock() = default;

    /// A virtual clock: reads and advances `*now_ps` (picoseconds), which outlives it.
    host_clock(std::int64_t* now_ps, std::int64_t unit_ps) : virtual_ps_(now_ps), unit_ps_(unit_ps) {}

    /// The time-stamp counter, calibrated once in a process against the steady clock (20 ms), where it is there and runs
    /// at a constant rate; else the steady clock.
    static host_clock counter();

    bool is_virtual() const { return virtual_ps_ != nullptr; }
    bool is_counter() const { return ps_per_tick_ > 0; }
    double ps_per_tick() const { return ps_per_tick_; }

    /// Picoseconds since a fixed point. Monotonic.
    std::int64_t now_ps() const
    {
        if (virtual_ps_) return *virtual_ps_;
#if defined(__x86_64__)
        if (ps_per_tick_ > 0) {
            unsigned cpu;
            return static_cast<std::int64_t>(static_cast<double>(__rdtscp(&cpu) - first_tick_) * ps_per_tick_);
        }
#endif
        const auto t = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::nanoseconds>(t).count() * 1000;
    }

    /// Advances a virtual clock by `units` of policy work (a slot or node visited); a real clock runs by itself.
    void charge(std::uint64_t units) const
    {
        if (virtual_ps_) *virtual_ps_ += static_cast<std::int64_t>(units) * unit_ps_;
    }

private:
    std::int64_t* virtual_ps_ = nullptr;
    std::int64_t unit_ps_ = 0;
    std::uint64_t first_tick_ = 0;
    double ps_per_tick_ = 0;
};

}  // namespace vrambench
