#pragma once
// How large a difference is beside the spread of its values, for metrics that are described and not judged.

#include <span>

namespace vrambench {

/// Cliff's delta (Cliff 1993): the share of pairs in which `other` is above `base` less the share in which it is below; -1 to
/// 1, 0 where neither leads. It asks for no distribution, and one outlier cannot make it. Throws std::logic_error for no
/// values.
double cliffs_delta(std::span<const double> base, std::span<const double> other);

/// "negligible" (below 0.147), "small" (below 0.33), "medium" (below 0.474) or "large": the bounds of Romano and others (2006).
const char* effect_words(double cliffs_delta);

}  // namespace vrambench
