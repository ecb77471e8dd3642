#pragma once
// Memory that an engine holds for as long as it runs (weights, KV cache), put in front of any workload.

#include "workloads/trace.hpp"

#include <cstdint>
#include <memory>

namespace vrambench {

/// `inner` with an external allocation of `bytes` (> 0, tag "resident") as its first event, which is never freed. The
/// header's name and spec stay `inner`'s. `external_ids` is that of inner's summary: the new block gets the next one.
std::shared_ptr<const trace> with_resident(std::shared_ptr<const trace> inner, std::uint32_t external_ids, std::uint64_t bytes);

/// The summary of that trace, from inner's.
trace_summary with_resident(trace_summary inner, std::uint64_t bytes);

}  // namespace vrambench
