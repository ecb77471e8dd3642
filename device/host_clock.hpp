#pragma once
// The clock that times allocator calls: a CPU counter on a GPU, a virtual one on the simulated device. It is read twice
// around every timed call, so reading it is a branch and a load (virtual) or a branch and a counter read (real): no
// virtual call.

#include <chrono>
#include <cstdint>

namespace vrambench {

class host_clock {
public:
    /// A real clock.
    host_clock() = default;

    /// A virtual clock: reads and advances `*now_ps` (picoseconds), which outlives it.
    host_clock(std::int64_t* now_ps, std::int64_t unit_ps) : virtual_ps_(now_ps), unit_ps_(unit_ps) {}

    bool is_virtual() const { return virtual_ps_ != nullptr; }

    /// Picoseconds since a fixed point. Monotonic.
    std::int64_t now_ps() const
    {
        if (virtual_ps_) return *virtual_ps_;
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
};

}  // namespace vrambench
