#pragma once
// What a trace is and what follows from it, for people.

#include "workloads/trace.hpp"

#include <string>

namespace vrambench {

/// Several lines, each ended, with units.
std::string describe(const trace_header& header, const trace_summary& summary);

}  // namespace vrambench
