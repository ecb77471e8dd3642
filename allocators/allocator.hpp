#pragma once
// An allocator is a policy for temporary buffers, written once against the device interface, for all vendors.
//
// Threads: one host thread, unless traits().thread_safe. Errors: out of memory is a value (a null pointer, path::fail),
// after which the allocator keeps working; a driver error is thrown as device_error; a contract that the caller broke
// (frees that are not last-in-first-out where traits().needs_lifo) is thrown as policy_error, never aborted.

#include "device/device.hpp"
#include "workloads/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace vrambench {

/// The way a request was served. Latency is kept per path: a mean would hide that one flush costs ten thousand hits.
enum class path : std::uint8_t {
    hit,           ///< from what the allocator already had
    split,         ///< a part of a larger cached block
    grow,          ///< the allocator obtained more memory
    driver,        ///< a driver allocation for this request alone
    evict,         ///< after some cached blocks were given back
    flush_retry,   ///< after a failure: synchronise or flush, then again
    fail,          ///< out of memory
};
inline constexpr int path_kinds = 7;
const char* to_string(path how);

/// Why a request failed, as far as the allocator can tell; the runner judges the rest from bytes.
enum class failure : std::uint8_t { none, memory, address_space, injected };

struct allocation {
    device_ptr pointer = 0;            ///< 0: out of memory
    std::uint64_t granted_bytes = 0;   ///< to be passed back to deallocate
    path how = path::fail;
    failure why = failure::none;       ///< set when pointer is 0
    std::uint32_t work = 0;            ///< slots or nodes that the policy visited: priced by the simulator
    /// When pointer is 0: what the driver would have to give for this request if all that is unused went back to it first,
    /// and what it keeps free beside that.
    std::uint64_t asked_bytes = 0, beside_bytes = 0;
};

struct deallocation {
    path how = path::hit;              ///< hit: kept by the allocator; driver: given back to the driver
    std::uint32_t work = 0;
};

/// Bytes. `reserved` is what was asked of the driver and not given back, in the allocator's own units.
struct allocator_stats {
    std::uint64_t live = 0, peak_live = 0;           ///< granted and in the caller's hands
    std::uint64_t cached = 0, peak_cached = 0;       ///< reserved, not live
    std::uint64_t reserved = 0, peak_reserved = 0;
    std::uint64_t pending = 0;                       ///< of cached: freed, but not yet known to be complete
    std::uint64_t flushes = 0, flushed_bytes = 0;
    std::uint64_t evictions = 0, evicted_bytes = 0;
    std::uint64_t recoveries = 0;                    ///< requests served after a first failure
    std::uint64_t failures = 0;                      ///< requests that failed in the end

    allocator_stats& operator+=(const allocator_stats& other);   ///< sums; of peaks too, an upper bound over pools
};

struct allocator_traits {
    bool needs_lifo = false;           ///< each stream's blocks must be freed on it, last allocated first
    bool stream_ordered = true;        ///< a freed block may be handed out while kernels that use it are queued
    bool legal_in_capture = false;     ///< hits may happen inside stream capture
    bool keeps_freed = true;           ///< freed memory stays the allocator's, so that a replayed graph may go on using it
    bool can_trim = true;
    bool synchronises = false;         ///< ordinary calls wait for the device
    bool thread_safe = false;
    std::uint64_t max_alignment = 256; ///< bytes; a trace that asks for more is unsupported
};

/// Time of recoveries in picoseconds: {drain, idle} x {sync, free, allocate}. drain: the device was busy with work that
/// had to run anyway.
struct recovery_times {
    std::int64_t drain_sync = 0, idle_sync = 0;
    std::int64_t drain_free = 0, idle_free = 0;
    std::int64_t drain_allocate = 0, idle_allocate = 0;
    std::uint64_t bytes_given_back = 0;

    recovery_times& operator+=(const recovery_times& other);
};

enum class recovery_action : std::uint8_t { sync, trim, flush };
inline constexpr int recovery_actions = 3;
const char* to_string(recovery_action action);

/// One recovery: its parts as host times in picoseconds, and how long the device was busy in each; negative: to be asked of
/// the device once it is idle.
struct recovery_trace {
    struct stretch {
        std::int64_t begin = 0, end = 0, busy = 0;
    };
    stretch sync, free, allocate;
    std::uint64_t bytes_given_back = 0;
    recovery_action by = recovery_action::sync;
};

/// pass_begin: the trace starts from its first event, with nothing live. safe_point: the host has just synchronised.
enum class notification : std::uint8_t { pass_begin, step, safe_point, capture_begin, capture_end };

/// The caller broke the allocator's contract. The cell is `unsupported` if it can be seen before the start, else `crashed`.
class policy_error : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// Runs `f` in a destructor, which cannot report: a driver that refuses to take memory back has shown it in the run.
template <class F> void quietly(F f) noexcept
{
    try {
        f();
    } catch (const device_error&) {
    }
}

class allocator {
public:
    virtual ~allocator() = default;   ///< returns all memory to the driver; the caller has freed every block

    /// Hands out at least `bytes` (> 0) aligned to `alignment` (a power of two), ready for use on `stream`.
    virtual allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) = 0;
    /// Takes a block back, ordered on `stream`: kernels that use it may still be queued there.
    virtual deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) = 0;

    /// Gives unused memory back to the driver until at most `keep_bytes` stay reserved, if it can; returns bytes given
    /// back. The caller makes sure that the device is done with what was freed (synchronise first).
    virtual std::uint64_t trim(std::uint64_t keep_bytes) = 0;

    /// Before the clock starts: plans and reserves. `t` can be opened again and again.
    virtual void prepare(const trace& t, const trace_summary& summary);
    virtual void notify(notification what);
    /// Raised whenever addresses that were handed out before become invalid (a flush, a trim, an unmap).
    virtual std::uint64_t address_epoch() const { return 0; }

    /// For allocators that learn only by asking the driver whether a call grew its pool, which would cost time inside the
    /// timed call: corrects `how` and the reserved bytes after it. Called outside the timed interval, only when
    /// asks_after_calls() is true; also after deallocations and synchronisations, with null.
    virtual void after_call(allocation* a);
    bool asks_after_calls() const { return asks_after_calls_; }

    /// Bytes reserved now. A plain load: the runner integrates it over time.
    std::uint64_t reserved_bytes() const { return reserved_; }

    virtual allocator_stats stats() const = 0;
    /// Times of the recoveries since the last call, which forgets them. On a GPU: synchronise first, and before
    /// device::reset_activity().
    virtual recovery_times take_recovery() { return {}; }
    /// The last recovery of a request on `stream`, valid until the next call; null: there was none.
    virtual const recovery_trace* last_recovery(stream_id) const { return nullptr; }
    virtual allocator_traits traits() const = 0;
    /// Sizes of the blocks kept unused, bytes, in the allocator's own order.
    virtual std::vector<std::uint64_t> cached_blocks() const { return {}; }
    /// The largest request on `stream` that could be served without memory from the driver, bytes. Asked when the device is
    /// idle and nothing is timed: a pool may have to try.
    virtual std::uint64_t largest_unused_block(stream_id stream);

protected:
    std::uint64_t reserved_ = 0;
    bool asks_after_calls_ = false;
};

}  // namespace vrambench
