#include "allocators/stream_ordered.hpp"

#include "spec/units.hpp"

namespace vrambench {

namespace {

pool_id open_pool(device& dev, std::uint64_t threshold, bool own_pool)
{
    if (const std::string& why = dev.info().why_no_pools; !why.empty()) throw unsupported_error(why);
    if (!dev.info().has_pools) throw unsupported_error("the device has no stream-ordered memory pools");
    if (own_pool) return dev.create_pool({.threshold = threshold});
    const pool_id pool = dev.default_pool();
    dev.set_threshold(pool, threshold);
    return pool;
}

}  // namespace

stream_ordered::stream_ordered(device& dev, std::uint64_t threshold, bool own_pool)
    : device_(dev), threshold_(threshold), pool_(open_pool(dev, threshold, own_pool)), own_pool_(own_pool)
{
    asks_after_calls_ = true;
    if (!own_pool_) reserved_ = device_.usage(pool_).reserved;    // what earlier users left in it; a new pool is empty
}

stream_ordered::~stream_ordered()
{
    if (own_pool_) quietly([&] { device_.destroy_pool(pool_); });
}

allocation stream_ordered::allocate(std::uint64_t bytes, std::uint64_t, stream_id stream)
{
    const device_ptr p = device_.malloc_async(bytes, pool_, stream);
    if (!p) {
        counter_.failed();
        const auto& info = device_.info();
        return {.why = failure::memory, .asked_bytes = round_up(bytes, info.pool_step), .beside_bytes = info.pool_margin};
    }
    counter_.handed_out(bytes);
    return {.pointer = p, .granted_bytes = bytes, .how = path::hit};
}

deallocation stream_ordered::deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream)
{
    device_.free_async(pointer, stream);
    counter_.taken_back(granted_bytes, reserved_);
    return {};
}

void stream_ordered::after_call(allocation* a)
{
    const std::uint64_t reserved = device_.usage(pool_).reserved;
    if (a && a->pointer && reserved > reserved_) a->how = path::grow;
    if (reserved < reserved_) ++epoch_;
    reserved_ = reserved;
    counter_.reserved_is(reserved_);
}

std::uint64_t stream_ordered::trim(std::uint64_t keep_bytes)
{
    const std::uint64_t before = device_.usage(pool_).reserved;
    device_.trim_pool(pool_, keep_bytes);
    after_call(nullptr);
    return before > reserved_ ? before - reserved_ : 0;
}

/// Only the driver knows its pool's ranges, so it is asked for blocks, to 64 KiB. One for which the pool had to grow does not
/// count, and it gives that much back.
std::uint64_t stream_ordered::largest_unused_block(stream_id stream)
{
    constexpr std::uint64_t step = 64 * KiB;
    const pool_usage before = device_.usage(pool_);
    std::uint64_t served = 0, refused = (before.reserved - std::min(before.reserved, before.used)) / step + 1;
    while (refused - served > 1) {
        const std::uint64_t middle = served + (refused - served) / 2;
        const device_ptr p = device_.malloc_async(middle * step, pool_, stream);
        const bool grew = device_.usage(pool_).reserved > before.reserved;
        if (p) device_.free_async(p, stream);
        device_.sync_stream(stream);
        if (grew) device_.trim_pool(pool_, before.reserved);
        (p && !grew ? served : refused) = middle;
    }
    after_call(nullptr);
    return served * step;
}

allocator_stats stream_ordered::stats() const
{
    const pool_usage u = device_.usage(pool_);
    allocator_stats s = counter_.stats(u.reserved);
    s.peak_reserved = u.reserved_high;    // of the pool: a failed call may have held more for a moment
    s.pending = u.pending;
    return s;
}

}  // namespace vrambench
