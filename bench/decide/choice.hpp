#pragma once
// From times and bytes to a choice: scores of each candidate over a mix of situations, and the rule that picks among
// them.

#include "bench/decide/evidence.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vrambench::decide {

/// Differences that do not decide. docs/deciding.md gives the reasons.
struct margins {
    double time = 0.01;                          ///< of the reference's time, as a share
    double bloat = 0.05;                         ///< relative
    double idle = 0.10;                          ///< relative,
    double idle_ns = 100'000;                    ///< and at least this
};

/// Which candidates are compared over which situations.
struct contest {
    const platform* where = nullptr;
    std::vector<std::size_t> candidates;         ///< indices of allocators
    /// Indices of situations, with kernels of one length, in which all candidates were measured.
    std::vector<std::size_t> situations;
};

/// Median slowdowns: [place in contest.situations][phase][place in contest.candidates]; infinite where the candidate did
/// not finish, NaN where it has no time.
using slowdowns = std::vector<std::vector<std::vector<double>>>;

/// How often each round of a situation counts, by its number; an empty list: each once.
using round_counts = std::vector<unsigned>;

slowdowns slowdowns_of(const contest& c, const std::vector<round_counts>& rounds = {});

struct scores {
    double unfinished = 0;                       ///< share of the mix's weight that it did not finish
    double added = 0;                            ///< mean of (slowdown - 1), weighted
    double mean_regret = 0, max_regret = 0;      ///< time over the best candidate's of the same phase, minus 1
    std::size_t worst_situation = 0, worst_phase = 0;    ///< of max_regret; places in the contest
    double bloat = 0;                            ///< weighted mean of device_bloat
    double idle_ns = 0;                          ///< worst idle part of a recovery
    bool timed = false;                          ///< added and regret are known
};

/// `weights` of contest.situations. Regret is over what each candidate finished and where every one that finished has a
/// time. Where no real card answered nothing that is a time is known: regrets are NaN and idle is 0.
std::vector<scores> score(const contest& c, const slowdowns& times, const std::vector<double>& weights);

/// Weights as they were given, of contest.situations.
std::vector<double> weights_of(const contest& c);

/// Places in contest.candidates that the rule leaves: one, or several that are equal within the margins. The rule, in
/// order: least unfinished; then mean regret, bloat and idle, each keeping what is within its margin of the least.
/// `beside` is left out.
std::vector<std::size_t> choose(const std::vector<scores>& s, const margins& m,
                                const std::vector<std::size_t>& beside = {});

}  // namespace vrambench::decide
