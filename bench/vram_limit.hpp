#pragma once
// What a user's --vram-limit means for one trace. A limit is the memory that is free when the trace begins.

#include "workloads/trace.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace vrambench {

/// Bytes that `typed` means for a trace with this summary:
///   512MiB   just that
///   1.25x    1.25 times max_live_bytes, beside the most that the trace's own external allocations hold at once: 1x is the
///            least that any allocator could do with
///   80%      the limit of which max_live_bytes are 80 per cent (its pressure), external allocations beside it as above
///   none     no limit
/// Shares are rounded up to the byte. Throws input_error that names --vram-limit.
std::optional<std::uint64_t> vram_limit(const std::string& typed, const trace_summary& summary);

/// Refuses "1,25x", which would be read as one byte and 25x: a comma separates limits. Throws input_error.
void refuse_decimal_comma(const std::string& typed);

/// Whether `typed` is a multiple or a share, which differs from trace to trace.
bool is_relative_limit(const std::string& typed);

}  // namespace vrambench
