#pragma once
// Reads a trace once for its summary, and is heard of where that takes long.

#include "workloads/trace.hpp"

#include <cstdint>
#include <limits>

namespace vrambench {

inline constexpr std::uint64_t any_number_of_events = std::numeric_limits<std::uint64_t>::max();

/// Tells standard error after two seconds and then every ten how far it is. Throws run_interrupted when SIGINT was caught
/// (bench/interrupt.hpp), and input_error as soon as more than `most` events came.
trace_summary summarise_telling(const trace& t, std::uint64_t most = any_number_of_events);

}  // namespace vrambench
