#pragma once
// What each recovery of a pass cost and what came of it: the misses of the calls after it, and the steps after it beside
// those before. Fixed in size, so that nothing is allocated while the pass runs; a pass without recoveries pays one branch an
// allocation.

#include "bench/measurement.hpp"
#include "device/device.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace vrambench {

class recovery_log {
public:
    static constexpr std::size_t kept = 16;              ///< the first ones; the allocator counts them all
    static constexpr std::uint32_t calls_watched = 256;  ///< allocations after a recovery, until the next one
    static constexpr std::uint64_t steps_compared = 8;   ///< on either side of the step of a recovery

    /// Whether noted() must be told of an allocation that was served this way.
    bool concerns(path how) const { return watched_ != 0 || how == path::flush_retry; }
    /// An allocation that took `ps`. `how_recovered`: what the allocator says of it where it was a recovery; null: nothing.
    void noted(path how, std::int64_t ps, std::uint64_t event, std::uint64_t step, const recovery_trace* how_recovered);
    void step_ended(std::int64_t ps);
    /// When the device is idle: the recoveries with their times.
    std::vector<recovery_record> resolve(device& dev) const;

private:
    struct entry {
        recovery_record record;
        recovery_trace trace;
        bool in_its_step = true;         ///< the step of the recovery itself has not ended
    };

    void recovered(std::uint64_t event, std::uint64_t step, const recovery_trace& trace);

    std::array<entry, kept> entries_{};
    std::size_t count_ = 0;              ///< of entries_
    std::size_t first_open_ = 0;         ///< those before it have seen all their steps
    std::uint32_t watched_ = 0;          ///< allocations to come that count for the last entry
    std::array<std::int64_t, steps_compared> last_steps_{};
    std::uint64_t steps_ = 0;
};

}  // namespace vrambench
