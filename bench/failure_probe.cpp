#include "bench/failure_probe.hpp"

namespace vrambench {

namespace {

class without_faults {
public:
    explicit without_faults(device& dev) : device_(dev) { device_.suspend_faults(true); }
    ~without_faults() { device_.suspend_faults(false); }
    without_faults(const without_faults&) = delete;
    without_faults& operator=(const without_faults&) = delete;

private:
    device& device_;
};

bool is_granted(device& dev, std::uint64_t bytes)
{
    const device_ptr p = dev.malloc(bytes);
    if (p) dev.free(p);
    return p != 0;
}

bool is_served(allocator& alloc, std::uint64_t bytes, const event& failed)
{
    allocation a = alloc.allocate(bytes, std::max(failed.alignment, 1u), failed.stream);
    if (alloc.asks_after_calls()) alloc.after_call(&a);
    if (a.pointer) alloc.deallocate(a.pointer, a.granted_bytes, failed.stream);
    return a.pointer != 0;
}

/// The first of half of what failed, a quarter and so on that is served; it goes back at once. 0: none.
std::uint64_t next_served(allocator& alloc, const event& failed)
{
    for (std::uint64_t bytes = failed.bytes / 2; bytes > 0; bytes /= 2)
        if (is_served(alloc, bytes, failed)) return bytes;
    return 0;
}

/// Bytes do not tell what shares a physical block with what is alive. So where an allocator can, it gives everything unused
/// back and is asked once more.
void judge_by_trying(device& dev, allocator& alloc, const event& failed, outcome& o)
{
    const bool by_bytes = o.cause == "retained" || o.cause == "fragmented" || o.cause == "pending" || o.cause == "external";
    if (!by_bytes || o.cached_bytes == 0 || !alloc.traits().can_trim) return;
    dev.sync_device();    // what is given back must be complete
    alloc.trim(0);
    if (o.cause == "external")
        o.what = is_granted(dev, failed.bytes) ? status::starved : status::oom;
    else if (!is_served(alloc, failed.bytes, failed))
        o.cause = "fragmented";
    else if (o.cause == "fragmented")
        o.cause = "retained";
}

}  // namespace

std::uint64_t largest_raw_block(device& dev, std::uint64_t at_most)
{
    const std::uint64_t block = dev.info().physical_block;
    std::uint64_t granted = 0, refused = at_most / block + 1;    // in blocks
    while (refused - granted > 1) {
        const std::uint64_t middle = granted + (refused - granted) / 2;
        (is_granted(dev, middle * block) ? granted : refused) = middle;
    }
    return granted * block;
}

void probe_after_failure(device& dev, allocator& alloc, const event& failed, outcome& o)
{
    const without_faults guard(dev);
    o.largest_cached_block_bytes = alloc.largest_unused_block(failed.stream);
    // Last what changes more: a raw allocation that is refused makes the driver empty its pools, and so they count here.
    o.largest_driver_block_bytes = largest_raw_block(dev, dev.query_memory().free_bytes + alloc.stats().cached);
    o.next_served_bytes = next_served(alloc, failed);
    judge_by_trying(dev, alloc, failed, o);
}

}  // namespace vrambench
