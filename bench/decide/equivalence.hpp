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

/// What is known of a difference beside its interval.
struct spread {
    double error = 0;                        ///< standard error
    double freedom = 0;                      ///< degrees of it
};

/// The smallest difference that would be told from the margin with values that spread like these, in the metric's unit, if its
/// p-value had to be `level` (0.05: the interval alone decides; lower where it is one of many).
double resolution(const interval& difference, double margin, const spread& s, double level);

/// About how many processes an arm would settle an undecided comparison at `level` if the difference and the spread stayed as they
/// are: errors shrink with the root of the number, and Student's t with its degrees of freedom. `used` are the processes
/// that gave `s`; never fewer than one more. Empty where no number would: the difference is the margin, but for a rounding.
std::optional<double> processes_to_settle(std::size_t used, double difference, double margin, const spread& s, double level);

}  // namespace vrambench
