#pragma once
// Log-linear histogram of durations: 64 sub-buckets an octave, so that a bucket's middle is within 0.8 % of every value
// in it. Merges over repetitions and processes without loss beyond that bound. Adding is a shift, an add and a store.

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace vrambench {

class histogram {
public:
    static constexpr double relative_error = 0.008;   ///< stated in the result file with the bins

    /// `value` in picoseconds, negative counts as 0.
    void add(std::int64_t value)
    {
        if (value < 0) value = 0;
        const std::size_t b = bucket(static_cast<std::uint64_t>(value));
        if (b >= counts_.size()) counts_.resize(b + 1);
        ++counts_[b];
        ++count_;
        sum_ += value;
        if (value > max_) max_ = value;
    }

    void merge(const histogram& other);

    std::uint64_t count() const { return count_; }
    std::int64_t sum() const { return sum_; }
    std::int64_t max() const { return max_; }
    /// Middle of the bucket that holds the q-th quantile (0 < q <= 1; nearest rank), at most max(); 0 when empty.
    std::int64_t quantile(double q) const;

    /// (middle of the bucket in picoseconds, count) of the buckets that are not empty, ascending.
    std::vector<std::pair<std::int64_t, std::uint64_t>> bins() const;
    /// Whether sum() and max() can be those of values in these buckets.
    bool is_possible() const;
    /// The least and the most of the values that may be `value` or more, as far as the buckets tell.
    std::pair<std::uint64_t, std::uint64_t> count_from(std::int64_t value) const;
    /// The inverse of bins(): values are put back into their buckets. sum and max are then those of the bins' middles.
    static histogram from_bins(const std::vector<std::pair<std::int64_t, std::uint64_t>>& bins);
    /// The same with the exact sum and largest value, which the bins alone have lost.
    static histogram from_bins(const std::vector<std::pair<std::int64_t, std::uint64_t>>& bins, std::int64_t sum,
                               std::int64_t max);

private:
    static constexpr int sub_bits = 6;

    static std::size_t bucket(std::uint64_t v)
    {
        if (v < (1u << sub_bits)) return static_cast<std::size_t>(v);
        const int shift = std::bit_width(v) - 1 - sub_bits;
        return (static_cast<std::size_t>(shift + 1) << sub_bits) + static_cast<std::size_t>((v >> shift) & ((1u << sub_bits) - 1));
    }
    static std::int64_t middle(std::size_t bucket);
    static std::pair<std::int64_t, std::int64_t> range(std::size_t bucket);   ///< smallest and largest value in it

    std::vector<std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    std::int64_t sum_ = 0;
    std::int64_t max_ = 0;
};

}  // namespace vrambench
