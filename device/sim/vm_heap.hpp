#pragma once
// The VM heap under HIP's pool from ROCm 7.0 on (source: rocclr/platform/vmheap): address ranges whose blocks are split and
// merged by best fit, backed by physical chunks of 32 MiB that stay at fixed places until they are unmapped. Sums of free
// mapped bytes wrap round, as the original's do.

#include "device/sim/rocr_heap.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace vrambench::sim {

/// Hears of every chunk; offsets count from the start of the whole heap.
class chunk_listener {
public:
    virtual ~chunk_listener() = default;
    virtual void chunk_mapped(std::uint64_t offset) = 0;
    virtual void chunk_unmapped(std::uint64_t offset) = 0;
};

/// One address range.
class vm_range {
public:
    static constexpr std::uint64_t chunk_bytes = std::uint64_t{32} << 20;
    static constexpr std::uint64_t block_step = 256;

    struct block {
        std::uint64_t offset = 0, bytes = 0;
    };

    /// `first`: where the range begins in the heap. References outlive it.
    vm_range(std::uint64_t first, std::uint64_t bytes, rocr_heap& memory, chunk_listener& heard);

    /// None where nothing fits, or where a chunk is refused: the chunks that it got by then stay mapped, and the addresses
    /// of the block are lost for good, as in the original.
    std::optional<block> allocate(std::uint64_t bytes);
    void release(const block& b);
    void trim(std::uint64_t keep_bytes);
    void give_all_back();

    bool is_created() const { return created_; }
    std::uint64_t first() const { return first_; }
    std::uint64_t length() const { return length_; }
    std::uint64_t free_addresses() const { return free_addresses_; }
    std::uint64_t mapped_bytes() const { return mapped_chunks_ * chunk_bytes; }
    std::uint64_t free_mapped_bytes() const { return mapped_bytes() - (length_ - free_addresses_); }
    void set_threshold(std::uint64_t bytes) { threshold_ = bytes; }

private:
    using free_blocks = std::map<std::uint64_t, std::uint64_t>;    ///< offset, bytes

    free_blocks::iterator best_fit(std::uint64_t bytes);
    bool map_chunk(std::uint64_t index);
    void unmap_chunk(std::uint64_t index);
    void unmap_within(const block& b, std::uint64_t keep_bytes);
    void add_free(const block& b);

    std::uint64_t first_, length_, free_addresses_;
    std::uint64_t threshold_ = 0, mapped_chunks_ = 0;
    bool created_ = false;                   ///< at its first use
    std::vector<bool> mapped_;               ///< by chunk
    free_blocks free_;
    rocr_heap& memory_;
    chunk_listener& heard_;
};

/// Four ranges of 1/8, 1/4, 5/8 and 1/1 of the card's memory, tried in this order.
class vm_heap {
public:
    struct block {
        std::size_t range = 0;
        vm_range::block where;
    };

    vm_heap(std::uint64_t total_bytes, rocr_heap& memory, chunk_listener& heard);

    std::optional<block> allocate(std::uint64_t bytes);
    void free(const block& b);
    void trim(std::uint64_t keep_bytes);
    void give_all_back();
    /// Reaches only the ranges that are in use already.
    void set_threshold(std::uint64_t bytes);

    /// Of the block's bytes that the caller may use: one at a chunk's boundary is shifted.
    std::uint64_t address(const block& b) const;
    std::uint64_t free_mapped_bytes() const;
    std::uint64_t mapped_bytes() const;
    std::uint64_t length() const { return ranges_.back().first() + ranges_.back().length(); }

private:
    std::array<vm_range, 4> ranges_;
    std::uint64_t threshold_ = 0;
};

}  // namespace vrambench::sim
