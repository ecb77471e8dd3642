#pragma once
// ROCr's allocator under hipMalloc, and under HIP's pool where that takes whole blocks (source: amd_memory_region.cpp,
// simple_heap.h, amd_kfd_driver.cpp). Sizes are rounded to pages of 4 KiB. Requests below 2 MiB share blocks of 2 MiB, best
// fit; blocks that became empty are cached until the cache exceeds twice the bytes in use. Larger requests have memory of
// their own in multiples of 2 MiB: the tail is lost, and it goes back at once when it is freed. A request that the kernel
// driver refuses empties the cache and is tried once more.

#include "device/device.hpp"
#include "device/sim/address_places.hpp"
#include "device/sim/physical_memory.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>

namespace vrambench::sim {

class rocr_heap {
public:
    /// `block`: 2 MiB on a card. Addresses start at `first`. `memory` outlives the heap.
    rocr_heap(physical_memory& memory, std::uint64_t block, device_ptr first);

    /// 0 when out of memory.
    device_ptr allocate(std::uint64_t bytes);
    /// False if there is no allocation at `pointer`.
    bool free(device_ptr pointer);
    /// Length of the allocation at `pointer`, in whole pages; 0 if there is none.
    std::uint64_t extent(device_ptr pointer) const;

    /// One allocation of the kernel driver, with an empty cache if need be.
    bool take(std::uint64_t bytes);
    void give(std::uint64_t bytes) { memory_.give(bytes); }

    /// What hipMemGetInfo calls free: whole blocks that the kernel driver has left, and the cache.
    std::uint64_t reported_free() const { return whole_blocks(memory_.free_bytes()) + cached_; }
    std::uint64_t whole_blocks(std::uint64_t bytes) const { return bytes / block_ * block_; }

private:
    struct fragment {
        std::uint64_t bytes = 0;
        bool is_free = false;
        std::uint64_t listed = 0;            ///< its place in time in the free list; 0: not in it
    };
    struct block_of_fragments {
        std::map<device_ptr, fragment> fragments;
        std::uint64_t bytes = 0;
        bool is_own = false;                 ///< of one large request
    };
    struct listed_fragment {
        std::uint64_t bytes, listed;
        device_ptr where;
        bool operator<(const listed_fragment& o) const { return bytes != o.bytes ? bytes < o.bytes : listed < o.listed; }
    };
    struct cached_block {
        device_ptr where;
        std::uint64_t bytes;
    };

    device_ptr new_block(std::uint64_t bytes);
    device_ptr carve(device_ptr where, std::uint64_t bytes);
    void cut(block_of_fragments& b, device_ptr where, std::uint64_t bytes, device_ptr block);
    void publish(device_ptr where, fragment& f);
    void unpublish(device_ptr where, fragment& f);
    device_ptr merge(block_of_fragments& b, device_ptr where);
    void block_became_empty(device_ptr block);
    void balance();
    void drop_oldest();

    physical_memory& memory_;
    std::uint64_t block_, page_;
    address_places places_;
    std::map<device_ptr, block_of_fragments> blocks_;
    std::unordered_map<device_ptr, device_ptr> block_of_;    ///< every fragment's block
    std::set<listed_fragment> free_;
    std::deque<cached_block> cache_;                         ///< oldest first
    std::uint64_t cached_ = 0, in_use_ = 0, listings_ = 0;
};

}  // namespace vrambench::sim
