#pragma once
// A device with one defect that a driver was reported to have, or could have: what the probe of a driver must be able to show.
// It stands around any other device; contents are followed as far as the defect needs it, and a kernel that verifies memory
// which has lost its contents is reported by observer(), as a card's kernels report it.

#include "device/forwarding_device.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench::test {

enum class defect : std::uint8_t {
    none,
    first_pool_call_hangs,       ///< on some consumer parts
    first_pool_call_crashes,
    pools_refuse,                ///< every pool request is out of memory (rocm-systems#6178)
    threshold_ignored,           ///< a synchronisation empties every pool (rocm-systems#11690)
    never_releases,              ///< no synchronisation gives anything back (ROCm 5.7, 6.0)
    trim_ignored,
    trim_takes_pending,          ///< a trim gives back what kernels still use
    growth_waits,                ///< a pool that grows waits for every stream (to ROCm 7.10)
    free_async_waits,
    narrow_window,               ///< a cached block is reused only when at most 12.5 % larger than the request
    reuse_without_order,         ///< by any stream
    reuse_by_allocating_stream,  ///< freed on another stream, which the first knows nothing of
    reuse_after_earlier_event,   ///< a free after the event that was waited for counts as ordered
    pool_memory_zeroed,          ///< with two streams or more at threshold 0 (rocm-systems#10943)
    copies_lost,                 ///< what the driver copies does not arrive
    fresh_memory_zeroed,         ///< raw memory, by a clearing that comes late (rocm-systems#11693)
    pool_destroy_keeps,          ///< memory of a destroyed pool stays away
    free_keeps,                  ///< memory stays away after free
    failed_request_keeps,        ///< a failed pool request loses what it had obtained (rocm-systems#11642)
    error_sticks,                ///< after a failed malloc nothing works
    granularity_lies,            ///< 4 KiB stated, 2 MiB usable (rocm-systems#9360)
    tail_access_refused,         ///< where several reservations grow in turn (rocm-systems#6977)
    tail_access_missing,         ///< access set on the tail has no effect: a kernel that touches it faults
    reservations_clash,          ///< two reservations share addresses
    handles_refused,             ///< out of memory with memory to spare, from the 12th handle on (rocm-systems#10604)
    unmap_breaks_neighbours,     ///< under kernels that still run
    kept_handle_is_stale,        ///< mapped again, it does not have its contents
    unmap_keeps,                 ///< memory of an unmapped, released handle stays away
    step_attribute_wrong,        ///< the pool's reserved attribute leaves out half
    count,
};

const char* to_string(defect d);
/// All but none, in the order of the list.
std::vector<defect> all_defects();
/// Throws input_error.
defect defect_named(std::string_view name);

/// `inner` with the defect; with defect::none every call goes through as it is.
std::unique_ptr<device> with_defect(std::unique_ptr<device> inner, defect d);

}  // namespace vrambench::test
