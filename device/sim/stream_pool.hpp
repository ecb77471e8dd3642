#pragma once
// A stream-ordered memory pool of the simulated device. Drivers differ in how they decide; each way is a rule set, a
// class behind this interface. Offsets count from the start of the pool's own address range.

#include "device/sim/physical_memory.hpp"
#include "device/sim/stream_order.hpp"

#include <cstdint>
#include <vector>

namespace vrambench::sim {

/// What one call made the driver do, in counts: the profile prices it.
struct pool_work {
    enum class route : std::uint8_t {
        own,             ///< freed on the same stream before
        completed,       ///< a completed range
        other_stream,    ///< another stream's block, by event order or because the GPU was past it
        merged,          ///< a completed range that had to be found across merged neighbours, nothing mapped
        mapped,          ///< memory was mapped: new chunks or remapped ones
        internal,        ///< the driver made the stream wait for another
        fail,
    };
    route how = route::fail;
    std::uint32_t new_chunks = 0;      ///< obtained from the device
    std::uint32_t remapped = 0;        ///< unmapped elsewhere in the pool
    std::uint32_t mapped = 0;          ///< mapped where they were needed
    std::uint32_t released = 0;        ///< given back to the device, by this pool or another
    std::uint32_t polled = 0;          ///< pending blocks looked at
};

/// Hears what the hazard checker has to know. May be null.
class pool_listener {
public:
    virtual ~pool_listener() = default;
    virtual void backed(std::uint64_t offset, std::uint64_t bytes) = 0;      ///< this range has memory now
    virtual void unbacked(std::uint64_t offset, std::uint64_t bytes) = 0;    ///< its memory went elsewhere
    virtual void observed(std::uint32_t stream, mark up_to) = 0;             ///< the driver saw that these are done
    virtual void depends(std::uint32_t stream, std::uint32_t on, mark up_to) = 0;   ///< `stream` was made to wait
};

/// What a pool shares with the rest of the device. All references outlive the pool.
struct pool_environment {
    physical_memory& memory;
    stream_order& order;
    const std::int64_t& now_ps;                      ///< virtual host time
    std::vector<class stream_pool*>& pools;          ///< all pools of the device, this one too, oldest first
    std::uint64_t total_bytes;                       ///< of the card: sets the address range's length
};

struct pool_counts {
    std::uint64_t reserved = 0, reserved_high = 0;
    std::uint64_t used = 0, used_high = 0;           ///< requested bytes, unrounded
    std::uint64_t pending = 0;                       ///< bytes of pending blocks
};

class stream_pool {
public:
    static constexpr std::uint64_t none = UINT64_MAX;
    virtual ~stream_pool() = default;

    /// The block's offset, or `none` when out of memory. `work` is overwritten.
    virtual std::uint64_t allocate(std::uint64_t bytes, std::uint32_t stream, pool_work& work) = 0;
    /// Frees the block at `offset` in stream order; false if there is no live block there.
    virtual bool free(std::uint64_t offset, std::uint32_t stream) = 0;
    virtual void trim(std::uint64_t keep_bytes, pool_work& work) = 0;
    /// A synchronisation that covers `known` (null: the whole device). Adds what it cost to `work`.
    virtual void synchronised(const knowledge* known, pool_work& work) = 0;
    /// Gives back everything that is free and completed, because somebody else needs memory. Returns chunks.
    virtual std::uint32_t release_completed() = 0;
    virtual void set_threshold(std::uint64_t bytes) = 0;
    virtual const pool_counts& counts() const = 0;
    /// Length of the address range.
    virtual std::uint64_t address_range() const = 0;
    virtual void set_listener(pool_listener* listener) = 0;
};

}  // namespace vrambench::sim
