// When does a pool hand a freed block out again? Judged by addresses, while a kernel that uses the block runs or after it.

#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

namespace vrambench::probing {

namespace {

constexpr std::uint64_t bytes = 64 * MiB;
constexpr std::int64_t kernel_ps = 20 * millisecond_ps;

/// Whether a kernel of `kernel_ps`, launched before this, runs still. To be asked last: it waits for the stream.
bool still_ran(device& dev, stream_id stream)
{
    const std::int64_t begin = dev.clock().now_ps();
    dev.sync_stream(stream);
    return dev.clock().now_ps() - begin > kernel_ps / 4;
}

/// Both owners must find memory of their own: a pool that is out of it may make the second wait for the first, which is right.
own_pool pool_for_two(session& s, const pool_settings& settings = {})
{
    s.need(3 * bytes);
    return own_pool(s.dev, settings);
}

struct second_owner {
    bool same = false;                       ///< it got the first owner's memory
    bool kernel_ran = false;                 ///< while the first owner's kernel ran
};

/// A request on `stream` for what was freed: whether it gets it, and whether the kernel on `kernel_stream` ran then.
second_owner request(session& s, own_pool& pool, device_ptr freed, stream_id stream, stream_id kernel_stream)
{
    const device_ptr p = pool.try_take(bytes, stream);
    const bool same = p && p < freed + bytes && freed < p + bytes;
    const bool ran = still_ran(s.dev, kernel_stream);
    return {same, ran};
}

answer unsafe_or(const second_owner& o, const char* what, const char* otherwise)
{
    if (o.same && o.kernel_ran)
        return {"unsafe", level::broken, std::string("handed out again ") + what + ", under the running kernel"};
    if (o.same) return {"not told", level::open, "the kernel had ended too early to tell"};
    return {otherwise, level::fine, std::string("not handed out ") + what + " while the kernel ran"};
}

answer ask_same_stream(session& s)
{
    own_pool pool = pool_for_two(s);
    const device_ptr p = pool.take(bytes, 0);
    s.dev.launch(0, kernel_ps, {});
    pool.give(p, 0);
    const second_owner o = request(s, pool, p, 0, 0);
    if (o.same && o.kernel_ran) return {"at once", level::fine, "in stream order, while the kernel before the free ran"};
    if (o.same) return {"after a wait", level::costly, "the kernel before the free had ended"};
    return {"not at once", level::costly, "new memory was taken while the kernel before the free ran"};
}

answer ask_other_stream(session& s)
{
    own_pool pool = pool_for_two(s);
    const device_ptr p = pool.take(bytes, 0);
    s.dev.launch(0, kernel_ps, {});
    pool.give(p, 0);
    return unsafe_or(request(s, pool, p, 1, 0), "to another stream without an order", "not while it is used");
}

/// Allocated on one stream, ordered before another, used and freed there: the first knows nothing of the free.
answer ask_freed_elsewhere(session& s)
{
    own_pool pool = pool_for_two(s);
    const device_ptr p = pool.take(bytes, 0);
    s.dev.record(0, 0), s.dev.wait(0, 1);
    s.dev.launch(1, kernel_ps, {});
    pool.give(p, 1);
    return unsafe_or(request(s, pool, p, 0, 1), "to the stream that it was allocated on", "not while it is used");
}

answer ask_event(session& s)
{
    own_pool pool = pool_for_two(s, {.opportunistic = false});
    const device_ptr p = pool.take(bytes, 0);
    s.dev.launch(0, kernel_ps, {});
    pool.give(p, 0);
    s.dev.record(0, 0), s.dev.wait(0, 1);
    const second_owner o = request(s, pool, p, 1, 0);
    if (o.same) return {"follows events", level::fine, "to another stream that waits for an event behind the free"};
    return {"does not", level::costly, "new memory was taken though the stream waits for an event behind the free"};
}

answer ask_earlier_event(session& s)
{
    own_pool pool = pool_for_two(s);
    const device_ptr p = pool.take(bytes, 0);
    s.dev.record(0, 0);
    s.dev.launch(0, kernel_ps, {});
    pool.give(p, 0);
    s.dev.wait(0, 1);
    return unsafe_or(request(s, pool, p, 1, 0), "to a stream that waits for an event before the free", "not while it is used");
}

/// The kernel has ended, but nobody has synchronised.
answer ask_completed(session& s, bool opportunistic)
{
    own_pool pool = pool_for_two(s, {.opportunistic = opportunistic});
    const device_ptr p = pool.take(bytes, 0);
    s.dev.launch(0, millisecond_ps, {});
    pool.give(p, 0);
    pass_time(s.dev, 10 * millisecond_ps);
    const second_owner o = request(s, pool, p, 1, 0);
    const std::string evidence = "10 ms after a free behind a kernel of 1 ms, nothing synchronised";
    if (o.same != opportunistic) return {o.same ? "reused" : "not reused", level::costly, evidence};
    return {o.same ? "reused" : "not reused", level::fine, evidence};
}

/// A smaller request where a completed block is free: up to which ratio is the block used?
answer ask_window(session& s)
{
    constexpr int ratios[] = {100, 105, 110, 112, 115, 125, 150, 200, 400};    // percent
    constexpr std::uint64_t block = 256 * MiB;
    s.need(GiB);
    int largest = 0;
    std::string tried;
    for (const int ratio : ratios) {
        own_pool pool(s.dev, {});
        const device_ptr p = pool.take(block);
        pool.give(p);
        s.dev.sync_device();
        const device_ptr q = pool.take(block / static_cast<std::uint64_t>(ratio) * 100 / 512 * 512);
        const bool inside = q >= p && q < p + block;
        if (inside) largest = ratio;
        tried += (tried.empty() ? "" : ", ") + exact_number(ratio / 100.0) + (inside ? " reused" : " new");
    }
    const std::string evidence = "a block that is x times the request: " + tried;
    if (largest == ratios[std::size(ratios) - 1]) return {"any larger block", level::fine, evidence, {{"percent", 400}}};
    if (largest == 0) return {"not even an equal one", level::costly, evidence};
    return {"at most " + exact_number(largest / 100.0) + " times",
            level::costly,
            evidence,
            {{"percent", static_cast<std::uint64_t>(largest)}}};
}

/// Eight blocks, every other one freed: does a request of twice the size fit into the holes?
answer ask_remap(session& s)
{
    s.need(GiB);
    own_pool pool(s.dev, {});
    std::vector<device_ptr> blocks;
    for (int i = 0; i < 8; ++i) blocks.push_back(pool.take(bytes));
    for (int i = 0; i < 8; i += 2) pool.give(blocks[i]);
    s.dev.sync_device();
    const std::uint64_t before = pool.reserved(), free_before = s.dev.query_memory().free_bytes;
    pool.take(2 * bytes);
    const std::uint64_t after = pool.reserved(), free_after = s.dev.query_memory().free_bytes;
    const std::uint64_t lost = free_before > free_after ? free_before - free_after : 0;
    const std::string evidence = "128 MiB asked for, four holes of 64 MiB: reserved " + human_size(before) + " before, " +
                                 human_size(after) + " after, " + human_size(lost) + " less free on the device";
    if (lost > slack) return {"takes new memory", level::costly, evidence};
    return {"maps the holes together", level::fine, evidence};
}

}  // namespace

void probe_reuse(session& s)
{
    s.ask("reuse.same-stream", "a block freed on the same stream", [&] { return ask_same_stream(s); });
    s.ask("reuse.other-stream", "on another stream, no order between them", [&] { return ask_other_stream(s); });
    s.ask("reuse.freed-elsewhere", "on the stream that allocated it, freed on another", [&] { return ask_freed_elsewhere(s); });
    s.ask("reuse.event", "on another stream that waits for the free", [&] { return ask_event(s); });
    s.ask("reuse.earlier-event", "on another stream that waits for an event before the free", [&] { return ask_earlier_event(s); });
    s.ask("reuse.completed", "on another stream, completed, opportunistic reuse on", [&] { return ask_completed(s, true); });
    s.ask("reuse.completed.off", "the same, opportunistic reuse off", [&] { return ask_completed(s, false); });
    s.ask("reuse.window", "for a smaller request", [&] { return ask_window(s); });
    s.ask("reuse.remap", "for a larger request, out of several", [&] { return ask_remap(s); });
}

}  // namespace vrambench::probing
