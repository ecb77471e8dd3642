// The first use of a pool in a process: on some cards it is said never to return, or to end the process.

#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

namespace vrambench::probing {

namespace {

/// With less a refusal proves nothing: a pool takes memory in steps of its own, which no driver states (32 MiB on an H200).
constexpr std::uint64_t enough_bytes = 64 * MiB;

answer refused(device& dev, std::uint64_t bytes)
{
    const std::uint64_t free_bytes = dev.query_memory().free_bytes;
    const std::string seen = human_size(bytes) + " asked for, " + human_size(free_bytes) + " free";
    if (free_bytes < enough_bytes)
        throw too_little_memory(seen + ": refused, which tells nothing with less than " + human_size(enough_bytes));
    return {"is refused", level::broken, seen};
}

}  // namespace

void probe_pools(session& s)
{
    s.ask("pools.first-call", "the first use of a pool in a process", [&]() -> answer {
        if (!s.dev.info().has_pools) throw unsupported_error("no stream-ordered memory pools");
        constexpr std::uint64_t bytes = MiB;
        const std::int64_t begin = s.dev.clock().now_ps();
        own_pool pool(s.dev, {});
        watched_blocks blocks(s.dev);
        const device_ptr p = pool.try_take(bytes);
        if (!p) return refused(s.dev, bytes);
        const std::uint32_t b = blocks.add(p, bytes);
        blocks.write(b);
        blocks.verify(b);
        const std::uint64_t wrong = blocks.wrong();
        blocks.drop(b);
        pool.give(p);
        s.dev.sync_device();
        const std::string took = s.dev.info().times_known ? ", in " + human_time(static_cast<double>(s.dev.clock().now_ps() - begin) / 1000) : "";
        if (wrong) return {"corrupted", level::broken, blocks.first_wrong()};
        return {"works", level::fine, "a block of 1 MiB, written and verified" + took};
    });
}

}  // namespace vrambench::probing
