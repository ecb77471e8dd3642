// The first use of a pool in a process: on some cards it is said never to return, or to end the process.

#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

namespace vrambench::probing {

void probe_pools(session& s)
{
    s.ask("pools.first-call", "the first use of a pool in a process", [&]() -> answer {
        if (!s.dev.info().has_pools) throw unsupported_error("no stream-ordered memory pools");
        constexpr std::uint64_t bytes = MiB;
        const std::int64_t begin = s.dev.clock().now_ps();
        own_pool pool(s.dev, {});
        watched_blocks blocks(s.dev);
        const device_ptr p = pool.try_take(bytes);
        if (!p) return {"is refused", level::broken, "1 MiB asked for, " + human_size(s.dev.query_memory().free_bytes) + " free"};
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
