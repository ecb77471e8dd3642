#include "bench/decide/bootstrap.hpp"

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
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double v = value(i);
        sum += v;
        squares += v * v;
    }
    const double count = static_cast<double>(n), m = sum / count;
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

/// Infinite where the resample has no spread but another mean.
double studentised(double difference, double variance)
{
    if (variance > 0) return difference / std::sqrt(variance);
    return difference == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), difference);
}

/// [estimate - t(97.5 %) * error, estimate - t(2.5 %) * error].
std::optional<interval> from_quantiles(std::vector<double>& t, double estimate, double error)
{
    const std::size_t rank = (t.size() + 1) / 40;
    if (rank == 0) throw std::logic_error("too few resamples for an interval of 95 %");
    const auto low = t.begin() + static_cast<std::ptrdiff_t>(rank - 1);
    const auto high = t.end() - static_cast<std::ptrdiff_t>(rank);
    std::nth_element(t.begin(), low, t.end());
    std::nth_element(low + 1, high, t.end());
    if (!std::isfinite(*low) || !std::isfinite(*high)) return std::nullopt;
    return interval{estimate - *high * error, estimate - *low * error};
}

}  // namespace

double mean(std::span<const double> values)
{
    if (values.empty()) throw std::logic_error("the mean of nothing was asked for");
    double sum = 0;
    for (const double v : values) sum += v - values.front();
    return values.front() + sum / static_cast<double>(values.size());
}

std::optional<interval> mean_interval(std::span<const double> values, const bootstrap_settings& how)
{
    if (values.size() < 2) return std::nullopt;
    if (all_equal(values)) return interval{values.front(), values.front()};
    if (values.size() < 4) return std::nullopt;
    const centred of(values);
    random_numbers random(how.seed);
    std::vector<double> t(how.resamples);
    for (double& one : t) {
        const moments m = of.resample(random);
        one = studentised(m.mean, m.mean_variance);
    }
    return from_quantiles(t, of.mean(), std::sqrt(of.mean_variance()));
}

std::optional<interval> difference_interval(std::span<const double> base, std::span<const double> other,
                                            const bootstrap_settings& how)
{
    if (base.size() < 2 || other.size() < 2) return std::nullopt;
    if (all_equal(base) && all_equal(other)) return interval{other.front() - base.front(), other.front() - base.front()};
    if (std::min(base.size(), other.size()) < 3) return std::nullopt;
    const centred a(base), b(other);
    random_numbers random(how.seed);
    std::vector<double> t(how.resamples);
    for (double& one : t) {
        const moments x = a.resample(random), y = b.resample(random);
        one = studentised(y.mean - x.mean, x.mean_variance + y.mean_variance);
    }
    return from_quantiles(t, b.mean() - a.mean(), std::sqrt(a.mean_variance() + b.mean_variance()));
}

double mean_error(std::span<const double> values) { return std::sqrt(centred(values).mean_variance()); }

double difference_error(std::span<const double> base, std::span<const double> other)
{
    return std::sqrt(centred(base).mean_variance() + centred(other).mean_variance());
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
