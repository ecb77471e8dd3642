#pragma once
// Why a request for memory failed, judged from bytes.

#include "allocators/allocator.hpp"
#include "bench/measurement.hpp"

#include <cstdint>
#include <string>

namespace vrambench {

/// The state of memory at a failed request. Bytes.
struct failure_scene {
    std::uint64_t wanted = 0;             ///< requested by the trace
    std::uint64_t asked = 0;              ///< allocation::asked_bytes; 0 where the allocator did not get that far
    std::uint64_t beside = 0;             ///< allocation::beside_bytes
    std::uint64_t live = 0;               ///< requested bytes alive, external ones included
    std::uint64_t limit = 0;              ///< free before the allocator was made
    std::uint64_t driver_free = 0;        ///< now
    std::uint64_t physical_block = 1;     ///< raw allocations occupy multiples of this
    std::uint64_t shared_up_to = 0;       ///< raw requests up to this share blocks
    failure why = failure::memory;
};

/// The word for `outcome.cause`, in this order: `injected`; `address-space`; `live` (live + wanted exceeds the limit:
/// nobody could have served it); `pending` (enough bytes, but some of them still wait on a stream); `retained` (it would
/// succeed if all of the allocator's unused memory went back to the driver); `fragmented` (enough bytes, but not where or
/// in the size that the allocator needs them, its own rounding and what the driver keeps free beside it included).
const char* judge_failure(const failure_scene& scene, const allocator& alloc);

/// Bytes that the driver would have free if the allocator gave back everything unused: whole physical blocks of it.
std::uint64_t free_if_given_back(const failure_scene& scene, const allocator& alloc);

/// Bytes that must be free for the request to be served: in physical blocks, and what stays free beside them.
std::uint64_t free_needed(const failure_scene& scene);

/// The line of `outcome.message`, from the outcome's figures: of a request to the allocator, and of one beside it.
std::string failure_in_words(const outcome& o);
std::string external_failure_in_words(const outcome& o);

}  // namespace vrambench
