#pragma once
// Student's t distribution, for what resampling cannot show: how rare a difference is that no resample reaches. Last digits hang on the
// C library's logarithm; a verdict only where an adjusted p-value is 0.05 in all digits but those.

namespace vrambench {

/// P(|T| >= t) of Student's t. `freedom` is above 0 and need not be whole (Welch's is not); t is not negative.
double student_two_sided(double t, double freedom);

/// The t with student_two_sided(t, freedom) = p: 2.776 of p 0.05 and 4. p is above 0 and below 1. Steps of bisection, so that
/// it costs about fifty of the above.
double student_reach(double p, double freedom);

}  // namespace vrambench
