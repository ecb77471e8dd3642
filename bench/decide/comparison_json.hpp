#pragma once
// A comparison for programs (docs/comparing.md).

#include "bench/decide/comparison.hpp"

#include <string>

namespace vrambench {

inline constexpr const char* comparison_schema = "vrambench.comparison/1";

/// One strict JSON document, ending in a newline.
std::string comparison_json(const comparison& c);

}  // namespace vrambench
