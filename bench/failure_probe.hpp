#pragma once
// What is asked of an allocator and its driver after a pass that ran out of memory: outside all that is timed, with the
// device idle and every block that was alive still in place.

#include "allocators/allocator.hpp"
#include "bench/measurement.hpp"

namespace vrambench {

/// Fills in the largest blocks that could still have been had, then asks for half of what was wanted, a quarter and so on
/// until one is served: the allocator must go on working. Last, a cause that was judged by bytes (bench/failure_cause.hpp) is
/// put to the test. `failed` is the event that failed; faults on purpose are suspended.
void probe_after_failure(device& dev, allocator& alloc, const event& failed, outcome& o);

/// The largest raw allocation that the driver grants, in whole physical blocks; bytes. `at_most`: where to begin.
std::uint64_t largest_raw_block(device& dev, std::uint64_t at_most);

}  // namespace vrambench
