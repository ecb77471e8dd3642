#pragma once
// How long a search will go on: runs that it expects still to make, and the time that they take. For the progress line only.

#include "bench/fit/search.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace vrambench::fit {

/// Points that smallest_passing() will still try, as far as can be said: what bisection needs at most, and the checks around
/// the middle of where its answer may be, which become those around the answer. Islands cost more and are not foreseen.
class expected_points {
public:
    expected_points(std::uint64_t last, check_rule rule) : last_(last), rule_(std::move(rule)) {}

    /// A point ended so.
    void tried(std::uint64_t point, bool passed);
    /// At least 1: to be asked when a point is about to be tried.
    std::uint64_t left() const;

private:
    std::uint64_t left_to_bisect() const;
    std::uint64_t checks_left(std::uint64_t found) const;

    std::uint64_t last_;
    check_rule rule_;
    std::optional<std::uint64_t> passing_, failing_;   ///< the smallest that passes; the largest below it that fails
    std::set<std::uint64_t> tried_;
};

/// Seconds that several searches will still take, by what their runs took so far.
class outlook {
public:
    /// `weights`: what a run of each search costs, in any unit. `at_once`: searches that go on beside each other.
    outlook(std::vector<double> weights, std::size_t at_once);

    void expect(std::size_t search, std::uint64_t runs);   ///< so many are left
    void ran(std::size_t search, double seconds);          ///< one of them took so long
    void ended(std::size_t search);
    /// None until a run has ended of a search that knows how many it needs. Others are taken to need as much for their weight.
    std::optional<double> seconds_left() const;

private:
    struct course {
        double weight = 0, seconds = 0;
        std::uint64_t runs = 0;
        std::optional<std::uint64_t> left = {};

        bool known() const { return runs > 0 && left; }
        double seconds_left() const { return seconds / static_cast<double>(runs) * static_cast<double>(*left); }
    };
    std::vector<course> courses_;
    std::size_t at_once_;
};

}  // namespace vrambench::fit
