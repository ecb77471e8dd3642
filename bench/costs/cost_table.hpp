#pragma once
// Measured driver costs, for people.

#include "bench/costs/cost_summary.hpp"

#include <string>

namespace vrambench::costs {

/// Per call and size: medians over processes with their 10th and 90th percentile. Ends in a newline.
std::string cost_table(const cost_summary& summary);

}  // namespace vrambench::costs
