#pragma once
// Happens-before over streams, events and the host, as vector clocks: for each stream the operations of every other
// stream that it is ordered behind, and the same for the host. Exact, and transitive through every kind of edge.
//
// What the host knows holds for every operation that it issues later, on any stream. So it is kept once, beside the
// streams' own knowledge, and never copied into it.
//
// The driver may see late that an old operation of a stream is done, and then counts what the stream knew at that time. So
// each wait leaves a lesson: what its stream knew from then on. A lesson goes when the host knows its stream to be past
// it, or when nobody could tell it from its neighbour: no use of memory that is still remembered lies between the two, and
// a use to come is after both. Hence there are at most as many lessons of a stream as remembered uses (sift()), however
// late the driver looks, and every answer about a remembered use is exact.

#include "device/device.hpp"
#include "device/sim/stream_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace vrambench::sim {

class happens_before {
public:
    /// Streams are only added: what is known of others stays.
    void set_streams(std::uint32_t n)
    {
        if (n <= streams_.size()) return;
        const std::size_t before = streams_.size();
        streams_.resize(n);
        for (auto& s : streams_) {
            s.know.resize(n, 0);
            s.lessons = widened(s.lessons, 1 + before, 1 + n);
        }
        for (auto& e : events_)
            if (!e.empty()) e.resize(n, 0);
        host_.resize(n, 0);
    }

    std::size_t streams() const { return streams_.size(); }

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
        merge(host_, known_at(s, m));
        host_[s] = m;
    }

    /// `at`: the waiting operation's own mark, as for waited().
    void depends(std::uint32_t s, std::uint32_t on, mark m, mark at)
    {
        step(s, at);
        if (s == on || known(s, on, m)) return;
        scratch_.assign(streams_.size(), 0);
        merge(scratch_, known_at(on, m));
        scratch_[on] = std::max(scratch_[on], m);
        learn(s, scratch_);
    }

    /// Lessons of all streams.
    std::size_t lessons() const { return lessons_; }

    /// Joins the lessons that nobody can tell apart. `uses`: for each stream the marks, ascending, of all operations that
    /// known() and host_knows() may still be asked about, but for those to come.
    void sift(const std::vector<knowledge>& uses)
    {
        lessons_ = 0;
        for (std::uint32_t s = 0; s < streams_.size(); ++s) {
            sift(s, uses);
            lessons_ += streams_[s].lessons.size() / row();
        }
    }

private:
    struct stream {
        mark clock = 0;                      ///< the last operation heard of
        knowledge know;
        std::vector<mark> lessons;           ///< rows, oldest first: the operation from which it holds, then what was known
    };
    using known_marks = std::span<const mark>;

    std::size_t row() const { return 1 + streams_.size(); }
    static std::vector<mark> widened(const std::vector<mark>& rows, std::size_t from, std::size_t to)
    {
        std::vector<mark> wide(rows.size() / from * to, 0);
        for (std::size_t i = 0; i < rows.size(); ++i) wide[i / from * to + i % from] = rows[i];
        return wide;
    }

    static bool merge(knowledge& into, known_marks more)
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
    void learn(std::uint32_t s, known_marks more)
    {
        stream& st = streams_[s];
        if (!merge(st.know, more)) return;
        if (!st.lessons.empty() && st.lessons[st.lessons.size() - row()] <= host_[s]) {   // the host knows them all
            lessons_ -= st.lessons.size() / row();
            st.lessons.clear();
        }
        st.lessons.push_back(st.clock);
        st.lessons.insert(st.lessons.end(), st.know.begin(), st.know.end());
        ++lessons_;
    }

    /// What `s` knew at its operation `m`, beside what the host knows.
    known_marks known_at(std::uint32_t s, mark m) const
    {
        const auto& rows = streams_[s].lessons;
        std::size_t low = 0, high = rows.size() / row();     // the first that came after m
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (rows[middle * row()] <= m) low = middle + 1;
            else high = middle;
        }
        return low == 0 ? known_marks{} : known_marks(rows).subspan((low - 1) * row() + 1, streams_.size());
    }

    void sift(std::uint32_t s, const std::vector<knowledge>& uses)
    {
        auto& rows = streams_[s].lessons;
        const std::size_t n = streams_.size();
        std::size_t kept = 0;                                // end of the rows that stay
        next_use_.assign(n, 0);
        for (std::size_t at = 0; at < rows.size(); at += row()) {
            mark* const lesson = &rows[at];
            if (*lesson <= host_[s]) continue;
            const bool differs = adds_a_use(s, {lesson + 1, n}, uses) || kept == 0;
            if (!differs) {
                // It counts from the earlier's operation on: nobody is told less than was known.
                std::copy_n(lesson + 1, n, &rows[kept - n]);
                continue;
            }
            if (kept < at) std::copy_n(lesson, row(), &rows[kept]);
            kept += row();
        }
        rows.resize(kept);
    }

    /// Does `s`, who knows this now, know of a use that it did not know of before? Of its own it makes no difference.
    bool adds_a_use(std::uint32_t s, known_marks now, const std::vector<knowledge>& uses)
    {
        bool adds = false;
        for (std::uint32_t t = 0; t < streams_.size(); ++t) {
            if (t == s) continue;
            std::size_t& next = next_use_[t];                // the first that was not known
            for (; next < uses[t].size() && uses[t][next] <= now[t]; ++next) adds = true;
        }
        return adds;
    }

    std::vector<stream> streams_;
    std::vector<knowledge> events_;          ///< by event id; empty: never recorded
    knowledge host_;
    knowledge scratch_;
    std::vector<std::size_t> next_use_;      ///< of each stream; of sift()
    std::size_t lessons_ = 0;
};

}  // namespace vrambench::sim
