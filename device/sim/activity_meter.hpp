#pragma once
// When the simulated device was busy: the union of all kernels' intervals, and the time in which a launch waited.

#include "device/device.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace vrambench::sim {

class activity_meter {
public:
    explicit activity_meter(bool one_stream = true) : one_stream_(one_stream) {}

    /// A launch that could run from `ready` on, and ran from `start` to `end`. `now` is the host's time: no later launch
    /// can start before it, which is what lets intervals of several streams be merged as they come.
    void kernel(std::int64_t ready, std::int64_t start, std::int64_t end, std::int64_t now)
    {
        waiting_.add(ready, start);
        last_end_ = std::max(last_end_, end);
        if (one_stream_) {
            busy_.add(start, end);
            return;
        }
        open_.emplace(start, end);
        settle(now);
    }

    void reset(std::int64_t now)
    {
        settle(INT64_MAX);
        base_ = now;
        busy_.total = waiting_.total = 0;
        last_end_ = std::max(last_end_, now);
    }

    device_activity read(std::int64_t now)
    {
        settle(INT64_MAX);
        const std::int64_t span = std::max(now, last_end_) - base_;
        return {busy_.total, span - waiting_.total, span};
    }

private:
    /// Length of a union of intervals that come sorted by their begin.
    struct covered {
        std::int64_t total = 0;
        std::int64_t until = 0;
        void add(std::int64_t begin, std::int64_t end)
        {
            begin = std::max(begin, until);
            if (end <= begin) return;
            total += end - begin;
            until = end;
        }
    };

    void settle(std::int64_t now)
    {
        while (!open_.empty() && open_.top().first <= now) {
            busy_.add(open_.top().first, open_.top().second);
            open_.pop();
        }
    }

    using interval = std::pair<std::int64_t, std::int64_t>;
    bool one_stream_;
    covered busy_, waiting_;
    std::int64_t base_ = 0;
    std::int64_t last_end_ = 0;
    std::priority_queue<interval, std::vector<interval>, std::greater<>> open_;
};

}  // namespace vrambench::sim
