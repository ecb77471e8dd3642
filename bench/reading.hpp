#pragma once
// Reads a trace once for its summary, and is heard of where that takes long.

#include "workloads/trace.hpp"

namespace vrambench {

/// Tells standard error after two seconds and then every ten how far it is. Throws run_interrupted when SIGINT was caught
/// (bench/interrupt.hpp).
trace_summary summarise_telling(const trace& t);

}  // namespace vrambench
