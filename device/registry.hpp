#pragma once
// The devices that a user can name.

#include "device/device.hpp"
#include "device/injected_faults.hpp"
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
    std::string confidence = {};   ///< in a simulated pool whose rules were read, not measured: "high", "medium", "none"; else empty
    bool times_known = true;       ///< false: cells have bytes, calls and outcomes only
    config settings = {};
    std::string content = {};   ///< of a profile file: hash of its text, since its path does not say what it holds
    std::optional<card_rates> rates = {};   ///< a GPU's, as measured when the run was planned; one set for all of its processes
    failed_features failed = {};            ///< of a GPU: what the probe found when the run was planned
};

/// Whether what the device measures is simulated: `sim`, or a card of a runtime that stands in for a vendor's, which calls itself
/// "simulated ...". Such a result is never written down as a GPU's.
bool gives_simulated_results(const device_choice& choice);

enum class integrity_check : std::uint8_t { off, sample, full };

struct device_options {
    std::optional<std::uint64_t> vram_limit_bytes;   ///< free bytes at the start of the trace
    integrity_check check = integrity_check::full;   ///< sim: the hazard checker unless off; a GPU: what kernels verify
    bool stamps = true;                              ///< a GPU: launches are stamped; off for the yardstick of what that costs
    std::optional<card_rates> rates = {};            ///< a GPU: open_device puts the choice's here
    bool warm_up = true;                             ///< a GPU: each kind of call once, so that no timed one is the first
    failed_features failed = {};                     ///< a GPU: open_device puts the choice's here
    bool follow_free_memory = false;                 ///< a GPU: ask for free memory after every call that may change it
    volatile std::uint8_t* current_call = nullptr;   ///< a GPU: holds the driver call being made (driver_call + 1; 0: none)
    std::optional<fault_rule> inject = {};           ///< calls that answer out of memory on purpose
};

const std::vector<const entry*>& device_entries();

/// Kinds of GPU ("cuda", "hip") in the order in which `auto` asks them: of this build, less those without a driver here.
std::vector<std::string> gpu_kinds();

/// Understands a spec, without touching a GPU: whether a GPU answers is found out by opening it, in a child process. `auto`
/// is `sim:h200` here; bench resolves it first. Throws input_error with one clear line.
device_choice choose_device(std::string_view spec_text);

/// Opens it, fresh. Throws input_error where it is not there, and for a limit above its capacity.
std::unique_ptr<device> open_device(const device_choice& choice, const device_options& options);

}  // namespace vrambench
