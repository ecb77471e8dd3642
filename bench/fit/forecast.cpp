#include "bench/fit/forecast.hpp"

#include <algorithm>
#include <bit>

namespace vrambench::fit {

void expected_points::tried(std::uint64_t point, bool passed)
{
    tried_.insert(point);
    if (passed && (!passing_ || point < *passing_)) {
        passing_ = point;
        if (failing_ && *failing_ > point) failing_.reset();
    }
    if (!passed && passing_ && point < *passing_ && (!failing_ || point > *failing_)) failing_ = point;
}

std::uint64_t expected_points::left() const
{
    const std::uint64_t above = passing_.value_or(last_), below = failing_ ? *failing_ + 1 : 0;
    std::uint64_t left = left_to_bisect() + checks_left(below + (above - below) / 2);    // half way to what is not settled
    if (!passing_ && !tried_.empty()) {    // the end fails: the whole range is looked through
        const std::uint64_t points = std::min(last_ + 1, points_of_a_failing_range);
        left = points - std::min<std::uint64_t>(points, tried_.size());
    }
    return std::max<std::uint64_t>(left, 1);
}

std::uint64_t expected_points::left_to_bisect() const
{
    const auto halves = [](std::uint64_t gap) { return static_cast<std::uint64_t>(std::bit_width(gap - 1)); };
    if (!passing_) return 2 + halves(last_ + 1);    // both ends first
    if (*passing_ == 0) return 0;
    return failing_ ? halves(*passing_ - *failing_) : 1 + halves(*passing_);
}

std::uint64_t expected_points::checks_left(std::uint64_t found) const
{
    const checks where = rule_(found);
    const std::uint64_t stride = std::max<std::uint64_t>(where.stride, 1), end = std::min(where.last, last_);
    std::uint64_t left = 0;
    const auto count = [&](std::uint64_t point) { left += !tried_.contains(point); };
    for (std::uint64_t p = found + stride; p <= end; p += stride) count(p);
    for (std::uint64_t p = found; p >= where.first + stride;) count(p -= stride);
    return left;
}

outlook::outlook(std::vector<double> weights, std::size_t at_once) : at_once_(std::max<std::size_t>(at_once, 1))
{
    for (const double w : weights) courses_.push_back({std::max(w, 1.0)});
}

void outlook::expect(std::size_t search, std::uint64_t runs) { courses_.at(search).left = runs; }

void outlook::ran(std::size_t search, double seconds)
{
    course& c = courses_.at(search);
    c.seconds += seconds;
    ++c.runs;
    if (c.left && *c.left > 0) --*c.left;
}

void outlook::ended(std::size_t search) { courses_.at(search).left = 0; }

std::optional<double> outlook::seconds_left() const
{
    double known_seconds = 0, known_weight = 0, left = 0;
    for (const course& c : courses_) {
        if (!c.known()) continue;
        known_seconds += c.seconds + c.seconds_left();
        known_weight += c.weight;
        left += c.seconds_left();
    }
    if (known_weight == 0) return std::nullopt;
    std::size_t unfinished = 0;
    for (const course& c : courses_) {
        if (!c.left) left += known_seconds / known_weight * c.weight;
        if (!c.left || *c.left > 0) ++unfinished;
    }
    return left / static_cast<double>(std::clamp<std::size_t>(unfinished, 1, at_once_));
}

}  // namespace vrambench::fit
