#pragma once
// Happens-before over streams, events and the host, as vector clocks: for each stream the operations of every other
// stream that it is ordered behind, and the same for the host. Exact, and transitive through every kind of edge.
//
// What the host knows holds for every operation that it issues later, on any stream. So it is kept once, beside the
// streams' own knowledge, and never copied into it.

#include "device/device.hpp"
#include "device/sim/stream_order.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace vrambench::sim {

class happens_before {
public:
    /// Streams are only added: what is known of others stays.
    void set_streams(std::uint32_t n)
    {
        if (n <= streams_.size()) return;
        streams_.resize(n);
        for (auto& s : streams_) s.know.resize(n, 0);
        for (auto& e : events_)
            if (!e.empty()) e.resize(n, 0);
        host_.resize(n, 0);
    }

    /// Is operation `m` of stream `t` before whatever is issued to `s` now?
    bool known(std::uint32_t s, std::uint32_t t, mark m) const
    {
        return s == t || streams_[s].know[t] >= m || host_[t] >= m;
    }
    /// Does the host know that operation `m` of stream `t` is done?
    bool host_knows(std::uint32_t t, mark m) const { return host_[t] >= m; }

    void launched(std::uint32_t s, mark m) { streams_[s].clock = std::max(streams_[s].clock, m); }

    void recorded(event_id event, std::uint32_t s, mark m)
    {
        launched(s, m);
        if (events_.size() <= event) events_.resize(event + std::size_t{1});
        events_[event] = streams_[s].know;
        events_[event][s] = m;
    }

    /// `m`: the wait's own mark, 0 where the caller does not tell; then it is taken to follow the stream's last operation.
    void waited(event_id event, std::uint32_t s, mark m)
    {
        step(s, m);
        if (event < events_.size() && !events_[event].empty()) learn(s, events_[event]);
    }

    void synced_stream(std::uint32_t s, mark m)
    {
        launched(s, m);
        merge(host_, streams_[s].know);
        host_[s] = std::max(host_[s], m);
    }

    void synced_device()
    {
        for (std::size_t s = 0; s < streams_.size(); ++s) host_[s] = std::max(host_[s], streams_[s].clock);
    }

    void observed(std::uint32_t s, mark m)
    {
        if (host_[s] >= m) return;
        if (const knowledge* then = known_at(s, m)) merge(host_, *then);
        host_[s] = m;
    }

    void depends(std::uint32_t s, std::uint32_t on, mark m)
    {
        step(s, 0);
        if (s == on || known(s, on, m)) return;
        scratch_.assign(streams_.size(), 0);
        if (const knowledge* then = known_at(on, m)) merge(scratch_, *then);
        scratch_[on] = std::max(scratch_[on], m);
        learn(s, scratch_);
    }

private:
    /// What a stream knew from operation `at` on.
    struct lesson {
        mark at = 0;
        knowledge know;
    };
    struct stream {
        mark clock = 0;                      ///< the last operation heard of
        knowledge know;
        std::vector<lesson> lessons;         ///< oldest first, `taught` of them in use; the rest are kept for their memory
        std::size_t taught = 0;
    };
    static constexpr std::size_t most_lessons = 256;

    static bool merge(knowledge& into, const knowledge& more)
    {
        bool changed = false;
        for (std::size_t i = 0; i < more.size(); ++i) {
            if (more[i] <= into[i]) continue;
            into[i] = more[i];
            changed = true;
        }
        return changed;
    }

    void step(std::uint32_t s, mark m) { streams_[s].clock = std::max(streams_[s].clock + (m == 0), m); }

    /// `s` is now behind all of `more`. It is written down by the stream's clock as well: the driver may later see that an
    /// operation before this one is done, or one after it.
    void learn(std::uint32_t s, const knowledge& more)
    {
        stream& st = streams_[s];
        if (!merge(st.know, more)) return;
        if (st.taught == most_lessons) forget(st, s);
        if (st.taught == st.lessons.size()) st.lessons.emplace_back();
        lesson& l = st.lessons[st.taught++];
        l.at = st.clock;
        l.know = st.know;
    }

    /// What `s` knew at its operation `m`; null: nothing.
    const knowledge* known_at(std::uint32_t s, mark m) const
    {
        const stream& st = streams_[s];
        const auto end = st.lessons.begin() + static_cast<std::ptrdiff_t>(st.taught);
        auto after = std::upper_bound(st.lessons.begin(), end, m, [](mark x, const lesson& l) { return x < l.at; });
        return after == st.lessons.begin() ? nullptr : &std::prev(after)->know;
    }

    /// Makes room: lessons at or before what the host knows of `s` teach nothing new (it learned them with it). Where that
    /// is not enough, every other lesson of the older half goes; whoever asks for one gets the lesson before it.
    void forget(stream& st, std::uint32_t s)
    {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < st.taught; ++i)
            if (st.lessons[i].at > host_[s]) keep(st, kept++, i);
        st.taught = kept;
        if (st.taught <= most_lessons / 2) return;
        kept = 0;
        for (std::size_t i = 0; i < st.taught; ++i)
            if (i % 2 == 1 || i >= st.taught / 2) keep(st, kept++, i);
        st.taught = kept;
    }
    static void keep(stream& st, std::size_t to, std::size_t from)
    {
        if (to != from) std::swap(st.lessons[to], st.lessons[from]);
    }

    std::vector<stream> streams_;
    std::vector<knowledge> events_;          ///< by event id; empty: never recorded
    knowledge host_;
    knowledge scratch_;
};

}  // namespace vrambench::sim
