#pragma once
// Where a trace stands before one of its events: what must have happened by then, whatever the allocator.

#include "workloads/trace.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace vrambench::checking {

struct trace_position {
    struct phase_count {
        std::uint64_t steps = 0, tokens = 0;
    };
    std::vector<phase_count> phases;         ///< as in trace_header::phases
    std::size_t phase = 0;                   ///< of the step that is under way, where there is one
    std::uint64_t steps = 0, allocs = 0, frees = 0;
    std::uint64_t launches = 0;              ///< as trace_summary counts them
    std::uint64_t touching_launches = 0;     ///< of these, those that name blocks
    std::uint64_t syncs = 0, records = 0, waits = 0;
    std::uint64_t live_bytes = 0, peak_live_bytes = 0, external_bytes = 0;
    bool at_end = true;
    event next;                              ///< where it is not at the end
};

/// The positions before the events of these indices; those past the end are at the end. Reads the trace once, as far as
/// that takes. The trace is one that summarise() accepts.
std::map<std::uint64_t, trace_position> positions_in(const trace& t, const trace_summary& summary, const std::set<std::uint64_t>& indices);

}  // namespace vrambench::checking
