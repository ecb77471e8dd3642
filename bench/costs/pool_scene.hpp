#pragma once
// A stream-ordered pool of our own, set up so that the next request is served in one particular way (the routes are those
// of sim::pool_work, as measured on an H200: device/sim/cuda_pool.hpp).

#include "allocators/allocator.hpp"
#include "bench/costs/cost_probe.hpp"

#include <set>

namespace vrambench::costs {

class pool_scene {
public:
    explicit pool_scene(cost_probe& p, std::uint64_t threshold = UINT64_MAX)
        : p_(p), pool_(p.dev.create_pool({.threshold = threshold})), chunk_(p.dev.info().pool_step)
    {
    }
    /// Frees what is still live: a driver keeps a destroyed pool's memory until its last block is freed.
    ~pool_scene()
    {
        quietly([&] {
            p_.dev.sync_device();
            for (const auto block : live_) p_.dev.free_async(block, 0);
            p_.dev.sync_device();
            p_.dev.destroy_pool(pool_);
        });
    }
    pool_scene(const pool_scene&) = delete;

    pool_id pool() const { return pool_; }
    std::uint64_t chunk() const { return chunk_; }
    std::uint64_t chunks() { return p_.dev.usage(pool_).reserved / chunk_; }

    /// A block that must be had: throws unsupported_error when out of memory.
    device_ptr take(std::uint64_t bytes, stream_id stream = 0)
    {
        const device_ptr block = p_.dev.malloc_async(bytes, pool_, stream);
        if (!block) throw unsupported_error("too little memory to measure a pool");
        live_.insert(block);
        return block;
    }
    /// Returns what the free took.
    std::int64_t give(device_ptr block, stream_id stream = 0)
    {
        live_.erase(block);
        return p_.watch.time([&] { p_.dev.free_async(block, stream); });
    }
    /// Times a request; `block` is what it got, 0 when out of memory.
    std::int64_t time_take(std::uint64_t bytes, device_ptr& block, stream_id stream = 0)
    {
        const std::int64_t ps = p_.watch.time([&] { block = p_.dev.malloc_async(bytes, pool_, stream); });
        if (block) live_.insert(block);
        return ps;
    }

private:
    cost_probe& p_;
    pool_id pool_;
    std::uint64_t chunk_;
    std::set<device_ptr> live_;
};

/// What one more of something costs, from the times with few and with many: picoseconds, at least 0.
inline std::int64_t slope(std::int64_t few_ps, std::uint64_t few, std::int64_t many_ps, std::uint64_t many)
{
    return many > few ? std::max<std::int64_t>((many_ps - few_ps) / static_cast<std::int64_t>(many - few), 0) : 0;
}

}  // namespace vrambench::costs
