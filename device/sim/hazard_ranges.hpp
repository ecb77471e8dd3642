#pragma once
// Disjoint address ranges, each with a small value, in address order. The hazard checker keeps three such maps: memory
// that exists, blocks that are live, and what became of memory that was used before.
//
// Ranges stand in leaves of at most 64, so that a lookup is two short binary searches in plain arrays and a change moves
// a kilobyte at most. Emptied leaves are kept for later: a steady state allocates nothing.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace vrambench::sim {

struct address_range {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint32_t value = 0;
};

class range_map {
public:
    /// Where a range stands. Any change to the map invalidates it, but for the one that a call returns.
    struct position {
        std::size_t leaf = 0;
        std::size_t slot = 0;
    };

    std::size_t size() const { return size_; }
    bool at_end(position p) const { return p.leaf == leaves_.size(); }
    const address_range& at(position p) const { return leaves_[p.leaf]->ranges[p.slot]; }
    void set_value(position p, std::uint32_t value) { leaves_[p.leaf]->ranges[p.slot].value = value; }
    position begin() const { return {0, 0}; }
    position next(position p) const
    {
        if (++p.slot == leaves_[p.leaf]->count) return {p.leaf + 1, 0};
        return p;
    }

    /// The first range that ends behind `address`: the one that holds it, or else the one after it.
    position find(std::uint64_t address) const
    {
        if (leaves_.empty()) return {0, 0};
        const auto above = std::upper_bound(firsts_.begin(), firsts_.end(), address);
        const std::size_t l = above == firsts_.begin() ? 0 : static_cast<std::size_t>(above - firsts_.begin()) - 1;
        const leaf& in = *leaves_[l];
        std::size_t low = 0, high = in.count;                // first slot that starts above `address`
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (in.ranges[middle].start <= address) low = middle + 1;
            else high = middle;
        }
        if (low > 0 && in.ranges[low - 1].end > address) return {l, low - 1};
        return low < in.count ? position{l, low} : position{l + 1, 0};
    }

    /// Does any range touch [start, end)?
    bool overlaps(std::uint64_t start, std::uint64_t end) const
    {
        const position p = find(start);
        return !at_end(p) && at(p).start < end;
    }

    /// Adds a range that touches no other; `p` is find(range.start).
    void insert(position p, const address_range& range)
    {
        if (leaves_.empty()) add_leaf(0);
        if (at_end(p) || (p.slot == 0 && p.leaf > 0)) p = {p.leaf - 1, leaves_[p.leaf - 1]->count};   // append instead
        if (leaves_[p.leaf]->count == leaf_size) p = split(p);
        leaf& in = *leaves_[p.leaf];
        std::move_backward(in.ranges.begin() + offset(p.slot), in.ranges.begin() + offset(in.count),
                           in.ranges.begin() + offset(in.count + 1));
        in.ranges[p.slot] = range;
        ++in.count;
        ++size_;
        if (p.slot == 0) firsts_[p.leaf] = range.start;
    }

    /// Removes the range at `p` and returns the position of the one after it.
    position erase(position p)
    {
        leaf& in = *leaves_[p.leaf];
        std::move(in.ranges.begin() + offset(p.slot + 1), in.ranges.begin() + offset(in.count),
                  in.ranges.begin() + offset(p.slot));
        --in.count;
        --size_;
        if (in.count == 0) {
            drop_leaf(p.leaf);
            return {p.leaf, 0};
        }
        if (p.slot == 0) firsts_[p.leaf] = in.ranges[0].start;
        if (in.count < leaf_size / 4) take_in_next(p.leaf);
        return p.slot < in.count ? p : position{p.leaf + 1, 0};
    }

    /// Takes [start, end) out of the map. Ranges that stick out keep what is outside. `count(value, n)` hears how the
    /// number of ranges with a value changes: +1 where one was cut in two, -1 where one vanished.
    template <class Count>
    void cut(std::uint64_t start, std::uint64_t end, Count count)
    {
        position p = find(start);
        while (!at_end(p) && at(p).start < end) {
            const address_range whole = at(p);
            address_range& here = leaves_[p.leaf]->ranges[p.slot];
            if (whole.start < start) {
                here.end = start;
                p = next(p);
                if (whole.end <= end) continue;
                insert(p, {end, whole.end, whole.value});
                count(whole.value, +1);
                return;
            }
            if (whole.end > end) {
                here.start = end;
                if (p.slot == 0) firsts_[p.leaf] = end;
                return;
            }
            p = erase(p);
            count(whole.value, -1);
        }
    }

    /// Makes [start, end) one range of this value, whatever was there before. `count` as for cut(); the new range counts.
    template <class Count>
    void assign(std::uint64_t start, std::uint64_t end, std::uint32_t value, Count count)
    {
        count(value, +1);
        const position p = find(start);
        if (!at_end(p) && at(p).start == start && at(p).end == end) {   // the usual reuse: the same range again
            const std::uint32_t before = at(p).value;
            set_value(p, value);
            count(before, -1);
            return;
        }
        cut(start, end, count);
        insert(find(start), {start, end, value});
    }

private:
    static constexpr std::size_t leaf_size = 64;
    struct leaf {
        std::size_t count = 0;
        std::array<address_range, leaf_size> ranges;
    };

    static std::ptrdiff_t offset(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

    void add_leaf(std::size_t at)
    {
        std::unique_ptr<leaf> fresh;
        if (spare_.empty()) {
            fresh = std::make_unique<leaf>();
        } else {
            fresh = std::move(spare_.back());
            spare_.pop_back();
        }
        fresh->count = 0;
        leaves_.insert(leaves_.begin() + offset(at), std::move(fresh));
        firsts_.insert(firsts_.begin() + offset(at), 0);
    }

    void drop_leaf(std::size_t at)
    {
        spare_.push_back(std::move(leaves_[at]));
        leaves_.erase(leaves_.begin() + offset(at));
        firsts_.erase(firsts_.begin() + offset(at));
    }

    /// Halves a full leaf and returns where `p` is now.
    position split(position p)
    {
        add_leaf(p.leaf + 1);
        leaf& left = *leaves_[p.leaf];
        leaf& right = *leaves_[p.leaf + 1];
        constexpr std::size_t half = leaf_size / 2;
        std::copy(left.ranges.begin() + half, left.ranges.end(), right.ranges.begin());
        left.count = half;
        right.count = leaf_size - half;
        firsts_[p.leaf + 1] = right.ranges[0].start;
        return p.slot <= half ? p : position{p.leaf + 1, p.slot - half};
    }

    /// Joins a thin leaf with the next one where both fit with room to spare, so that leaves do not stay nearly empty.
    void take_in_next(std::size_t at)
    {
        if (at + 1 == leaves_.size()) return;
        leaf& left = *leaves_[at];
        const leaf& right = *leaves_[at + 1];
        if (left.count + right.count > leaf_size / 2) return;
        std::copy(right.ranges.begin(), right.ranges.begin() + offset(right.count),
                  left.ranges.begin() + offset(left.count));
        left.count += right.count;
        drop_leaf(at + 1);
    }

    std::vector<std::uint64_t> firsts_;                      ///< start of each leaf's first range
    std::vector<std::unique_ptr<leaf>> leaves_;
    std::vector<std::unique_ptr<leaf>> spare_;
    std::size_t size_ = 0;
};

}  // namespace vrambench::sim
