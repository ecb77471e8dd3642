#include "bench/statistics.hpp"

#include <algorithm>
#include <stdexcept>

namespace vrambench {

namespace {

number middle_of(std::uint64_t low, std::uint64_t high)
{
    const std::uint64_t gap = high - low;
    if (gap % 2 == 0) return low + gap / 2;
    return static_cast<double>(low) + static_cast<double>(gap) / 2;
}

double middle_of(double low, double high) { return low + (high - low) / 2; }

template <typename T>
auto median_of_sorted(const std::vector<T>& sorted)
{
    if (sorted.empty()) throw std::logic_error("the median of nothing was asked for");
    const std::size_t n = sorted.size();
    return middle_of(sorted[(n - 1) / 2], sorted[n / 2]);
}

template <typename T>
std::optional<estimate> estimate_values(std::vector<T> values)
{
    if (values.empty()) return std::nullopt;
    std::sort(values.begin(), values.end());
    estimate e;
    e.median = median_of_sorted(values);
    e.samples = values.size();
    if (const std::uint64_t k = median_interval_rank(values.size()); k != 0)
        e.ci95 = std::pair<number, number>{values[k - 1], values[values.size() - k]};
    return e;
}

}  // namespace

double as_double(const number& n)
{
    return std::visit([](auto v) { return static_cast<double>(v); }, n);
}

number median(std::vector<std::uint64_t> values)
{
    std::sort(values.begin(), values.end());
    return median_of_sorted(values);
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return median_of_sorted(values);
}

std::optional<estimate> estimate_of(std::vector<std::uint64_t> values) { return estimate_values(std::move(values)); }
std::optional<estimate> estimate_of(std::vector<double> values) { return estimate_values(std::move(values)); }

std::uint64_t median_interval_rank(std::uint64_t n)
{
    if (n < 6) return 0;
    // The number of values below the median is binomial with 1/2. Weights relative to the central one cannot overflow;
    // those that underflow do not matter.
    std::vector<double> weight(n / 2 + 1);
    weight[n / 2] = 1;
    for (std::uint64_t i = n / 2; i > 0; --i) weight[i - 1] = weight[i] * static_cast<double>(i) / static_cast<double>(n - i + 1);
    double total = 0;
    for (const double w : weight) total += 2 * w;
    if (n % 2 == 0) total -= weight[n / 2];

    std::uint64_t k = 0;
    double tail = 0;
    while (k < weight.size() && (tail += weight[k]) <= 0.025 * total) ++k;
    return k;
}

}  // namespace vrambench
