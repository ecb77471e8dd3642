#pragma once
// Stands where a vendor's management library is not read: the card's clocks are not known, and the facts say so.

#include "device/vendors/clocks.hpp"

#include <array>
#include <string>

namespace vrambench::gpu::unmanaged {

inline constexpr std::array<clock_holder, 0> clock_holders{};

class management {
public:
    static constexpr const char* library = "the management library";

    bool load(const char* /*bus_id*/) { return false; }
    bool is_loaded() const { return false; }
    const char* why_not() const { return "of this vendor is not read"; }
    std::string driver() const { return ""; }
    bool read(clock_reading*) const { return false; }
};

}  // namespace vrambench::gpu::unmanaged
