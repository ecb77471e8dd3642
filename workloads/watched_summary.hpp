#pragma once
// The summary of a trace that may take long to read.

#include "workloads/trace.hpp"

#include <cstdint>
#include <functional>

namespace vrambench {

/// As summarise(t); calls `read` with the number of events read so far after every batch. What it throws ends the reading.
trace_summary summarise(const trace& t, const std::function<void(std::uint64_t events)>& read);

}  // namespace vrambench
