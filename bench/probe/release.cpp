// Does memory come back: at a synchronisation by the pool's threshold, by a trim, after a free. Judged by what the driver
// says is free on the device, never by the pool's own attributes.

#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

namespace vrambench::probing {

namespace {

constexpr std::uint64_t block_bytes = 64 * MiB;
constexpr int pool_blocks = 8;
constexpr std::uint64_t pool_bytes = block_bytes * pool_blocks;

std::uint64_t taken(std::uint64_t before, std::uint64_t now) { return before > now ? before - now : 0; }

/// Fills the pool, frees all blocks but one and synchronises, then the last, and synchronises again.
void fill_and_free(device& dev, own_pool& pool)
{
    std::vector<device_ptr> blocks;
    for (int i = 0; i < pool_blocks; ++i) blocks.push_back(pool.take(block_bytes));
    dev.sync_device();
    for (int i = 0; i + 1 < pool_blocks; ++i) pool.give(blocks[i]);
    dev.sync_device();
    pool.give(blocks.back());
    dev.sync_device();
}

answer ask_threshold(session& s, std::uint64_t threshold)
{
    s.need(pool_bytes + 256 * MiB);
    const std::uint64_t before = settled_free(s.dev);
    own_pool pool(s.dev, {.threshold = threshold});
    fill_and_free(s.dev, pool);
    const std::uint64_t kept = taken(before, settled_free(s.dev));
    const std::uint64_t step = std::max<std::uint64_t>(s.dev.info().pool_step, slack);
    const std::string evidence = human_size(kept) + " of " + human_size(pool_bytes) + " kept";
    if (kept > threshold && kept - threshold > step) return {"keeps more", level::broken, evidence};
    if (kept + step < std::min(threshold, pool_bytes)) return {"keeps less", level::broken, evidence};
    return {"honoured", level::fine, evidence};
}

answer ask_trim(session& s)
{
    s.need(pool_bytes + 256 * MiB);
    const std::uint64_t before = settled_free(s.dev);
    own_pool pool(s.dev, {.threshold = UINT64_MAX});
    fill_and_free(s.dev, pool);
    const std::uint64_t kept = taken(before, settled_free(s.dev));
    s.dev.trim_pool(pool.id(), 0);
    const std::uint64_t left = taken(before, settled_free(s.dev));
    const std::string evidence = human_size(kept) + " before the trim, " + human_size(left) + " after it";
    if (left > s.dev.info().pool_step) return {"ignored", level::broken, evidence};
    return {"honoured", level::fine, evidence};
}

/// Freed memory whose kernels still run: what a trim gives back of it must not be in use.
answer ask_trim_pending(session& s)
{
    s.need(pool_bytes + 256 * MiB);
    own_pool pool(s.dev, {});
    const std::uint64_t before = settled_free(s.dev);
    const device_ptr p = pool.take(pool_bytes);
    s.dev.launch(0, 20 * millisecond_ps, {});
    pool.give(p);
    s.dev.trim_pool(pool.id(), 0);
    const std::int64_t begin = s.dev.clock().now_ps();
    const std::uint64_t left = taken(before, s.dev.query_memory().free_bytes);
    s.dev.sync_stream(0);
    const bool ran = s.dev.clock().now_ps() - begin > 10 * millisecond_ps;
    const std::string evidence =
        human_size(left) + " of " + human_size(pool_bytes) + " left, kernel " + (ran ? "running" : "ended");
    if (left + slack >= pool_bytes) return {"gives nothing back", level::fine, evidence};
    if (ran) return {"gives back what is in use", level::broken, evidence};
    return {"waits, then gives back", level::costly, evidence};
}

/// `take` returns how to give back what it took.
template <class Take> answer ask_comes_back(session& s, Take take)
{
    s.need(pool_bytes + 256 * MiB);
    const std::uint64_t before = settled_free(s.dev);
    take();
    const std::uint64_t left = taken(before, settled_free(s.dev));
    const std::string evidence = human_size(left) + " of " + human_size(pool_bytes) + " not free again";
    if (left > slack) return {"stays away", level::broken, evidence};
    return {"comes back", level::fine, evidence};
}

void take_raw(device& dev)
{
    const device_ptr p = dev.malloc(pool_bytes);
    if (!p) throw too_little_memory("no " + human_size(pool_bytes) + " could be had");
    dev.free(p);
}

void take_virtual(device& dev)
{
    const std::uint64_t granularity = dev.info().vmm_granularity;
    if (!granularity) throw unsupported_error("no virtual memory management");
    const std::uint64_t bytes = round_up(pool_bytes, granularity);
    mapped_range range(dev, bytes);
    range.grow(bytes);
    dev.sync_device();
    range.drop(0);
}

void take_pool(device& dev)
{
    own_pool pool(dev, {});
    pool.give(pool.take(pool_bytes));
    dev.sync_device();
}

}  // namespace

void probe_release(session& s)
{
    s.ask("release.threshold.0", "release threshold 0", [&] { return ask_threshold(s, 0); });
    s.ask("release.threshold.size", "release threshold 256 MiB", [&] { return ask_threshold(s, 256 * MiB); });
    s.ask("release.threshold.max", "release threshold max", [&] { return ask_threshold(s, UINT64_MAX); });
    s.ask("release.trim", "trim to 0 of what is known to be complete", [&] { return ask_trim(s); });
    s.ask("release.trim.pending", "trim while the kernel before the free runs", [&] { return ask_trim_pending(s); });
    s.ask("release.free", "memory after free", [&] { return ask_comes_back(s, [&] { take_raw(s.dev); }); });
    s.ask("release.pool", "memory after pool destroy", [&] { return ask_comes_back(s, [&] { take_pool(s.dev); }); });
    s.ask("release.vmm", "memory after unmap of a released handle",
          [&] { return ask_comes_back(s, [&] { take_virtual(s.dev); }); });
}

}  // namespace vrambench::probing
