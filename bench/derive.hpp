#pragma once
// A cell's metrics, derived from its repetitions and those of its reference: pure functions, so that they can be
// recomputed from a result file at any time.
//
// Used for numbers are the repetitions that were timed (the memory ones for peak_device_bytes), not disturbed and
// completed. A cell with any other outcome has no numbers at all, only what was `reached` when it failed.

#include "bench/plan.hpp"
#include "bench/run_document.hpp"
#include "bench/statistics.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench {

/// Nanoseconds, from the merged histograms of the used repetitions; `max` is exact.
struct quantiles {
    std::uint64_t count = 0;
    double p50 = 0, p90 = 0, p99 = 0, p999 = 0, max = 0;
};

/// One part (drain or idle) of the long calls; `total` is nanoseconds a pass, the mean over the used repetitions.
struct part_numbers {
    quantiles each;
    double total = 0;
};
struct call_split {
    part_numbers drain, idle;
};

struct phase_metrics {
    std::string name;
    bool per_token = true;                   ///< what added_ns is divided by: tokens, or steps where there are none
    std::optional<estimate> added_ns, slowdown;
    quantiles step_ns;
};

/// Phases of one kind taken together: prefill@4096 and prefill@32768 are prefill. Only those that have tokens.
struct kind_metrics {
    std::string name;
    std::optional<estimate> added_ns;        ///< per token
};

using call_numbers = std::array<number, driver_call_kinds>;

/// What the allocator did about running out of memory: medians of counts, bytes and nanoseconds.
struct recovery_metrics {
    number failures, recoveries, flushes, flushed_bytes, evictions, evicted_bytes, bytes_given_back;
    double drain_sync = 0, drain_free = 0, drain_allocate = 0;
    double idle_sync = 0, idle_free = 0, idle_allocate = 0;
    bool has_times = true;                   ///< false: the six above are not known
};

/// The numbers of a pass that completed. Absent ones could not be derived (no reference, no such phase, not known).
struct pass_numbers {
    bool per_token = true;                   ///< of added_ns
    std::optional<estimate> added_ns, slowdown;   ///< paired with the reference; per token: of the phases that have tokens
    std::vector<phase_metrics> phases;
    std::vector<kind_metrics> kinds;         ///< none where all tokens are of one kind
    std::optional<estimate> pp_tokens_per_s, tg_tokens_per_s;
    std::array<quantiles, path_kinds> alloc, free;
    quantiles any_alloc, any_free;
    std::array<call_split, path_kinds> alloc_split, free_split;   ///< of the long calls (bench/long_calls.hpp)
    call_split any_alloc_split, any_free_split;
    std::optional<estimate> unsplit_calls;   ///< long calls whose parts are not known; none where all are known
    std::optional<estimate> device_idle_ns, stall_ns, host_bound, overrun_share;
    std::optional<estimate> peak_live_bytes, peak_reserved_bytes, peak_device_bytes, device_bloat, end_reserved_bytes;
    std::vector<std::uint64_t> idle_reserved_bytes;   ///< of the first used repetition
    std::uint64_t max_live_bytes = 0;
    std::optional<estimate> byte_seconds_ratio;
    call_numbers calls;
    recovery_metrics recovery;
};

/// Where a pass that did not finish stood: of the repetition that gives the outcome. Not comparable with anything.
struct reached_values {
    std::uint64_t events = 0;
    std::uint64_t peak_live_bytes = 0, peak_reserved_bytes = 0, peak_device_bytes = 0, end_reserved_bytes = 0;
    driver_call_counts calls{}, refused{};
    recovery_metrics recovery;
};

struct pass_metrics {
    std::uint64_t attempted = 0, completed = 0;   ///< repetitions of any role that were not disturbed
    std::optional<outcome> result;           ///< the worst of them, as it was met first; none before the first repetition
    std::optional<pass_numbers> numbers;     ///< completed, and a timed repetition was used
    std::optional<reached_values> reached;   ///< not completed
    std::vector<std::uint64_t> cached_blocks;     ///< when the pass ended, at the failure where it failed
    std::uint64_t recovered = 0;             ///< recoveries of the repetition from which first_recoveries are
    std::vector<recovery_record> first_recoveries;   ///< of the first used repetition, or of that which gives the outcome
    std::uint64_t hazard_count = 0;          ///< the most that one repetition saw
};

struct cell_metrics {
    pass_metrics cold;
    std::optional<pass_metrics> steady;      ///< where a repetition has a steady pass
};

/// `reference` may be null, or the cell itself. A repetition is paired with the reference of its own process,
/// else with the repetition of `reference` that has its index.
cell_metrics derive(const cell& c, const cell* reference);

/// The same of some of the cell's repetitions: one process at a time, where processes are compared or resampled.
cell_metrics derive(const cell& c, const std::vector<const repetition*>& some, const cell* reference);

/// Whether the cell can be the reference of others: `ideal`, without a limit and without faults.
bool may_be_reference(const cell& c);

/// The reference for `c`: same device, workload, kernels, kernel scale and mode. Null where the run has none.
const cell* reference_of(const run_document& run, const cell& c);

/// "prefill" of "prefill@4096".
std::string_view kind_of(std::string_view phase);

/// Time and tokens of the phases that have tokens, all or those of one kind: what is not counted in tokens (a context that is
/// only replayed in sizes, a warm-up) is not what the traffic costs a token.
struct token_time {
    std::int64_t ps = 0;
    std::uint64_t tokens = 0;
};
token_time token_time_of(const std::vector<phase_measurement>& phases, const std::string& kind = {});

/// Calls that take memory from the driver or give it back; launches and waits are the engine's.
double memory_calls(const call_numbers& calls);

/// For exit codes and tables: completed is best, then unsupported, oom, starved, timeout, crashed, corrupted.
int severity(status s);

/// "completed", "oom: retained at step 11", "crashed: SIGSEGV": what tables print instead of numbers.
std::string in_words(const outcome& o);

}  // namespace vrambench
