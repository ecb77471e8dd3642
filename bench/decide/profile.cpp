#include "bench/decide/profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace vrambench::decide {

std::vector<std::vector<double>> performance_ratios(const std::vector<solver_times>& times)
{
    constexpr double never = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> ratios = times;
    const std::size_t problems = times.empty() ? 0 : times.front().size();
    for (std::size_t p = 0; p < problems; ++p) {
        double best = never;
        for (const solver_times& t : times) best = std::min(best, t[p]);
        for (auto& r : ratios) r[p] = std::isfinite(r[p]) ? r[p] / best : never;
    }
    return ratios;
}

double profile_at(const std::vector<double>& ratios, const std::vector<double>& weights, double tau)
{
    double within = 0, all = 0;
    for (std::size_t p = 0; p < ratios.size(); ++p) {
        all += weights[p];
        if (ratios[p] <= tau) within += weights[p];
    }
    return all > 0 ? within / all : 0;
}

std::vector<std::vector<double>> pairwise_profile(const std::vector<solver_times>& times,
                                                  const std::vector<double>& weights, double tau)
{
    std::vector<std::vector<double>> shares(times.size(), std::vector<double>(times.size(), 0));
    for (std::size_t a = 0; a < times.size(); ++a)
        for (std::size_t b = 0; b < times.size(); ++b)
            shares[a][b] = profile_at(performance_ratios({times[a], times[b]})[0], weights, tau);
    return shares;
}

}  // namespace vrambench::decide
