#pragma once
// What an interval says against a margin. Equivalence is shown, never assumed: "no difference found" is not "same".

#include "bench/decide/bootstrap.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace vrambench {

enum class judgement : std::uint8_t {
    below,                                   ///< the whole interval lies below -margin
    above,                                   ///< the whole interval lies above +margin
    same,                                    ///< the whole interval lies within the margin: equivalence is shown
    undecided,                               ///< it reaches over a margin's edge: not enough evidence
};

/// The rule of two one-sided tests by interval inclusion (Schuirmann 1987): with intervals of 95 % each test is one of 2.5 %.
/// above and below are tests against the margin, not against zero, so that a difference too small to matter is none; where
/// arms are equal a false one needs an interval that misses zero by more than the margin.
/// `margin` is not negative; 0 asks whether there is any difference at all, and only [0, 0] is the same.
judgement judge(const interval& difference, double margin);

/// The smallest difference that would be told from the margin with an interval of this width, in the metric's unit.
double resolution(const interval& difference, double margin);

/// About how many processes an arm would settle an undecided comparison if the difference and the spread stayed as they are:
/// an interval of many processes is 1.96 standard errors to each side, and those shrink with the root of their number. `used` are
/// the processes that gave `error`; never fewer than one more. Empty where no number would: the difference is the margin.
std::optional<double> processes_to_settle(std::size_t used, double difference, double error, double margin);

}  // namespace vrambench
