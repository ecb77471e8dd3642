#pragma once
// What the allocators' calls took, by the path that served them: the second table of `vrambench show`.

#include "bench/run_document.hpp"

#include <string>

namespace vrambench {

/// One line a cell, pass, call and path, plain text. Long calls have their drain and idle parts: nanoseconds a pass, and
/// the longest idle part.
std::string call_table(const run_document& run);

}  // namespace vrambench
