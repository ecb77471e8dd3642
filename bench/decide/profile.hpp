#pragma once
// Performance profiles (Dolan and More, Mathematical Programming 91, 2002): for each solver the share of problems that
// it solves within a factor of the best solver there.

#include <cstddef>
#include <vector>

namespace vrambench::decide {

/// What one solver needs for each problem; infinity where it fails.
using solver_times = std::vector<double>;

/// times[solver][problem] over the least of the problem: 1 for the best, infinity where the solver fails. A problem that
/// nobody solves is infinite for all. Times are positive.
std::vector<std::vector<double>> performance_ratios(const std::vector<solver_times>& times);

/// Share of the problems' weight with a ratio of at most `tau`. Weights are positive.
double profile_at(const std::vector<double>& ratios, const std::vector<double>& weights, double tau);

/// shares[a][b]: of the problems, the weight that `a` solves within `tau` of the better of `a` and `b`. With more than
/// two solvers the order below the first place of a profile can differ from this one (Gould and Scott, ACM TOMS 43,
/// 2016).
std::vector<std::vector<double>> pairwise_profile(const std::vector<solver_times>& times,
                                                  const std::vector<double>& weights, double tau);

}  // namespace vrambench::decide
