#include "bench/decide/bootstrap.hpp"

#include "bench/decide/student.hpp"
#include "workloads/random_numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace vrambench {

namespace {

struct moments {
    double mean = 0;
    double mean_variance = 0;                ///< of the mean: the squared standard error
};

/// `value(i)` for i below n; n is 2 or more.
template <typename Value>
moments moments_of(std::size_t n, Value value)
{
    const double first = value(0);
    double sum = first, squares = first * first;
    bool varies = false;
    for (std::size_t i = 1; i < n; ++i) {
        const double v = value(i);
        varies = varies || v != first;
        sum += v;
        squares += v * v;
    }
    const double count = static_cast<double>(n), m = sum / count;
    if (!varies) return {first, 0};    // and not what rounding leaves
    return {m, std::max(0.0, squares - sum * m) / (count - 1) / count};
}

/// Values less their mean, so that sums of squares lose no digits: times differ in their last ones only.
class centred {
public:
    explicit centred(std::span<const double> values) : mean_(vrambench::mean(values)), values_(values.begin(), values.end())
    {
        for (double& v : values_) v -= mean_;
        of_ = moments_of(values_.size(), [&](std::size_t i) { return values_[i]; });
    }

    double mean() const { return mean_; }
    double mean_variance() const { return of_.mean_variance; }
    double freedom() const { return static_cast<double>(values_.size() - 1); }

    moments resample(random_numbers& random) const
    {
        return moments_of(values_.size(), [&](std::size_t) { return values_[random.below(values_.size())]; });
    }

private:
    double mean_;
    std::vector<double> values_;
    moments of_;
};

bool all_equal(std::span<const double> values)
{
    return std::all_of(values.begin(), values.end(), [&](double v) { return v == values.front(); });
}

/// Counts and bytes that are the same in nearly all processes: of so many resamples no spread is left that what they say of a
/// mean is their own grain. Three values that differ have a ninth of such; more ties than that are meant.
bool is_mostly_one_value(std::vector<double> values)
{
    constexpr double most_without_spread = 0.12;
    if (all_equal(values)) return false;    // an arm that does not vary adds nothing to either side
    std::sort(values.begin(), values.end());
    const double n = static_cast<double>(values.size());
    double without_spread = 0;
    for (auto from = values.begin(); from != values.end();) {
        const auto to = std::upper_bound(from, values.end(), *from);
        without_spread += std::pow(static_cast<double>(to - from) / n, n);
        from = to;
    }
    return without_spread > most_without_spread;
}

/// Infinite where the resample has no spread but another mean.
double studentised(double difference, double variance)
{
    if (variance > 0) return difference / std::sqrt(variance);
    return difference == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), difference);
}

/// Degrees of freedom of a difference (Welch 1947; Satterthwaite 1946).
double welch_freedom(const centred& a, const centred& b)
{
    const double x = a.mean_variance(), y = b.mean_variance();
    return (x + y) * (x + y) / (x * x / a.freedom() + y * y / b.freedom());
}

std::optional<interval> ci95_of(const std::optional<mean_estimate>& e)
{
    return e ? std::optional(e->ci95()) : std::nullopt;
}

}  // namespace

/// [estimate - t(97.5 %) * error, estimate - t(2.5 %) * error].
mean_estimate mean_estimate::from_resamples(double estimate, double error, double freedom, std::vector<double> t)
{
    const std::size_t rank = (t.size() + 1) / 40;
    if (rank == 0) throw std::logic_error("too few resamples for an interval of 95 %");
    const auto low = t.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    const auto high = t.end() - static_cast<std::ptrdiff_t>(rank);
    std::nth_element(t.begin(), low, t.end());
    std::nth_element(low + 1, high, t.end());
    if (!std::isfinite(*low) || !std::isfinite(*high)) return by_student(estimate, error, freedom);
    mean_estimate e;
    e.estimate_ = estimate;
    e.error_ = error;
    e.freedom_ = freedom;
    e.t_low_ = *low;
    e.t_high_ = *high;
    e.ci95_ = {estimate - *high * error, estimate - *low * error};
    e.t_ = std::move(t);
    return e;
}

mean_estimate mean_estimate::by_student(double estimate, double error, double freedom)
{
    mean_estimate e;
    e.estimate_ = estimate;
    e.error_ = error;
    e.freedom_ = freedom;
    e.t_high_ = student_reach(0.05, freedom);
    e.t_low_ = -e.t_high_;
    e.ci95_ = {estimate - e.t_high_ * error, estimate + e.t_high_ * error};
    return e;
}

