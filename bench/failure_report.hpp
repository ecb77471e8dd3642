#pragma once
// What is known of each failure of a run, for people: where it happened, the bytes of that moment, what the cause means.

#include "bench/run_document.hpp"

#include <string>

namespace vrambench {

/// One paragraph for each cell whose cold pass ran out of memory or was starved, as its `outcome` has it, and for each that
/// recovered. Only of cells whose benchmark name `filter` matches (empty: all). Ends in a newline. Throws input_error for a
/// filter that is no regular expression.
std::string failure_report(const run_document& run, const std::string& filter = "");

}  // namespace vrambench
