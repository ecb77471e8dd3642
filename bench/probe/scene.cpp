#include "bench/probe/scene.hpp"

namespace vrambench::probing {

void need_times(const device& dev)
{
    if (!dev.info().times_known) throw unsupported_error("no times are known of this device");
}

void pass_time(device& dev, std::int64_t ps)
{
    need_times(dev);
    const std::int64_t until = dev.clock().now_ps() + ps;
    while (dev.clock().now_ps() < until) dev.query_memory();    // on the simulator time passes in calls
}

void rest(device& dev, std::uint64_t bytes)
{
    dev.launch(0, millisecond_ps + static_cast<std::int64_t>(bytes) * 10 / 3, {});    // 300 GB/s; an H200 cleans 400
    dev.sync_device();
}

std::uint64_t settled_free(device& dev)
{
    dev.sync_device();
    return dev.query_memory().free_bytes;
}

own_pool::~own_pool()
{
    quietly([&] {
        dev_.sync_device();
        for (const auto& [block, bytes] : live_) dev_.free_async(block, 0);
        dev_.sync_device();
        dev_.destroy_pool(pool_);
    });
}

device_ptr own_pool::try_take(std::uint64_t bytes, stream_id stream)
{
    const device_ptr p = dev_.malloc_async(bytes, pool_, stream);
    if (p) live_[p] = bytes;
    return p;
}

device_ptr own_pool::take(std::uint64_t bytes, stream_id stream)
{
    const device_ptr p = try_take(bytes, stream);
    if (!p) throw too_little_memory("the pool could not get " + human_size(bytes));
    return p;
}

void own_pool::give(device_ptr block, stream_id stream)
{
    live_.erase(block);
    dev_.free_async(block, stream);
}

mapped_range::mapped_range(device& dev, std::uint64_t address_bytes)
    : dev_(dev), address_bytes_(address_bytes), base_(dev.reserve(address_bytes))
{
    if (!base_) throw device_error(driver_call::reserve, 0, "refused", human_size(address_bytes) + " of addresses");
}

mapped_range::~mapped_range()
{
    quietly([&] {
        dev_.sync_device();
        for (const auto& [offset, bytes] : parts_) dev_.unmap(base_ + offset, bytes);
        dev_.unreserve(base_, address_bytes_);
    });
}

void mapped_range::grow(std::uint64_t bytes)
{
    const vmm_handle handle = dev_.create(bytes);
    if (!handle) throw too_little_memory("no handle of " + human_size(bytes) + " could be had");
    try {
        dev_.map(end(), bytes, handle);
    } catch (...) {
        quietly([&] { dev_.release(handle); });
        throw;
    }
    const device_ptr tail = end();
    parts_[mapped_] = bytes;
    mapped_ += bytes;
    dev_.release(handle);
    dev_.set_access(tail, bytes);
}

void mapped_range::drop(std::uint64_t offset)
{
    const auto it = parts_.find(offset);
    dev_.unmap(base_ + offset, it->second);
    parts_.erase(it);
}

std::uint32_t watched_blocks::add(device_ptr pointer, std::uint64_t bytes, stream_id stream)
{
    if (unused_.empty()) {
        unused_.push_back(static_cast<std::uint32_t>(blocks_.size()));
        blocks_.emplace_back();
    }
    const std::uint32_t n = unused_.back();
    unused_.pop_back();
    blocks_[n] = {pointer, bytes};
    if (watcher_) watcher_->allocated(n, pointer, bytes, bytes, 1, stream);
    return n;
}

void watched_blocks::drop(std::uint32_t block, stream_id stream)
{
    if (watcher_) watcher_->freed(block, blocks_[block].pointer, blocks_[block].bytes, stream);
    unused_.push_back(block);
}

void watched_blocks::moved(std::uint32_t block, device_ptr pointer, stream_id stream)
{
    std::erase(unused_, block);
    blocks_[block].pointer = pointer;
    if (watcher_) watcher_->moved(block, pointer, blocks_[block].bytes, blocks_[block].bytes, 1, stream);
}

void watched_blocks::copy(std::uint32_t block, device_ptr to, stream_id stream)
{
    dev_.copy(to, blocks_[block].pointer, blocks_[block].bytes);
    drop(block, stream);
    moved(block, to, stream);
}

void watched_blocks::launch(std::uint32_t block, stream_id stream, std::int64_t ps, bool write)
{
    const kernel_access a{.pointer = blocks_[block].pointer, .bytes = blocks_[block].bytes, .block = block, .write = write};
    dev_.launch(stream, ps, {&a, 1});
}

std::uint64_t watched_blocks::wrong()
{
    dev_.sync_device();
    return watcher_ ? watcher_->hazard_count() - before_ : 0;
}

std::string watched_blocks::first_wrong() const
{
    return watcher_ && !watcher_->hazards().empty() ? watcher_->hazards().front().message : "";
}

}  // namespace vrambench::probing
