#pragma once
// Pressure against time: one row an allocator, one column a limit, of a run whose cells differ in their limits.

#include "bench/run_document.hpp"
#include "bench/table.hpp"

#include <string>

namespace vrambench {

/// A group for cells that differ in allocator and limit only. A value is the cold pass's added time; where not every
/// repetition completed it is the word for the worst, with the completed of those attempted where there are several. Ends
/// in a newline.
std::string frontier_table(const run_document& run, const table_style& style);

}  // namespace vrambench
