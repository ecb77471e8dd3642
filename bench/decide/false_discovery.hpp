#pragma once
// Many differences judged at once: some lie beyond their margin by chance. With each at 95 %, a hundred comparisons of what did not
// change would give several false regressions, and CI would cry wolf.

#include <span>
#include <vector>

namespace vrambench {

/// The share of false ones that may be expected among the differences that one comparison finds; where nothing differs this is
/// the chance to find anything at all.
inline constexpr double false_discovery_rate = 0.05;

/// Benjamini and Hochberg (1995): the smallest rate at which each would be found, in the order of `p`. At least p, at most 1. Holds
/// for independent and for positively dependent tests (Benjamini and Yekutieli 2001), as phases and passes of one process are.
std::vector<double> adjusted_for_all(std::span<const double> p);

/// The p-value that one of `tests` has to reach where `found` are found, itself among them.
double level_among(std::size_t found, std::size_t tests);

}  // namespace vrambench
