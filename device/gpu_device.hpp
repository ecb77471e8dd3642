#pragma once
// A real GPU behind the device interface: one source for all vendors, which knows only the names of
// device/vendors/*.hpp and is compiled once for each, with VRAMBENCH_VENDOR as its namespace. Only child processes open it; the process that plans never touches a GPU runtime.

#include "device/registry.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace vrambench::gpu {

/// Opens device `ordinal`. Throws input_error with one line where the
/// driver or the device is not there. `current_call`, if not null, always holds the driver call that is being made
/// (driver_call + 1; 0: none), for a parent that wonders where a child hangs.
using opener = std::unique_ptr<device>(int ordinal, const std::string& spec, const device_options& options,
                                       volatile std::uint8_t* current_call);

// One for each vendor of the build. The namespaces are inline, since the one source does not name its own.
inline namespace cuda {
opener open;
}
inline namespace hip {
opener open;
}
inline namespace musa {
opener open;
}

}  // namespace vrambench::gpu
