#pragma once
// The devices that a user can name.

#include "device/device.hpp"
#include "spec/spec.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench {

/// A device as chosen by a user, not yet opened.
struct device_choice {
    std::string kind;      ///< "sim"
    std::string name;      ///< profile name or ordinal: "h200"
    std::string spec;      ///< canonical
    bool simulated = false;
    config settings;
};

struct device_options {
    std::optional<std::uint64_t> vram_limit_bytes;   ///< free bytes at the start of the trace
    bool check_hazards = true;                       ///< sim: the hazard checker
};

const std::vector<const entry*>& device_entries();

/// Understands a spec; `auto` picks a GPU if one answers, else `sim:h200`. Throws input_error with one clear line.
device_choice choose_device(std::string_view spec_text);

/// Opens it, fresh. Throws input_error where it is not there, and for a limit above its capacity.
std::unique_ptr<device> open_device(const device_choice& choice, const device_options& options);

}  // namespace vrambench
