#pragma once
// A traffic mix: how much each situation counts.

#include "bench/decide/evidence.hpp"

#include <string>
#include <vector>

namespace vrambench::decide {

/// Each text is PATTERN=NUMBER: situations whose name the pattern (as of --benchmark_filter) finds weigh that much; the
/// last that matches counts, what none matches weighs 1. Throws input_error that names --weights for what is no positive
/// number, and for a pattern that matches nothing on any platform.
void weigh(std::vector<platform>& platforms, const std::vector<std::string>& weights);

/// Drops situations whose name the pattern does not match. Throws input_error where none is left.
void keep_only(std::vector<platform>& platforms, const std::string& pattern);

}  // namespace vrambench::decide
