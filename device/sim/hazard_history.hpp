#pragma once
// What became of memory that is no longer in the hands of whoever used it: for each range the last uses that somebody may
// still have to wait for. A range that nobody used, or whose uses the host knows to be done, needs no record.
//
// One record (`past`) serves all pieces of a freed block, however the memory is cut up later; it goes with its last piece.
// So memory is bounded by the ranges that exist, not by how often they were used.

#include "device/sim/hazard_log.hpp"
#include "device/sim/hazard_order.hpp"
#include "device/sim/hazard_ranges.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vrambench::sim {

/// A kernel's use of memory.
struct use {
    mark at = 0;
    std::uint64_t event = 0;                 ///< trace event
    std::uint32_t stream = 0;
    std::uint32_t block = 0;
    bool write = false;
    bool ownerless = false;                  ///< by a replayed graph, on memory that was no block's

    /// Replayed graphs that only read what is nobody's do not disturb each other.
    bool shareable() const { return ownerless && !write; }
};

struct past {
    std::vector<use> uses;                   ///< keeps its memory when the record is used again
    std::uint32_t pieces = 0;                ///< ranges that refer to it
    std::uint64_t freed_at = hazard_log::no_event;   ///< event; none where the uses are not of one block
    std::uint32_t freed_on = 0;              ///< stream
    reported_kinds reported;
};

class memory_history {
public:
    std::size_t ranges() const { return map_.size(); }
    const past& record(std::uint32_t id) const { return pasts_[id]; }
    past& record(std::uint32_t id) { return pasts_[id]; }

    std::size_t records() const { return pasts_.size(); }
    template <class Visit> void visit_uses(Visit visit) const
    {
        for (const past& p : pasts_)
            if (p.pieces > 0)
                for (const use& u : p.uses) visit(u);
    }

    /// A new record without uses or pieces. Valid until the next change; give it a range at once.
    std::uint32_t create(std::uint32_t freed_on, std::uint64_t freed_at)
    {
        std::uint32_t id = 0;
        if (unused_.empty()) {
            id = static_cast<std::uint32_t>(pasts_.size());
            pasts_.emplace_back();
        } else {
            id = unused_.back();
            unused_.pop_back();
        }
        past& p = pasts_[id];
        p.uses.clear();
        p.pieces = 0;
        p.freed_on = freed_on;
        p.freed_at = freed_at;
        p.reported = {};
        return id;
    }

    /// Calls visit(range, id) for each piece in [start, end), clipped to it, until it answers false.
    template <class Visit>
    void visit(std::uint64_t start, std::uint64_t end, Visit visit) const
    {
        for (auto p = map_.find(start); !map_.at_end(p) && map_.at(p).start < end; p = map_.next(p)) {
            const address_range& r = map_.at(p);
            if (!visit(address_range{std::max(r.start, start), std::min(r.end, end), r.value})) return;
        }
    }

    void forget(std::uint64_t start, std::uint64_t end) { map_.cut(start, end, counter()); }

    /// The record replaces whatever was known of [start, end): its uses came after all of that.
    void replace(std::uint64_t start, std::uint64_t end, std::uint32_t id, const happens_before& order)
    {
        map_.assign(start, end, id, counter());
        if (map_.size() > sweep_above_) sweep(order);
    }

    /// The record joins what was known of [start, end): its uses need not have come after all of that.
    void join(std::uint64_t start, std::uint64_t end, std::uint32_t id, const happens_before& order)
    {
        pieces_.clear();
        visit(start, end, [&](const address_range& r) {
            pieces_.push_back(r);
            ++pasts_[r.value].pieces;                        // outlive the replacement
            return true;
        });
        map_.assign(start, end, id, counter());
        for (const address_range& r : pieces_) {
            map_.assign(r.start, r.end, joined(r.value, id, order), counter());
            drop_piece(r.value);
        }
        if (map_.size() > sweep_above_) sweep(order);
    }

private:
    struct piece_counter {
        memory_history& history;
        void operator()(std::uint32_t id, int n) const
        {
            if (n > 0) ++history.pasts_[id].pieces;
            else history.drop_piece(id);
        }
    };
    piece_counter counter() { return {*this}; }
    void drop_piece(std::uint32_t id)
    {
        if (--pasts_[id].pieces == 0) unused_.push_back(id);
    }

    std::uint32_t joined(std::uint32_t old_id, std::uint32_t new_id, const happens_before& order)
    {
        const std::uint32_t id = create(0, hazard_log::no_event);
        for (const std::uint32_t from : {old_id, new_id})
            for (const use& u : pasts_[from].uses)
                if (!order.host_knows(u.stream, u.at)) add_latest(pasts_[id].uses, u);
        return id;
    }

    /// Whoever is behind a stream's later use is behind its earlier ones; shareable ones are judged apart.
    static void add_latest(std::vector<use>& uses, const use& u)
    {
        for (use& v : uses) {
            if (v.stream != u.stream || v.shareable() != u.shareable()) continue;
            if (v.at < u.at) v = u;
            return;
        }
        uses.push_back(u);
    }

    /// Drops the ranges whose uses the host knows to be done: whatever it issues next comes after them. It runs each time
    /// the number of ranges has doubled, so that its cost per change is constant.
    void sweep(const happens_before& order)
    {
        for (auto p = map_.begin(); !map_.at_end(p);) {
            const std::uint32_t id = map_.at(p).value;
            const auto& uses = pasts_[id].uses;
            if (!std::all_of(uses.begin(), uses.end(), [&](const use& u) { return order.host_knows(u.stream, u.at); })) {
                p = map_.next(p);
                continue;
            }
            p = map_.erase(p);
            drop_piece(id);
        }
        sweep_above_ = std::max(least_sweep, 2 * map_.size());
    }

    static constexpr std::size_t least_sweep = 256;
    range_map map_;                          ///< values are indices into pasts_
    std::vector<past> pasts_;
    std::vector<std::uint32_t> unused_;
    std::vector<address_range> pieces_;      ///< scratch of join()
    std::size_t sweep_above_ = least_sweep;
};

}  // namespace vrambench::sim
