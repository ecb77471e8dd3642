#pragma once
// What a vendor's management library tells of a card's clocks.

#include <cstdint>

namespace vrambench::gpu {

/// One reading of a card's clocks.
struct clock_reading {
    std::uint64_t sm_mhz, memory_mhz, temperature_c, power_mw;
    std::uint64_t held_by;           ///< bits of the vendor's clock_holders
};

/// What may keep clocks from being higher, by the library's bit.
struct clock_holder {
    std::uint64_t bit;
    const char* name;
};

}  // namespace vrambench::gpu
