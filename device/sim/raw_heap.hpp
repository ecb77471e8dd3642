#pragma once
// Addresses of raw allocations on the simulated device. Every request occupies whole physical blocks of its own, except
// that small ones share a block (measured on an H200: a thousand requests of 4 KiB took 4 MiB of the device, a hundred of
// 1 MiB + 1 took 200 MiB, a hundred of 2 MiB + 1 took 400 MiB).

#include "device/device.hpp"
#include "device/sim/physical_memory.hpp"

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace vrambench::sim {

class raw_heap {
public:
    /// `block`: physical block size; requests up to `shared_up_to` bytes share blocks (0: none does). A block is had only
    /// while `margin` bytes stay free beside it. Addresses start at `base`. `memory` outlives the heap.
    raw_heap(physical_memory& memory, std::uint64_t block, std::uint64_t shared_up_to, std::uint64_t margin, device_ptr base);

    /// 0 when out of memory.
    device_ptr allocate(std::uint64_t bytes);
    /// Requested bytes of the block that was freed; 0 if there is none at `pointer`.
    std::uint64_t free(device_ptr pointer);
    /// Whether freeing the block at `pointer` gives memory back: it shares none, or the others there are freed already.
    bool is_last_of_its_memory(device_ptr pointer) const;
    /// Bytes of address space that the block at `pointer` owns (requested size rounded as the heap does).
    std::uint64_t extent(device_ptr pointer) const;

private:
    static constexpr std::uint64_t small_grain = 512;

    struct block_info {
        std::uint64_t requested = 0;
        std::uint64_t extent = 0;
        device_ptr shared_block = 0;      ///< 0: has physical blocks of its own
    };
    /// Free ranges (offset -> length) of a physical block that small requests share.
    using free_ranges = std::map<std::uint64_t, std::uint64_t>;

    device_ptr place(std::uint64_t extent);
    device_ptr allocate_small(std::uint64_t bytes);
    device_ptr carve(device_ptr block, free_ranges& ranges, std::uint64_t bytes, std::uint64_t extent);
    void free_small(device_ptr pointer, const block_info& info);

    physical_memory& memory_;
    std::uint64_t block_;
    std::uint64_t shared_up_to_;
    std::uint64_t margin_;
    device_ptr next_;
    std::unordered_map<device_ptr, block_info> live_;
    std::unordered_map<std::uint64_t, std::vector<device_ptr>> free_places_;   ///< by extent, last freed first
    std::map<device_ptr, free_ranges> shared_;
};

}  // namespace vrambench::sim
