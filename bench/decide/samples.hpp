#pragma once
// A cell's values, one a process, in the form that comparisons need: each is what derive() makes of that repetition alone.

#include "bench/plan.hpp"
#include "bench/derive.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vrambench {

struct sample {
    std::uint64_t round = 0;                 ///< the repetition's index: rounds are interleaved over the cells of a run
    double value = 0;
};

/// One metric of one pass, over the repetitions that measured it.
struct series {
    std::string metric;                      ///< as in bench/metrics.hpp
    std::string phase;                       ///< kind of phase ("prefill"), "step" where a trace has no tokens; empty: the whole pass
    std::vector<sample> samples;
    /// Nanoseconds a token (a step) takes in the first of them: what an added time is small or large beside. 0: another metric.
    double scale = 0;
};

struct pass_samples {
    std::uint64_t attempted = 0, completed = 0;
    std::optional<outcome> result;           ///< as of pass_metrics
    /// Empty unless completed. Only what is known without histograms, so that a file may be read without them.
    std::vector<series> all;
    const series* find(const std::string& metric, const std::string& phase) const;
};

struct cell_samples {
    pass_samples cold;
    std::optional<pass_samples> steady;
};

/// `reference` as for derive().
cell_samples samples_of(const cell& c, const cell* reference);


}  // namespace vrambench
