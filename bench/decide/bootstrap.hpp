#pragma once
// Intervals of means over processes. One value is one process, since allocators and processes have state: calls or steps of
// one process are not independent of each other.
//
// The method is the studentised bootstrap (bootstrap-t: Efron and Tibshirani 1993, chapter 12): resample, take
// t = (mean* - mean) / standard error*, and use the quantiles of t. With the 5 to 20 processes that a run has, percentile and
// BCa intervals of a mean are too narrow (tests/bench/decide_coverage_test.cpp prints the shares); this one widens by itself
// where values are few. Seeded and with integer-only random numbers: the same values give the same interval on any machine.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace vrambench {

struct interval {
    double low = 0, high = 0;
    bool operator==(const interval&) const = default;
};

struct bootstrap_settings {
    std::uint64_t seed = 1;
    std::size_t resamples = 1999;            ///< (resamples + 1) * 0.025 is whole: the quantiles are order statistics
};

/// The arithmetic mean; throws std::logic_error for none.
double mean(std::span<const double> values);

/// 95 % interval of the mean. A point where two or more values are all equal (counts, bytes, a simulated time). Empty below
/// four values that differ, where resamples without spread leave no quantile.
std::optional<interval> mean_interval(std::span<const double> values, const bootstrap_settings& how = {});

/// 95 % interval of mean(other) - mean(base) where nothing pairs their values: processes of two runs. The variances may
/// differ. A point where neither varies and each has two values or more. Empty where there are too few values.
std::optional<interval> difference_interval(std::span<const double> base, std::span<const double> other,
                                            const bootstrap_settings& how = {});

/// Standard errors of the mean, and of mean(other) - mean(base); each needs two values or more.
double mean_error(std::span<const double> values);
double difference_error(std::span<const double> base, std::span<const double> other);

/// other - base of each round; both hold one value a round, in the same order. Its mean_interval is the paired comparison.
/// Throws std::logic_error where the sizes differ.
std::vector<double> paired_differences(std::span<const double> base, std::span<const double> other);

/// other / base of each round. Empty where a base or other is not above 0: such a ratio says nothing.
std::vector<double> paired_ratios(std::span<const double> base, std::span<const double> other);

}  // namespace vrambench
