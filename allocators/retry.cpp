#include "allocators/retry.hpp"

namespace vrambench {

namespace {

/// Splits the time that passes between two readings into the part in which the device was busy with work queued before
/// (drain) and the rest (idle).
class stretch {
public:
    explicit stretch(device& dev) : device_(dev), begin_(dev.clock().now_ps()), busy_until_(dev.busy_until_ps()) {}

    void add_to(std::int64_t& drain, std::int64_t& idle)
    {
        const std::int64_t end = device_.clock().now_ps();
        const std::int64_t busy = std::clamp(busy_until_ - begin_, std::int64_t{0}, end - begin_);
        drain += busy;
        idle += end - begin_ - busy;
    }

private:
    device& device_;
    std::int64_t begin_;
    std::int64_t busy_until_;
};

}  // namespace

retry::retry(std::unique_ptr<allocator> inner, device& dev, recovery_action action)
    : inner_(std::move(inner)), device_(dev), action_(action)
{
    asks_after_calls_ = inner_->asks_after_calls();
    reserved_ = inner_->reserved_bytes();
}

allocation retry::allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream)
{
    const following inner(*this);
    allocation a = inner_->allocate(bytes, alignment, stream);
    // More memory cannot help where addresses ran out.
    if (!a.pointer && a.why != failure::address_space)
        a = recover(bytes, alignment, stream, a);
    else if (!a.pointer)
        ++failures_;
    return a;
}

allocation retry::recover(std::uint64_t bytes, std::uint64_t alignment, stream_id stream, const allocation& failed)
{
    ++attempts_;
    stretch sync(device_);
    if (action_ == recovery_action::flush)
        device_.sync_device();
    else
        device_.sync_stream(stream);
    sync.add_to(times_.drain_sync, times_.idle_sync);

    if (action_ != recovery_action::sync) {
        stretch freeing(device_);
        times_.bytes_given_back += inner_->trim(0);
        freeing.add_to(times_.drain_free, times_.idle_free);
    }

    stretch again(device_);
    allocation a = inner_->allocate(bytes, alignment, stream);
    again.add_to(times_.drain_allocate, times_.idle_allocate);
    a.work += failed.work;
    if (a.pointer) {
        a.how = path::flush_retry;
        ++recoveries_;
    } else {
        ++failures_;
    }
    return a;
}

deallocation retry::deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream)
{
    const following inner(*this);
    return inner_->deallocate(pointer, granted_bytes, stream);
}

std::uint64_t retry::trim(std::uint64_t keep_bytes)
{
    const following inner(*this);
    return inner_->trim(keep_bytes);
}

void retry::after_call(allocation* a)
{
    const following inner(*this);
    const path how = a ? a->how : path::hit;
    inner_->after_call(a);
    if (a && how == path::flush_retry) a->how = how;    // how it was rescued says more than that the pool grew
}

allocator_stats retry::stats() const
{
    allocator_stats s = inner_->stats();
    s.recoveries = recoveries_;
    s.failures = failures_;
    if (action_ == recovery_action::flush) {
        s.flushes = attempts_;
        s.flushed_bytes = times_.bytes_given_back;
    }
    return s;
}

}  // namespace vrambench
