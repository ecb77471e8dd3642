#include "allocators/per_stream.hpp"

namespace vrambench {

per_stream::per_stream(std::uint32_t streams, const std::function<std::unique_ptr<allocator>()>& make)
{
    for (std::uint32_t s = 0; s < streams; ++s) pools_.push_back(make());
}

allocation per_stream::allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream)
{
    auto& p = *pools_[stream];
    const std::uint64_t before = p.reserved_bytes();
    const allocation a = p.allocate(bytes, alignment, stream);
    update(p, before);
    return a;
}

deallocation per_stream::deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream)
{
    auto& p = *pools_[stream];
    const std::uint64_t before = p.reserved_bytes();
    const deallocation d = p.deallocate(pointer, granted_bytes, stream);
    update(p, before);
    return d;
}

std::uint64_t per_stream::trim(std::uint64_t keep_bytes)
{
    std::uint64_t given_back = 0;
    for (auto& p : pools_) {
        if (reserved_ <= keep_bytes) break;
        const std::uint64_t before = p->reserved_bytes();
        const std::uint64_t others = reserved_ - before;
        given_back += p->trim(keep_bytes > others ? keep_bytes - others : 0);
        update(*p, before);
    }
    return given_back;
}

void per_stream::notify(notification what)
{
    for (auto& p : pools_) p->notify(what);
}

std::uint64_t per_stream::address_epoch() const
{
    std::uint64_t sum = 0;
    for (const auto& p : pools_) sum += p->address_epoch();
    return sum;
}

allocator_stats per_stream::stats() const
{
    allocator_stats s;
    for (const auto& p : pools_) s += p->stats();
    s.peak_reserved = peak_reserved_;    // of the sum: the pools did not peak together
    return s;
}

recovery_times per_stream::recovery() const
{
    recovery_times t;
    for (const auto& p : pools_) t += p->recovery();
    return t;
}

std::vector<std::uint64_t> per_stream::cached_blocks() const
{
    std::vector<std::uint64_t> all;
    for (const auto& p : pools_)
        for (const auto bytes : p->cached_blocks()) all.push_back(bytes);
    return all;
}

}  // namespace vrambench
