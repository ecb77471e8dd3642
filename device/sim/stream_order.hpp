#pragma once
// The order of operations on the simulated device: per stream a count of its operations, the virtual time at which all
// of them will have ended, and what the stream has waited for. Pools decide by it; the hazard checker keeps its own.
//
// Streams run in order, so "operation m of stream s is done" is the same as "the end time that s had when m was issued
// has passed". That is why a mark travels with an end time instead of a list of kernels.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace vrambench::sim {

using mark = std::uint64_t;                  ///< number of an operation on its stream, from 1

/// What a stream is known to be ordered behind: for each stream, its operations up to this mark.
using knowledge = std::vector<mark>;

class stream_order {
public:
    explicit stream_order(std::uint32_t streams = 1) { set_streams(streams); }

    void set_streams(std::uint32_t n)
    {
        streams_.resize(n);
        for (auto& s : streams_) s.know.resize(n, 0);
    }
    std::uint32_t streams() const { return static_cast<std::uint32_t>(streams_.size()); }

    mark clock(std::uint32_t s) const { return streams_[s].clock; }
    /// Virtual time (ps) at which everything issued to `s` so far has ended.
    std::int64_t end_ps(std::uint32_t s) const { return streams_[s].end_ps; }
    /// Mark of the last kernel launched on `s`.
    mark last_launch(std::uint32_t s) const { return streams_[s].last_launch; }
    const knowledge& know(std::uint32_t s) const { return streams_[s].know; }

    mark tick(std::uint32_t s) { return ++streams_[s].clock; }

    /// A kernel on `s` that can start no earlier than `ready_ps` and takes `duration_ps`. Returns its start time.
    std::int64_t kernel(std::uint32_t s, std::int64_t ready_ps, std::int64_t duration_ps)
    {
        auto& st = streams_[s];
        const std::int64_t start = std::max(ready_ps, st.end_ps);
        st.end_ps = start + duration_ps;
        st.last_launch = ++st.clock;
        return start;
    }

    void record(std::uint32_t event, std::uint32_t s)
    {
        auto& st = streams_[s];
        const mark t = ++st.clock;
        if (events_.size() <= event) events_.resize(event + 1);
        auto& e = events_[event];
        e.know = st.know;
        e.know[s] = t;
        e.end_ps = st.end_ps;
        e.stream = s;
    }

    /// `s` waits for the event's last record; nothing if there was none.
    void wait(std::uint32_t event, std::uint32_t s)
    {
        if (!recorded(event)) return;
        auto& st = streams_[s];
        ++st.clock;
        const auto& e = events_[event];
        for (std::uint32_t q = 0; q < e.know.size(); ++q)
            if (q != s) st.know[q] = std::max(st.know[q], e.know[q]);
        st.end_ps = std::max(st.end_ps, e.end_ps);
    }

    bool recorded(std::uint32_t event) const { return event < events_.size() && !events_[event].know.empty(); }
    const knowledge& event_know(std::uint32_t event) const { return events_[event].know; }
    std::int64_t event_end_ps(std::uint32_t event) const { return events_[event].end_ps; }
    /// On which it was recorded last.
    std::uint32_t event_stream(std::uint32_t event) const { return events_[event].stream; }

    /// The driver makes `s` wait until `end_ps` (an internal dependency); `know` does not learn of it.
    void depend(std::uint32_t s, std::int64_t end_ps)
    {
        ++streams_[s].clock;
        streams_[s].end_ps = std::max(streams_[s].end_ps, end_ps);
    }

    /// What a synchronisation with `s` covers: all of its operations and what it had waited for.
    knowledge covered_by_sync(std::uint32_t s) const
    {
        knowledge k = streams_[s].know;
        k[s] = streams_[s].clock;
        return k;
    }

    /// The order in which streams first used a stream-ordered call, in any pool (pools search other streams in it).
    const std::vector<std::uint32_t>& pool_order() const { return pool_order_; }
    mark pool_op(std::uint32_t s)
    {
        auto& st = streams_[s];
        if (!st.used_pool) {
            st.used_pool = true;
            pool_order_.push_back(s);
        }
        return ++st.clock;
    }

private:
    struct stream_state {
        mark clock = 0;
        mark last_launch = 0;
        std::int64_t end_ps = 0;
        knowledge know;
        bool used_pool = false;
    };
    struct event_state {
        knowledge know;
        std::int64_t end_ps = 0;
        std::uint32_t stream = 0;
    };
    std::vector<stream_state> streams_;
    std::vector<event_state> events_;
    std::vector<std::uint32_t> pool_order_;
};

}  // namespace vrambench::sim
