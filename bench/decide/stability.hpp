#pragma once
// How sure a choice is: the same rule over workloads and processes drawn again.

#include "bench/decide/choice.hpp"

#include <cstdint>
#include <vector>

namespace vrambench::decide {

struct stability {
    std::size_t resamples = 0;
    std::vector<double> alone;                   ///< share in which the candidate is the choice, by place in the contest
    std::vector<double> among;                   ///< share in which it is the choice or one of those equal to it
    std::vector<std::pair<double, double>> regret95;    ///< middle 95 % of its mean regret; NaN where it has none
};

/// Draws situations with replacement (each keeps its weight), and in each drawn one the rounds with replacement, the same
/// for all candidates, so that what ran side by side stays together. Deterministic for a seed.
stability resample(const contest& c, const margins& m, std::size_t resamples, std::uint64_t seed);

/// The fewest timed processes that a candidate has where it completed a situation of the contest; 0 where one has none.
std::size_t fewest_processes(const contest& c);

}  // namespace vrambench::decide
