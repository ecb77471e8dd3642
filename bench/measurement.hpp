#pragma once
// What one repetition measured: the raw truth from which every number of a cell is derived. Plain data, integers only
// (bytes, picoseconds, counts), so that it survives a file or a pipe unchanged.

#include "allocators/allocator.hpp"
#include "bench/histogram.hpp"
#include "device/device.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vrambench {

enum class status : std::uint8_t { completed, oom, starved, corrupted, unsupported, timeout, crashed };
const char* to_string(status s);
inline bool ran_out_of_memory(status s) { return s == status::oom || s == status::starved; }

/// How a pass ended. For everything but `completed` the fields say where and why; a did-not-finish is never a number.
struct outcome {
    status what = status::completed;
    std::string cause;                       ///< oom: live, retained, fragmented, pending, external, address-space, injected
    std::string message;                     ///< one line; empty when completed
    std::uint64_t event = 0;                 ///< index of the trace event
    std::uint64_t step = 0;                  ///< 1-based count of step events so far, 0 before the first
    std::string phase;
    std::string tag;
    std::uint64_t wanted_bytes = 0;
    std::uint64_t live_bytes = 0;            ///< requested bytes alive at that moment
    std::uint64_t cached_bytes = 0;          ///< the allocator's unused bytes
    std::uint64_t reserved_bytes = 0;
    std::uint64_t driver_free_bytes = 0;
    /// Asked after the pass, of one that ended in `oom` or `starved` (bench/failure_probe.hpp); none: not asked.
    std::optional<std::uint64_t> largest_cached_block_bytes;   ///< that the allocator could have given from what it held
    std::optional<std::uint64_t> largest_driver_block_bytes;   ///< that the driver would have given
    std::optional<std::uint64_t> next_served_bytes;            ///< the next smaller request that was served; 0: none was
    std::optional<std::uint64_t> kept_by_driver_bytes;         ///< that were free at the start and are not, with the allocator gone
};

/// One phase of one pass ("prefill", "decode"): the steps of that phase.
struct phase_measurement {
    std::string name;
    std::uint64_t steps = 0;
    std::uint64_t tokens = 0;
    std::int64_t time_ps = 0;                ///< sum over its steps; the last step of a trace ends when the device is idle
    histogram step;                          ///< per step
};

/// What the device did during long calls (bench/long_calls.hpp): busy with work that had to run anyway, and idle.
struct call_parts {
    histogram drain, idle;                   ///< one entry a call each
};

/// One recovery and what came of it (bench/recovery_log.hpp).
struct recovery_record {
    std::uint64_t event = 0;                 ///< the allocation that was rescued
    std::uint64_t step = 0;                  ///< 1-based, 0 before the first
    recovery_action by = recovery_action::sync;   ///< what made the second try succeed
    recovery_times times;
    std::uint64_t calls_after = 0;           ///< allocations watched: up to 256, until the next recovery or the end
    std::uint64_t misses_after = 0;          ///< of these, those that went to the driver,
    std::int64_t misses_ps = 0;              ///< and what they took; negative: no times are known
    std::uint64_t steps_before = 0, steps_after = 0;          ///< up to 8 on either side of the step of the recovery
    std::int64_t steps_before_ps = 0, steps_after_ps = 0;     ///< their times, other recoveries' included

    bool has_times() const { return misses_ps >= 0; }
    void forget_times();
};

/// One pass of the trace over one allocator.
struct pass_measurement {
    outcome result;
    std::uint64_t events = 0;                ///< executed
    std::int64_t time_ps = 0;                ///< from the first event to the device's idleness after the last; negative: not known
    std::vector<phase_measurement> phases;   ///< those with steps

    std::array<histogram, path_kinds> alloc; ///< duration of allocate, by path
    std::array<histogram, path_kinds> free;  ///< duration of deallocate: path::hit (kept) and path::driver (given back)
    std::array<call_parts, path_kinds> alloc_parts, free_parts;   ///< of the long ones among them
    std::uint64_t unsplit_calls = 0;         ///< long ones whose parts are not known

    device_activity activity;
    std::uint64_t free_bytes_at_start = 0;   ///< on the device, before the allocator was made: the limit as it really was
    std::uint64_t peak_live_bytes = 0;       ///< requested bytes
    std::uint64_t peak_reserved_bytes = 0;
    std::uint64_t peak_device_bytes = 0;     ///< driver view: free at the start minus lowest free; 0: not known in this pass
    std::uint64_t end_reserved_bytes = 0;    ///< after the last event
    std::vector<std::uint64_t> idle_reserved_bytes;    ///< at the end of each step of a phase called "idle"
    /// Integrals over time in byte-picoseconds, as doubles of exact sums (used as a ratio only).
    double live_byte_ps = 0;
    double reserved_byte_ps = 0;

    driver_call_counts calls{};              ///< successful, up to the last event
    driver_call_counts refused{};
    driver_call_counts teardown_calls{};     ///< of the allocator's destructor (on the last pass only)

    std::uint64_t failures = 0, recoveries = 0, flushes = 0, flushed_bytes = 0, evictions = 0, evicted_bytes = 0;
    recovery_times recovery;
    std::vector<recovery_record> first_recoveries;   ///< the first 16
    std::vector<std::uint64_t> cached_blocks;

    std::uint64_t hazard_count = 0;
    std::vector<hazard> hazards;             ///< the first ones

    bool has_times() const { return time_ps >= 0; }
    /// Of a device whose clock means nothing: bytes, calls and outcomes stay.
    void forget_times();
};

/// One pass of the trace over `ideal` in the same process: only what is subtracted. Processes differ in how fast they launch
/// kernels by more than a warm allocator costs; within one process that cancels.
struct reference_measurement {
    std::int64_t time_ps = 0;
    std::vector<phase_measurement> phases;   ///< without their step histograms
    device_activity activity;
};

enum class role : std::uint8_t { timed, memory, verify };
const char* to_string(role r);

/// One run of a cell: a fresh allocator, the cold pass, then (if it completed) the steady pass on the same allocator.
struct repetition {
    std::uint64_t index = 0;                 ///< among those of its cell and role, from 0
    std::uint64_t order = 0;                 ///< position in the whole run
    std::int64_t process = 0;                ///< id of the process that measured it
    role what = role::timed;
    pass_measurement cold;
    std::optional<pass_measurement> steady;
    std::optional<reference_measurement> reference;   ///< timed repetitions on a card; after both passes, so that they see a fresh process
    std::optional<card_condition> before, after;   ///< of both passes; none where the card does not tell
    std::optional<std::string> disturbed;    ///< why it must not be used
};

}  // namespace vrambench
