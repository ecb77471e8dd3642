#include "allocators/retry.hpp"

#include <utility>

namespace vrambench {

namespace {

/// Takes the time of one part of a recovery, with what the device is known to do in it.
class stopwatch {
public:
    explicit stopwatch(device& dev) : device_(dev), begin_(dev.clock().now_ps()), busy_until_(dev.busy_until_ps()) {}

    recovery_trace::stretch stop() const
    {
        const std::int64_t end = device_.clock().now_ps();
        const std::int64_t busy = busy_until_ < 0 ? -1 : std::clamp(busy_until_ - begin_, std::int64_t{0}, end - begin_);
        return {begin_, end, busy};
    }

private:
    device& device_;
    std::int64_t begin_;
    std::int64_t busy_until_;
};

/// Splits a stretch into the part in which the device was busy with work queued before (drain) and the rest (idle). A GPU
/// tells only afterwards, by its kernels' stamps; where those are lost, all of it counts as idle.
void split(const recovery_trace::stretch& s, device& dev, std::int64_t& drain, std::int64_t& idle)
{
    const std::int64_t busy = s.busy >= 0 ? s.busy : std::max(std::int64_t{0}, dev.busy_within_ps(s.begin, s.end));
    drain += busy;
    idle += s.end - s.begin - busy;
}

}  // namespace

recovery_times times_of(const recovery_trace& r, device& dev)
{
    recovery_times t;
    split(r.sync, dev, t.drain_sync, t.idle_sync);
    split(r.free, dev, t.drain_free, t.idle_free);
    split(r.allocate, dev, t.drain_allocate, t.idle_allocate);
    t.bytes_given_back = r.bytes_given_back;
    return t;
}

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
    recovery_trace taken;
    taken.by = action_;
    const stopwatch syncing(device_);
    if (action_ == recovery_action::flush)
        device_.sync_device();
    else
        device_.sync_stream(stream);
    taken.sync = syncing.stop();

    if (action_ != recovery_action::sync) {
        const stopwatch freeing(device_);
        taken.bytes_given_back = inner_->trim(0);
        given_back_ += taken.bytes_given_back;
        taken.free = freeing.stop();
    }

    const stopwatch again(device_);
    allocation a = inner_->allocate(bytes, alignment, stream);
    taken.allocate = again.stop();
    a.work += failed.work;
    if (a.pointer) {
        a.how = path::flush_retry;
        ++recoveries_;
        remember(taken);
    } else {
        times_.bytes_given_back += taken.bytes_given_back;    // counted though it was in vain
        ++failures_;
    }
    return a;
}

/// The times of recoveries that succeeded. What the device did in them is added up now where it is known (sim), else kept.
void retry::remember(const recovery_trace& taken)
{
    last_ = taken;
    if (taken.sync.busy >= 0)
        times_ += times_of(taken, device_);
    else
        unresolved_.push_back(taken);
}

recovery_times retry::take_recovery()
{
    for (const auto& r : unresolved_) times_ += times_of(r, device_);
    unresolved_.clear();
    return std::exchange(times_, {});
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
        s.flushed_bytes = given_back_;
    }
    return s;
}

}  // namespace vrambench
