#pragma once
// Medians over repetitions with the interval that order statistics give for them: no distribution is assumed, no value
// is invented.

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

namespace vrambench {

/// A count or size that is exact, or a measured value.
using number = std::variant<std::uint64_t, double>;
double as_double(const number& n);

struct estimate {
    number median;
    std::optional<std::pair<number, number>> ci95;   ///< of the median; none below six samples, where none exists
    std::uint64_t samples = 0;
};

/// Of integers the median stays an integer; only the middle two of an even number that differ by an odd amount give a
/// double ending in .5.
number median(std::vector<std::uint64_t> values);
double median(std::vector<double> values);

/// Empty where there are no values.
std::optional<estimate> estimate_of(std::vector<std::uint64_t> values);
std::optional<estimate> estimate_of(std::vector<double> values);

/// The k (1-based) for which [k-th smallest, k-th largest] of n values covers the median with at least 95 %, as narrow
/// as possible; 0 where even the whole range does not (n < 6).
std::uint64_t median_interval_rank(std::uint64_t n);

}  // namespace vrambench
