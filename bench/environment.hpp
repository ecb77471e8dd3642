#pragma once
// Facts that say enough to repeat a run: program, compiler, host, timer, device. No metric depends on them.

#include "bench/run_document.hpp"
#include "device/device.hpp"
#include "device/host_clock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vrambench {

/// Of this program: twelve digits, "-dirty" behind them where it was built with uncommitted changes; "unknown" outside git.
extern const char* const program_commit;

/// Program, compiler, host and timer. Takes a few milliseconds: the timer is measured.
std::vector<environment_fact> host_environment();

/// Facts of one device, their keys prefixed by "device.SPEC." so that a run may have several.
std::vector<environment_fact> device_environment(const device_info& info);

/// Of now, local time, ISO 8601: "2026-11-30".
std::string today();

struct timer_figures {
    std::uint64_t cost_ps = 0;   ///< of one reading
    std::uint64_t step_ps = 0;   ///< smallest difference seen
};
timer_figures measure_timer(const host_clock& clock);

}  // namespace vrambench
