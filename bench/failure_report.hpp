#pragma once
// What is known of each failure of a run, for people: where it happened, the bytes of that moment, what the cause means.

#include "bench/run_document.hpp"

#include <string>

namespace vrambench {

/// One paragraph for each cell whose cold pass ran out of memory or was starved, as its `outcome` has it. Ends in a newline.
std::string failure_report(const run_document& run);

}  // namespace vrambench
