#pragma once
// Executes a trace on a device through an allocator, and measures. One repetition: a fresh device, a fresh allocator, the
// cold pass, then the steady pass.

#include "bench/kernel_clock.hpp"
#include "bench/measurement.hpp"
#include "bench/plan.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>

namespace vrambench {

/// SIGINT arrived: what was measured before is kept, this repetition is dropped.
class run_interrupted : public std::runtime_error {
public:
    run_interrupted() : std::runtime_error("interrupted") {}
};

/// Memory of the device that somebody else takes (a second process).
class outside_memory {
public:
    virtual ~outside_memory() = default;
    virtual bool take(std::uint64_t bytes) = 0;              ///< false: there is not that much
    virtual void give_back() = 0;                            ///< what was taken last
};

struct run_controls {
    const std::atomic<bool>* stop = nullptr;                 ///< set by a signal handler; null: never
    std::chrono::milliseconds timeout{0};                    ///< of one repetition; 0: none
    outside_memory* neighbour = nullptr;                     ///< takes the trace's last external block; null: the device does
    bool cold_only = false;                                  ///< no steady pass: only whether the trace completes is asked
    bool reference = false;                                  ///< the process is warmed; after both passes `ideal` runs the trace once in it
    std::function<void(double share)> on_progress = {};      ///< called now and then with the share of events done
    volatile std::uint8_t* current_call = nullptr;           ///< see device_options
};

/// Runs `t` once. `start_free_bytes` is what the device had free before the allocator was made. An allocation that fails
/// ends the pass; everything else that can go wrong is an outcome too, but for run_interrupted, which is thrown.
pass_measurement run_pass(const trace& t, const trace_summary& summary, device& dev, allocator& alloc, run_mode mode,
                          const kernel_settings& kernels, std::uint64_t start_free_bytes, const run_controls& controls);

/// Makes the allocator of a repetition; tests put broken ones here.
using allocator_maker = std::function<std::unique_ptr<allocator>(device&, std::uint32_t streams)>;

/// Both passes of one repetition on a fresh device, and the reference's where it is wanted and the cold one completed. Throws
/// run_interrupted.
repetition run_repetition(const cell& c, const allocator_maker& make, const run_controls& controls, role what = role::timed);

/// The same with the cell's own allocator.
repetition run_repetition(const cell& c, const run_controls& controls, role what = role::timed);

}  // namespace vrambench
