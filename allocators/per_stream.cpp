#include "allocators/per_stream.hpp"

namespace vrambench {

per_stream::per_stream(std::uint32_t streams, const std::function<std::unique_ptr<allocator>()>& make)
{
    for (std::uint32_t s = 0; s < streams; ++s) pools_.push_back(make());
}

allocation per_stream::allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream)
{
    auto& p = *pools_[stream];
    allocation a;
    {
        const following sum(*this, p);
        a = p.allocate(bytes, alignment, stream);
    }
    counter_.handed_out(a.granted_bytes);
    counter_.reserved_is(reserved_);
    return a;
}

deallocation per_stream::deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream)
{
    auto& p = *pools_[stream];
    deallocation d;
    {
        const following sum(*this, p);
        d = p.deallocate(pointer, granted_bytes, stream);
    }
    counter_.taken_back(granted_bytes, reserved_);
    return d;
}

std::uint64_t per_stream::trim(std::uint64_t keep_bytes)
{
    std::uint64_t given_back = 0;
    for (auto& p : pools_) {
        if (reserved_ <= keep_bytes) break;
        const std::uint64_t others = reserved_ - p->reserved_bytes();
        const following sum(*this, *p);
        given_back += p->trim(keep_bytes > others ? keep_bytes - others : 0);
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
    const allocator_stats all = counter_.stats(reserved_);    // peaks of the sum: the pools did not peak together
    s.live = all.live, s.peak_live = all.peak_live;
    s.cached = all.cached, s.peak_cached = all.peak_cached;
    s.reserved = all.reserved, s.peak_reserved = all.peak_reserved;
    return s;
}

recovery_times per_stream::take_recovery()
{
    recovery_times t;
    for (const auto& p : pools_) t += p->take_recovery();
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
