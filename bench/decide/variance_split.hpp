#pragma once
// How much of a spread lies between processes and how much within them: it says whether more processes or longer ones help.

#include <optional>
#include <vector>

namespace vrambench {

struct variance_split {
    double between = 0;                      ///< variance of the processes' own means; 0 where the within part explains all
    double within = 0;                       ///< variance of a value inside its process
    /// Of the whole; 0 where nothing varies.
    double between_share() const { return between + within > 0 ? between / (between + within) : 0; }
};

/// One-way random effects by the analysis of variance: between = (MS between - MS within) / n0, n0 the usual weighted size
/// where processes have different numbers of values. Empty below two processes, and where no process has two values.
std::optional<variance_split> split_variance(const std::vector<std::vector<double>>& processes);

}  // namespace vrambench
