#pragma once
// The cells of a cache that several sequences share. A token takes the lowest free one.

#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

namespace vrambench::engine {

class cell_map {
public:
    explicit cell_map(std::uint64_t cells) : free_((cells + 63) / 64, ~std::uint64_t{0}) {}

    /// Only while one is free.
    std::uint32_t take()
    {
        while (free_[lowest_] == 0) ++lowest_;
        const auto cell = static_cast<std::uint32_t>(lowest_ * 64 + static_cast<unsigned>(std::countr_zero(free_[lowest_])));
        free_[lowest_] &= free_[lowest_] - 1;
        if (cell >= end_) end_ = cell + 1;
        return cell;
    }
    /// A cell that is taken.
    void give_back(std::uint32_t cell)
    {
        assert(!is_free(cell));
        free_[cell / 64] |= std::uint64_t{1} << cell % 64;
        if (cell / 64 < lowest_) lowest_ = cell / 64;
        while (end_ > 0 && is_free(end_ - 1)) --end_;
    }
    /// The highest cell that is taken, plus 1.
    std::uint64_t end() const { return end_; }

private:
    bool is_free(std::uint64_t cell) const { return (free_[cell / 64] >> cell % 64 & 1) != 0; }

    std::vector<std::uint64_t> free_;    ///< a bit each
    std::uint64_t lowest_ = 0;           ///< no word before it has a free cell
    std::uint64_t end_ = 0;
};

}  // namespace vrambench::engine
