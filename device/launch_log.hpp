#pragma once
// When the launches of a pass ran, from the kernels' own stamps on the host's clock: what the card did in any stretch of
// time, and when a launch had to wait. The simulator's activity_meter says the same of its virtual timeline.

#include <cstdint>
#include <utility>
#include <vector>

namespace vrambench {

/// One launch, host time in picoseconds.
struct launch_times {
    std::int64_t ready = 0;          ///< earliest start: when the host launched it, and what a launch takes to reach the card
    std::int64_t start = 0, end = 0;
};

class launch_log {
public:
    explicit launch_log(std::vector<launch_times> launches);

    /// Time in which at least one kernel ran.
    std::int64_t busy_ps() const;
    /// The same between two moments.
    std::int64_t busy_within_ps(std::int64_t begin, std::int64_t end) const;
    /// Time in which at least one launch waited: from `ready` to `start` where a kernel ran at `ready`. On an idle card a
    /// launch that starts a little late has met the scatter of launching, and nothing that was queued before it.
    std::int64_t waiting_ps() const;

private:
    using interval = std::pair<std::int64_t, std::int64_t>;

    bool is_busy_at(std::int64_t t) const;

    std::vector<launch_times> launches_;     ///< by `ready`
    std::vector<interval> busy_;             ///< disjoint, ascending
};

}  // namespace vrambench
