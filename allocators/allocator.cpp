#include "allocators/allocator.hpp"

namespace vrambench {

const char* to_string(path how)
{
    static constexpr const char* names[path_kinds] = {"hit", "split", "grow", "driver", "evict", "flush_retry", "fail"};
    return names[static_cast<int>(how)];
}

const char* to_string(recovery_action action)
{
    static constexpr const char* names[recovery_actions] = {"sync", "trim", "flush"};
    return names[static_cast<int>(action)];
}

allocator_stats& allocator_stats::operator+=(const allocator_stats& o)
{
    live += o.live, peak_live += o.peak_live;
    cached += o.cached, peak_cached += o.peak_cached;
    reserved += o.reserved, peak_reserved += o.peak_reserved;
    pending += o.pending;
    flushes += o.flushes, flushed_bytes += o.flushed_bytes;
    evictions += o.evictions, evicted_bytes += o.evicted_bytes;
    recoveries += o.recoveries, failures += o.failures;
    return *this;
}

recovery_times& recovery_times::operator+=(const recovery_times& o)
{
    drain_sync += o.drain_sync, idle_sync += o.idle_sync;
    drain_free += o.drain_free, idle_free += o.idle_free;
    drain_allocate += o.drain_allocate, idle_allocate += o.idle_allocate;
    bytes_given_back += o.bytes_given_back;
    return *this;
}

void allocator::prepare(const trace&, const trace_summary&) {}
void allocator::notify(notification) {}
void allocator::after_call(allocation*) {}

/// One block where the policy keeps a list, all of it where it has none.
std::uint64_t allocator::largest_unused_block(stream_id)
{
    const auto blocks = cached_blocks();
    return blocks.empty() ? stats().cached : *std::max_element(blocks.begin(), blocks.end());
}

}  // namespace vrambench
