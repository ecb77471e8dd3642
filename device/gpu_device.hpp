#pragma once
// A real GPU behind the device interface: one source for all vendors, which knows only the names of
// device/vendors/*.hpp. Only child processes open it; the process that plans never touches a GPU runtime.

#include "device/registry.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace vrambench::gpu {

/// Opens device `ordinal`. Throws input_error with one line where the
/// driver or the device is not there. `current_call`, if not null, always holds the driver call that is being made
/// (driver_call + 1; 0: none), for a parent that wonders where a child hangs.
std::unique_ptr<device> open(int ordinal, const std::string& spec, const device_options& options,
                             volatile std::uint8_t* current_call);

}  // namespace vrambench::gpu
