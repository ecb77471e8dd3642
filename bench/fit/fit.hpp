#pragma once
// What `vrambench fit` asks of one cell: the smallest limit at which it completes, or, at a given limit, the largest value of
// one of its workload's keys.

#include "bench/fit/search.hpp"
#include "bench/plan.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench::fit {

/// `--vary KEY=FROM..TO[:STEP]`.
struct variation {
    std::string key;
    std::uint64_t from = 0, to = 0;
    std::uint64_t step = 0;                  ///< 0: the workload's own, see own_step()
};
/// Throws input_error that names --vary.
variation parse_variation(std::string_view text);

/// Values that a workload takes in one step: its key `step` or `ubatch`. Throws input_error that asks for one where it has
/// neither.
std::uint64_t own_step(const trace_header& header, const variation& v);

/// Values (limits in bytes, or values of a key) `from` to `to`, all tried ones of which complete.
struct range {
    std::uint64_t from = 0, to = 0;
};

struct result {
    std::optional<std::uint64_t> best;       ///< smallest limit in bytes, or largest value; none: nothing that was tried completes
    std::optional<outcome> beyond;           ///< of the next value on the failing side, none where there is none; where there
                                             ///< is no best, of the easiest value
    bool monotonic = true;
    std::vector<range> islands;              ///< ascending
    std::uint64_t resolution = 1;            ///< bytes, or the step of the key
    std::uint64_t tried = 0;                 ///< runs
    std::uint64_t max_live_bytes = 0;        ///< of the workload, at the best value where a key is varied
};

/// How a cold pass ended. Bytes: what it took of the device at most (where memory was watched), and what was free before.
struct trial {
    outcome end;
    std::uint64_t peak_device_bytes = 0;
    std::uint64_t free_at_start = 0;
};

/// Runs a cell once, its cold pass only. `watch_memory`: peak_device_bytes is wanted. Throws run_interrupted.
using runner = std::function<trial(const cell&, bool watch_memory)>;

/// On this machine for `sim`, in child processes for a card. A repetition that was disturbed is run again; after three of
/// them the trial is `unsupported` and says what disturbed it.
runner make_runner(std::uint64_t timeout_ms, const std::atomic<bool>* stop);

/// Hears before each run how many are left, this one included, once that can be said (bench/fit/forecast.hpp).
using run_forecast = std::function<void(std::uint64_t runs)>;

/// The smallest limit, to 1 MiB on `sim` and 16 MiB on a card. From max live (and what is resident) to what the cell takes
/// without a limit it is searched by bisection; then every 1 % of what was found, from max live to 1.3 times it, is tried
/// on `sim`, and it and three limits above it on a card. No limit is tried that is above what was free without one.
result smallest_limit(const cell& c, const runner& run, const run_forecast& expect);

/// The largest value at the cell's own limit. Around it every 1 % (or step, the larger) is tried, from 1/1.3 of it to 1.3
/// times it; on a card it and three values below it. `workload_at` makes the workload for a value.
using workload_maker = std::function<std::shared_ptr<const planned_workload>(std::uint64_t value)>;
result largest_value(const cell& c, const variation& v, const workload_maker& workload_at, const runner& run,
                     const run_forecast& expect);

}  // namespace vrambench::fit
