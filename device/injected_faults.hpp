#pragma once
// Out of memory without any pressure: an adaptor around a device that refuses chosen calls itself. This is how an
// allocator's recovery is tested where the card has memory to spare.
//
// Only calls that take memory from the driver are counted and refused: malloc, malloc_async (whether its pool has to grow
// or not) and create. A refused call never reaches the device below, so it takes no time and changes nothing there.

#include "device/device.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace vrambench {

/// Which calls are refused. Calls are numbered from 1, from the opening of the device on: in a repetition through both of
/// its passes.
struct fault_rule {
    enum class kind : std::uint8_t {
        once,        ///< call number `n`
        every,       ///< each n-th call
        chance,      ///< each call with probability `share`, drawn from `seed`
    };

    std::optional<driver_call> call;         ///< counts and refuses this kind only; none: all three together
    kind when = kind::once;
    std::uint64_t n = 1;
    double share = 0;
    std::uint64_t seed = 1;
};

/// Reads `[CALL:]oom@N`, `[CALL:]oom@every:N` and `[CALL:]oom@p:SHARE[/seed:S]`; `default_seed` is used where none is
/// typed. Throws input_error that names --inject.
fault_rule parse_fault_rule(std::string_view text, std::uint64_t default_seed);

/// The rule as it is stored, its seed included: parse_fault_rule reads it back as the same rule.
std::string to_text(const fault_rule& rule);

/// `inner` with the faults. The adaptor's refused_calls() are the device's and its own.
std::unique_ptr<device> inject_faults(std::unique_ptr<device> inner, const fault_rule& rule);

}  // namespace vrambench
