#include "bench/histogram.hpp"

#include <algorithm>
#include <limits>

namespace vrambench {

namespace {

std::int64_t saturating_add(std::int64_t sum, std::int64_t value, std::uint64_t times)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::int64_t product = 0;
    if (times > static_cast<std::uint64_t>(most) || __builtin_mul_overflow(value, static_cast<std::int64_t>(times), &product))
        return most;
    return sum > most - product ? most : sum + product;
}

/// Nearest rank, 1 ... count. The small slack undoes what `q * count` gains by rounding: 0.07 * 100 is above 7.
std::uint64_t rank_of(double q, std::uint64_t count)
{
    const double exact = q * static_cast<double>(count);
    auto rank = static_cast<std::uint64_t>(exact);
    if (exact - static_cast<double>(rank) > 1e-9 * std::max(exact, 1.0)) ++rank;
    return std::clamp<std::uint64_t>(rank, 1, count);
}

}  // namespace

void histogram::merge(const histogram& other)
{
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t b = 0; b < other.counts_.size(); ++b) counts_[b] += other.counts_[b];
    count_ += other.count_;
    sum_ = saturating_add(sum_, other.sum_, 1);
    max_ = std::max(max_, other.max_);
}

std::int64_t histogram::quantile(double q) const
{
    if (count_ == 0) return 0;
    const std::uint64_t rank = rank_of(q, count_);
    std::uint64_t seen = 0;
    for (std::size_t b = 0; b < counts_.size(); ++b) {
        seen += counts_[b];
        if (seen >= rank) return std::min(middle(b), max_);
    }
    return max_;
}

std::vector<std::pair<std::int64_t, std::uint64_t>> histogram::bins() const
{
    std::vector<std::pair<std::int64_t, std::uint64_t>> all;
    for (std::size_t b = 0; b < counts_.size(); ++b)
        if (counts_[b] != 0) all.emplace_back(middle(b), counts_[b]);
    return all;
}

bool histogram::is_possible() const
{
    if (count_ == 0) return true;
    if (sum_ == std::numeric_limits<std::int64_t>::max()) return true;    // it was too large to be told
    const auto [low, high] = range(counts_.size() - 1);
    if (max_ < low || max_ > high) return false;
    __int128 least = 0, most = 0;
    for (std::size_t b = 0; b < counts_.size(); ++b) {
        least += static_cast<__int128>(range(b).first) * counts_[b];
        most += static_cast<__int128>(std::min(range(b).second, max_)) * counts_[b];
    }
    return sum_ >= least - low + max_ && sum_ <= most;    // the largest value is one of those in the last bucket
}

std::pair<std::uint64_t, std::uint64_t> histogram::count_from(std::int64_t value) const
{
    std::uint64_t least = 0, most = 0;
    for (std::size_t b = 0; b < counts_.size(); ++b) {
        if (range(b).first >= value) least += counts_[b];
        if (range(b).second >= value) most += counts_[b];
    }
    return {least, most};
}

histogram histogram::from_bins(const std::vector<std::pair<std::int64_t, std::uint64_t>>& bins)
{
    histogram h;
    for (const auto& [value, times] : bins) {
        if (times == 0) continue;
        const std::int64_t v = std::max<std::int64_t>(value, 0);
        const std::size_t b = bucket(static_cast<std::uint64_t>(v));
        if (b >= h.counts_.size()) h.counts_.resize(b + 1);
        h.counts_[b] += times;
        h.count_ += times;
        h.sum_ = saturating_add(h.sum_, v, times);
        h.max_ = std::max(h.max_, v);
    }
    return h;
}

histogram histogram::from_bins(const std::vector<std::pair<std::int64_t, std::uint64_t>>& bins, std::int64_t sum,
                               std::int64_t max)
{
    histogram h = from_bins(bins);
    h.sum_ = sum;
    h.max_ = max;
    return h;
}

std::pair<std::int64_t, std::int64_t> histogram::range(std::size_t bucket)
{
    constexpr std::size_t sub_buckets = std::size_t{1} << sub_bits;
    if (bucket < sub_buckets) return {static_cast<std::int64_t>(bucket), static_cast<std::int64_t>(bucket)};
    const auto shift = (bucket >> sub_bits) - 1;
    const auto lowest = static_cast<std::int64_t>((sub_buckets + (bucket & (sub_buckets - 1))) << shift);
    return {lowest, lowest + ((std::int64_t{1} << shift) - 1)};
}

std::int64_t histogram::middle(std::size_t bucket)
{
    const auto [lowest, highest] = range(bucket);
    return lowest + (highest - lowest) / 2;
}

}  // namespace vrambench
