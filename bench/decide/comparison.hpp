#pragma once
// Runs, or allocators of one run, held against each other: the data that tables, Markdown and JSON are views of.

#include "bench/decide/matching.hpp"
#include "bench/decide/thresholds.hpp"
#include "bench/decide/verdict.hpp"

#include <string>
#include <vector>

namespace vrambench {

/// A file and what it is called in tables.
struct named_run {
    std::string name;
    run_document run;
};

/// How one pass ended in both arms, in words; none where both completed.
struct outcome_verdict {
    bool steady = false;
    std::string base, other;
    verdict what = verdict::outcome_change;
};

struct pair_verdict {
    cell_pair cells;
    std::string base_name, other_name;       ///< of the arms: files, or allocators' titles
    std::vector<outcome_verdict> outcomes;
    std::vector<metric_verdict> metrics;     ///< deciding ones first, then what is described
    /// The worst of what decides: worse, else not enough evidence, outcome change, better, same.
    verdict overall() const;
};

struct comparison {
    bool of_allocators = false;              ///< within one run; else of files
    std::vector<std::string> warnings;
    std::vector<pair_verdict> pairs;         ///< in the order of the base's cells, then of the others
    /// Differences with a test, the family over which false ones are held to false_discovery_rate.
    std::size_t judged_together = 0;
    verdict_counts counts;
};

struct comparison_settings {
    std::vector<std::string> allocators;     ///< one file: base first; several: only these; none: all
    std::string filter;                      ///< as of --benchmark_filter; empty: everything
    thresholds limits;
    std::uint64_t seed = 1;
};

/// The first run is the base. With one run its allocators are compared. The runs must outlive the result. Throws input_error where
/// nothing is in common, or nothing matches the filter.
comparison compare(const std::vector<named_run>& runs, const comparison_settings& how);

/// The verdict of a base and another that ended as `base` and `other`; `same` where both completed. Did-not-finish is worse than
/// any number; between two that did not finish the more severe word (bench/derive.hpp) is worse, and the same word at another
/// place is an outcome change that no side wins.
verdict judge_outcomes(const outcome& base, const outcome& other);

}  // namespace vrambench
