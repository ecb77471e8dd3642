#pragma once
// What one metric of two arms amounts to.

#include "bench/decide/bootstrap.hpp"
#include "bench/decide/equivalence.hpp"
#include "bench/decide/margins.hpp"
#include "bench/decide/samples.hpp"
#include "bench/metrics.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace vrambench {

enum class verdict : std::uint8_t { same, better, worse, not_enough_evidence, outcome_change };
/// "same", "better", "worse", "not enough evidence", "outcome change".
const char* to_string(verdict v);

/// How many of each, of the metrics and outcomes that decide.
struct verdict_counts {
    std::size_t same = 0, better = 0, worse = 0, not_enough_evidence = 0, outcome_changes = 0;
    void add(verdict v);
};

/// Means over the processes that were compared.
struct arm_value {
    std::size_t processes = 0;
    double mean = 0;                         ///< 0 of none
};

/// The test of "the true difference lies within the margin".
struct difference_test {
    double p = 1;                            ///< two-sided; at most 0.05 exactly where the interval lies beyond the margin
    double p_adjusted = 1;                   ///< among all that are judged together (bench/decide/false_discovery.hpp)
    spread of;
};

struct metric_verdict {
    std::string metric, phase;               ///< as of series
    bool steady = false;
    bool decides = false;                    ///< it has a margin; the others are described
    arm_value base, other;
    bool paired = false;                     ///< by round; else two independent sets of processes
    bool exact = false;                      ///< simulated, or a count that did not vary: no interval is needed
    std::optional<double> difference;        ///< other - base, in the metric's unit
    std::optional<interval> ci95;            ///< of the difference
    std::optional<double> ratio;             ///< other / base: the mean over rounds where they are paired, else of the means
    std::optional<interval> ratio_ci95;      ///< paired only
    double margin = 0;                       ///< in the metric's unit
    std::optional<difference_test> test;     ///< none where exact, without an interval, without any spread, or only described
    std::optional<double> resolution;        ///< smallest difference that these processes, among all tests, would tell from the margin
    std::optional<double> processes_wanted;  ///< an arm, to settle what is undecided
    std::optional<double> effect;            ///< Cliff's delta; none below four processes an arm and where exact
    verdict what = verdict::not_enough_evidence;
    std::string note;                        ///< why there is not enough evidence; one line
};

struct verdict_settings {
    bool rounds_are_shared = false;          ///< the arms are of one run: their rounds are pairs
    bool same_measurements = false;          ///< the arms are the same repetitions
    bool simulated = false;
    /// Bytes that one memory repetition saw count as exact where the timed ones reserved the same in every process.
    bool steady_bytes = false;
    std::uint64_t seed = 1;
};

/// Either series may be null: not measured. `m` empty: the metric is described. As if it were the only one that is judged.
metric_verdict judge_metric(const series* base, const series* other, const std::optional<margin>& m, const verdict_settings& how);

/// Judges those that have a test anew, as one family: better and worse only where p_adjusted is at most false_discovery_rate. Returns
/// how many have one.
std::size_t judge_together(std::span<metric_verdict* const> all);

}  // namespace vrambench
