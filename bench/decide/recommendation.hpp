#pragma once
// A recommendation for one platform: filters, Pareto front, performance profiles, regret, choice, how sure it is, what
// would overturn it. docs/deciding.md is the method in words.

#include "bench/decide/break_even.hpp"
#include "bench/decide/evidence.hpp"
#include "bench/decide/filters.hpp"
#include "bench/decide/stability.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vrambench::decide {

struct question {
    requirements require;
    margins equal;
    std::size_t resamples = 1000;
    std::uint64_t seed = 1;
    double sure = 0.95;                          ///< share of resamples that a winner needs
    std::size_t fewest_processes = 3;            ///< of a cell, for a winner by time
    std::optional<driver_costs> costs;           ///< of the card in question, for break-evens
};

enum class verdict : std::uint8_t { winner, no_clear_winner, without_times };
const char* to_string(verdict v);

/// A situation whose own choice is another.
struct disagreement {
    std::size_t situation = 0;
    std::vector<std::size_t> chosen;             ///< places in the contest
    double regret = not_known;                   ///< mean, of the recommended one there; NaN where it did not finish
};

/// The choice with kernels of another length.
struct kernel_check {
    std::string kernels;                         ///< as situation::kernels
    std::vector<std::size_t> chosen;             ///< places in the contest
    std::size_t situations = 0;
    /// Share of resamples in which that is the choice; NaN where it is no single one.
    double stays = not_known;
};

struct recommendation {
    contest over;
    std::vector<rejected> out;
    std::vector<std::size_t> left_out;           ///< situations in which not every candidate was measured
    std::string kernels;                         ///< of the situations compared, as situation::kernels
    std::vector<scores> s;                       ///< by place in the contest, as all below
    std::vector<std::optional<std::size_t>> dominated_by;
    std::vector<double> profile_taus;
    std::vector<std::vector<double>> profile;    ///< [candidate][tau]
    std::vector<std::vector<double>> pairwise;   ///< [a][b], at 1 + the time margin
    std::vector<std::size_t> chosen;             ///< one, or those equal within the margins; none: nobody is left
    std::optional<std::size_t> runner_up;
    std::vector<std::string> to_win;             ///< what it would take for the runner-up, in sentences
    stability sure;
    std::size_t processes = 0;                   ///< fewest of a cell
    verdict is = verdict::no_clear_winner;
    std::string why;                             ///< one sentence
    std::vector<disagreement> disagree;
    std::vector<kernel_check> other_kernels;
    std::vector<std::string> rules;
    std::vector<break_even> break_evens;
};

/// What a situation of the platform is to its recommendation.
enum class part : std::uint8_t {
    compared,
    left_out,   ///< not every candidate was measured in it
    check,      ///< kernels of another length
};
part part_of(const recommendation& r, std::size_t situation_index);
const char* to_string(part p);

recommendation recommend(const platform& p, const question& q);

}  // namespace vrambench::decide
