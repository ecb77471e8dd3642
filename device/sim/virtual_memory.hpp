#pragma once
// Virtual memory management of the simulated device: address reservations, physical handles, mappings, access. Physical
// memory goes back to the device when its handle was released and its last mapping is gone.

#include "device/device.hpp"
#include "device/sim/physical_memory.hpp"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace vrambench::sim {

class virtual_memory {
public:
    /// Sizes are multiples of `granularity`. A handle is had only while `margin` bytes stay free beside it. At most
    /// `address_space` bytes can be reserved, from `base` on. `memory` outlives it.
    virtual_memory(physical_memory& memory, std::uint64_t granularity, std::uint64_t margin, std::uint64_t address_space,
                   device_ptr base);

    device_ptr reserve(std::uint64_t bytes);             ///< 0: the address space is used up
    void unreserve(device_ptr pointer, std::uint64_t bytes);
    vmm_handle create(std::uint64_t bytes);              ///< 0: out of memory
    void map(device_ptr pointer, std::uint64_t bytes, vmm_handle handle);
    void set_access(device_ptr pointer, std::uint64_t bytes);
    struct unmapped {
        std::uint64_t bytes = 0;
        bool gave_back = false;                          ///< it was the last of a released handle: its memory went back
    };
    /// The mappings that are gone.
    std::vector<unmapped> unmap(device_ptr pointer, std::uint64_t bytes);
    /// Bytes of physical memory that went back to the device.
    std::uint64_t release(vmm_handle handle);

private:
    struct physical {
        std::uint64_t bytes = 0;
        std::uint32_t mappings = 0;
        bool released = false;
    };
    struct mapping {
        std::uint64_t bytes = 0;
        vmm_handle handle = 0;
        bool accessible = false;
    };

    void check_size(driver_call call, std::uint64_t bytes) const;
    bool reserved(device_ptr pointer, std::uint64_t bytes) const;
    bool overlaps_mapping(device_ptr pointer, std::uint64_t bytes) const;
    /// Calls `f` with each mapping of the range; throws unless whole mappings cover it exactly.
    template <class F> void each_mapping(driver_call call, device_ptr pointer, std::uint64_t bytes, F f);
    std::uint64_t drop_if_unused(vmm_handle handle);

    physical_memory& memory_;
    std::uint64_t granularity_;
    std::uint64_t margin_;
    std::uint64_t space_left_;
    device_ptr next_;
    vmm_handle last_handle_ = 0;
    std::map<device_ptr, std::uint64_t> reservations_;
    std::map<device_ptr, mapping> mappings_;
    std::unordered_map<vmm_handle, physical> handles_;
};

}  // namespace vrambench::sim