double mean_estimate::p_within(double margin) const
{
    if (is_point()) throw std::logic_error("a p-value of what does not vary was asked for");
    if (ci95_.low > margin) return beyond(estimate_ - margin, t_high_);
    if (ci95_.high < -margin) return beyond(-margin - estimate_, -t_low_);
    if (t_.empty()) return std::clamp(student_two_sided(std::max(0.0, std::abs(estimate_) - margin) / error_, freedom_), 0.05, 1.0);
    // The ends of intervals as they are computed for ci95, so that the two never contradict each other by a rounding.
    const auto reach = [&](auto inside) {
        return 1 + std::count_if(t_.begin(), t_.end(), [&](double t) { return inside(estimate_ - t * error_); });
    };
    const auto fewest = std::min(reach([&](double end) { return end <= margin; }), reach([&](double end) { return end >= -margin; }));
    return std::min(1.0, 2 * static_cast<double>(fewest) / static_cast<double>(t_.size() + 1));
}

/// `distance` from the margin, where the interval ends `quantile` standard errors from the estimate.
double mean_estimate::beyond(double distance, double quantile) const
{
    const double scale = std::min(1.0, student_reach(0.05, freedom_) / quantile);
    return std::clamp(student_two_sided(distance / error_ * scale, freedom_), least_p, 0.05);
}

double mean(std::span<const double> values)
{
    if (values.empty()) throw std::logic_error("the mean of nothing was asked for");
    double sum = 0;
    for (const double v : values) sum += v - values.front();
    return values.front() + sum / static_cast<double>(values.size());
}

std::optional<mean_estimate> estimate_mean(std::span<const double> values, const bootstrap_settings& how)
{
    if (values.size() < 2) return std::nullopt;
    if (all_equal(values)) return mean_estimate(values.front());
    if (values.size() < 4) return std::nullopt;
    const centred of(values);
    if (is_mostly_one_value({values.begin(), values.end()}))
        return mean_estimate::by_student(of.mean(), std::sqrt(of.mean_variance()), of.freedom());
    random_numbers random(how.seed);
    std::vector<double> t(how.resamples);
    for (double& one : t) {
        const moments m = of.resample(random);
        one = studentised(m.mean, m.mean_variance);
    }
    return mean_estimate::from_resamples(of.mean(), std::sqrt(of.mean_variance()), of.freedom(), std::move(t));
}

std::optional<mean_estimate> estimate_difference(std::span<const double> base, std::span<const double> other,
                                                 const bootstrap_settings& how)
{
    if (base.size() < 2 || other.size() < 2) return std::nullopt;
    if (all_equal(base) && all_equal(other)) return mean_estimate(other.front() - base.front());
    if (std::min(base.size(), other.size()) < 3) return std::nullopt;
    const centred a(base), b(other);
    const double error = std::sqrt(a.mean_variance() + b.mean_variance());
    if (is_mostly_one_value({base.begin(), base.end()}) || is_mostly_one_value({other.begin(), other.end()}))
        return mean_estimate::by_student(b.mean() - a.mean(), error, welch_freedom(a, b));
    random_numbers random(how.seed);
    std::vector<double> t(how.resamples);
    for (double& one : t) {
        const moments x = a.resample(random), y = b.resample(random);
        one = studentised(y.mean - x.mean, x.mean_variance + y.mean_variance);
    }
    return mean_estimate::from_resamples(b.mean() - a.mean(), error, welch_freedom(a, b), std::move(t));
}

std::optional<interval> mean_interval(std::span<const double> values, const bootstrap_settings& how)
{
    return ci95_of(estimate_mean(values, how));
}

std::optional<interval> difference_interval(std::span<const double> base, std::span<const double> other,
                                            const bootstrap_settings& how)
{
    return ci95_of(estimate_difference(base, other, how));
}

std::vector<double> paired_differences(std::span<const double> base, std::span<const double> other)
{
    if (base.size() != other.size()) throw std::logic_error("rounds that are not paired were compared as pairs");
    std::vector<double> d(base.size());
    std::transform(other.begin(), other.end(), base.begin(), d.begin(), [](double b, double a) { return b - a; });
    return d;
}

std::vector<double> paired_ratios(std::span<const double> base, std::span<const double> other)
{
    if (base.size() != other.size()) throw std::logic_error("rounds that are not paired were compared as pairs");
    std::vector<double> r;
    for (std::size_t i = 0; i < base.size(); ++i) {
        if (!(base[i] > 0) || !(other[i] > 0)) return {};
        r.push_back(other[i] / base[i]);
    }
    return r;
}

}  // namespace vrambench
