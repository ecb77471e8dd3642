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

/// What resampling says of a mean, or of a difference of two.
class mean_estimate {
public:
    /// Values without spread: a point.
    explicit mean_estimate(double exactly) : estimate_(exactly), ci95_{exactly, exactly} {}

    /// `t` of the resamples, infinite where one had no spread; by_student() where a quantile of theirs is. `error` is above 0;
    /// `freedom`: degrees of it, Welch's for two means.
    static mean_estimate from_resamples(double estimate, double error, double freedom, std::vector<double> t);
    /// Student's interval and p-values (Welch's for two means): for values that are nearly all the same, whose resamples show nothing.
    static mean_estimate by_student(double estimate, double error, double freedom);

    const interval& ci95() const { return ci95_; }
    bool is_point() const { return error_ == 0; }
    double error() const { return error_; }              ///< standard error; 0 of a point
    double freedom() const { return freedom_; }          ///< 0 of a point

    /// Two-sided p-value of "the truth lies within the margin": the smallest error of an interval that lies beyond it, so at most
    /// 0.05 exactly where ci95() does. Up to there it is counted from the resamples (with 1 added to count and number: Davison and
    /// Hinkley 1997, 4.2). Beyond they hold next to nothing (five values have 3,125 resamples, and some of those no spread): there
    /// the tail is Student's, stretched where the resamples' own quantile lies further out than Student's. Never below least_p.
    /// Not for a point: throws std::logic_error.
    double p_within(double margin) const;
    static constexpr double least_p = 1e-12;             ///< what is rarer would be said of tails that nobody has measured

private:
    mean_estimate() = default;
    double beyond(double distance, double quantile) const;

    double estimate_ = 0, error_ = 0, freedom_ = 0;
    double t_low_ = 0, t_high_ = 0;                      ///< the quantiles that make the interval
    interval ci95_;
    std::vector<double> t_;
};

/// The arithmetic mean; throws std::logic_error for none.
double mean(std::span<const double> values);

/// What mean_interval and difference_interval are of, and empty where those are.
std::optional<mean_estimate> estimate_mean(std::span<const double> values, const bootstrap_settings& how = {});
std::optional<mean_estimate> estimate_difference(std::span<const double> base, std::span<const double> other,
                                                 const bootstrap_settings& how = {});

/// 95 % interval of the mean. A point where two or more values are all equal (counts, bytes, a simulated time). Empty below
/// four values that differ, where resamples without spread leave no quantile.
std::optional<interval> mean_interval(std::span<const double> values, const bootstrap_settings& how = {});

/// 95 % interval of mean(other) - mean(base) where nothing pairs their values: processes of two runs. The variances may
/// differ. A point where neither varies and each has two values or more. Empty where there are too few values.
std::optional<interval> difference_interval(std::span<const double> base, std::span<const double> other,
                                            const bootstrap_settings& how = {});

/// other - base of each round; both hold one value a round, in the same order. Its mean_interval is the paired comparison.
/// Throws std::logic_error where the sizes differ.
std::vector<double> paired_differences(std::span<const double> base, std::span<const double> other);

/// other / base of each round. Empty where a base or other is not above 0: such a ratio says nothing.
std::vector<double> paired_ratios(std::span<const double> base, std::span<const double> other);

}  // namespace vrambench
