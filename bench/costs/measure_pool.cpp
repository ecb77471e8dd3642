#include "bench/costs/cost_probe.hpp"
#include "bench/costs/kernel_chain.hpp"
#include "bench/costs/pool_scene.hpp"

#include "spec/units.hpp"

#include <array>

namespace vrambench::costs {

namespace {

constexpr std::uint64_t block_bytes = MiB;
constexpr std::int64_t busy_ps = 3'000'000'000;

/// Blocks freed on their own stream and taken again from it, in changing sizes with a kernel between, as an engine does.
void time_own_hits(cost_probe& p)
{
    constexpr std::array<std::uint64_t, 8> sizes{64 * KiB, 3 * MiB, 256 * KiB, MiB, 128 * KiB, 2 * MiB, 512 * KiB, 4 * MiB};
    pool_scene s(p);
    s.give(s.take(s.chunk()));
    samples hit, free;
    for (std::uint32_t i = 0; i < 10 * p.repetitions(0); ++i) {
        device_ptr block = 0;
        hit.push_back(s.time_take(sizes[i % sizes.size()], block));
        p.dev.launch(0, 2'000'000, {});
        free.push_back(s.give(block));
    }
    p.report.add("pool.hit_own", hit);
    p.report.add("pool.free", free);
}

/// A block that a synchronisation has shown to be completed. The guard keeps it away from the open end of the pool.
void time_completed_hits(cost_probe& p)
{
    pool_scene s(p);
    device_ptr block = s.take(block_bytes);
    s.take(block_bytes);
    samples hit;
    for (std::uint32_t i = 0; i < 3 * p.repetitions(0); ++i) {
        s.give(block);
        p.dev.sync_stream(0);
        hit.push_back(s.time_take(block_bytes, block));
    }
    p.report.add("pool.hit_completed", hit);
}

/// A free block of stream 1, kept from the open end of the pool by the one behind it.
void leave_guarded_block(cost_probe& p, pool_scene& s)
{
    const device_ptr first = s.take(block_bytes, 1);
    s.take(block_bytes, 1);
    s.give(first, 1);
    p.dev.sync_device();
}

/// A block freed on another, idle stream: the driver sees by itself that it is completed.
void time_hits_by_time(cost_probe& p)
{
    pool_scene s(p);
    leave_guarded_block(p, s);
    samples hit;
    for (std::uint32_t i = 0; i < 3 * p.repetitions(0); ++i) {
        device_ptr block = s.take(block_bytes, 1);
        s.give(block, 1);
        hit.push_back(s.time_take(block_bytes, block));
        s.give(block);
        p.dev.sync_device();
    }
    p.report.add("pool.hit_seen_completed", hit);
}

/// A block freed on another, busy stream, with an event that orders the free before the request.
void time_hits_by_event(cost_probe& p)
{
    pool_scene s(p);
    leave_guarded_block(p, s);
    samples hit;
    for (std::uint32_t i = 0; i < 2 * p.repetitions(0); ++i) {
        device_ptr block = s.take(block_bytes, 1);
        p.dev.launch(1, busy_ps / 10, {});
        s.give(block, 1);
        p.dev.record(0, 1);
        p.dev.wait(0, 0);
        hit.push_back(s.time_take(block_bytes, block));
        s.give(block);
        p.dev.sync_device();
    }
    p.report.add("pool.hit_other_stream", hit);
}

/// The price of a pending block that a request looks at in vain, from requests that grow the pool beside none and beside
/// many of them, freed on a busy stream.
void time_polling(cost_probe& p)
{
    const std::uint64_t blocks = p.quick ? 64 : 512;
    constexpr std::uint64_t bytes = 4096;
    samples polled;
    for (std::uint32_t i = 0; i < std::max(p.repetitions(0) / 4, 3u); ++i) {
        pool_scene s(p);
        std::vector<device_ptr> pending;
        for (std::uint64_t k = 0; k < blocks; ++k) {
            pending.push_back(s.take(bytes, 1));
            s.take(bytes, 1);    // keeps them apart
        }
        s.take(s.chunk());
        device_ptr beside_none = 0, beside_many = 0;
        const std::int64_t none = s.time_take(s.chunk(), beside_none);
        p.dev.launch(1, 10 * busy_ps, {});
        for (const auto b : pending) s.give(b, 1);
        const std::int64_t many = s.time_take(s.chunk(), beside_many);
        p.dev.sync_device();
        polled.push_back(slope(none, 0, many, blocks));
    }
    p.report.add("pool.per_polled_block", polled);
}

/// Two neighbours freed on two idle streams, and a request that needs both.
void time_merged_hits(cost_probe& p)
{
    pool_scene s(p);
    const device_ptr both = s.take(2 * block_bytes);
    s.take(block_bytes);    // the guard
    s.give(both);
    p.dev.sync_device();
    samples hit;
    for (std::uint32_t i = 0; i < 2 * p.repetitions(0); ++i) {
        const device_ptr low = s.take(block_bytes, 0), high = s.take(block_bytes, 1);
        s.give(low, 0), s.give(high, 1);
        device_ptr block = 0;
        hit.push_back(s.time_take(2 * block_bytes, block) - 2 * p.report.at({"pool.per_polled_block"}));
        s.give(block);
        p.dev.sync_device();
    }
    p.report.add("pool.hit_merged", hit);
}

/// Few and many chunks.
struct counts {
    std::uint64_t few = 1, many = 1;
};
counts chunk_counts(cost_probe& p, std::uint64_t few)
{
    const std::uint64_t quarter = p.dev.query_memory().free_bytes / 4 / p.dev.info().pool_step;
    const std::uint64_t many = std::min<std::uint64_t>(p.quick ? 8 : 32, quarter);
    if (many < 2 * few) throw unsupported_error("too little memory to measure how a pool grows");
    return {few, many};
}

/// Growth by n chunks, their release at a synchronisation (threshold 0) or by a trim (no threshold).
struct growth_times {
    samples grow, release;
};
growth_times time_growth(cost_probe& p, std::uint64_t chunks, bool by_trim)
{
    growth_times t;
    pool_scene s(p, by_trim ? UINT64_MAX : 0);
    s.take(s.chunk());    // a pool's first chunk may cost more
    for (std::uint32_t i = 0; i < p.repetitions(chunks * s.chunk()); ++i) {
        p.rest(chunks * s.chunk());
        device_ptr block = 0;
        t.grow.push_back(s.time_take(chunks * s.chunk(), block));
        if (!block) throw unsupported_error("too little memory to measure how a pool grows");
        s.give(block);
        if (by_trim) p.dev.sync_stream(0);
        t.release.push_back(p.watch.time([&] { by_trim ? p.dev.trim_pool(s.pool(), 0) : p.dev.sync_stream(0); }));
    }
    return t;
}

void time_chunks(cost_probe& p)
{
    const counts n = chunk_counts(p, 1);
    const growth_times few = time_growth(p, n.few, false), many = time_growth(p, n.many, false);
    const growth_times few_trimmed = time_growth(p, n.few, true), many_trimmed = time_growth(p, n.many, true);
    const std::int64_t once = median(few.grow), per_chunk = slope(once, n.few, median(many.grow), n.many);
    p.report.add("pool.grow_per_chunk", {per_chunk});
    p.report.add("pool.map_call", {once - per_chunk * static_cast<std::int64_t>(n.few)});
    p.report.add("pool.per_released_chunk", {slope(median(few.release), n.few, median(many.release), n.many)});
    p.report.add("pool.per_trimmed_chunk", {slope(median(few_trimmed.release), n.few, median(many_trimmed.release), n.many)});
}

void time_idle_trim(cost_probe& p)
{
    pool_scene s(p);
    s.take(s.chunk());
    samples trim;
    for (std::uint32_t i = 0; i < p.repetitions(0); ++i) trim.push_back(p.watch.time([&] { p.dev.trim_pool(s.pool(), 0); }));
    p.report.add("pool.trim", trim);
}

/// A request for as many chunks as lie free and completed in single holes: they are unmapped and mapped anew.
std::int64_t time_remap_of(cost_probe& p, std::uint64_t chunks)
{
    samples times;
    for (std::uint32_t i = 0; i < std::max(p.repetitions(0) / 4, 3u); ++i) {
        pool_scene s(p);
        std::vector<device_ptr> holes;
        for (std::uint64_t k = 0; k < chunks; ++k) {
            holes.push_back(s.take(s.chunk()));
            s.take(s.chunk());
        }
        for (const auto h : holes) s.give(h);
        p.dev.sync_device();
        const std::uint64_t before = s.chunks();
        device_ptr block = 0;
        times.push_back(s.time_take(chunks * s.chunk(), block));
        if (!block || s.chunks() != before) throw unsupported_error("the pool took new memory instead of remapping its own");
    }
    return median(times);
}

void time_remap(cost_probe& p)
{
    const counts n = chunk_counts(p, 2);
    p.report.add("pool.remap_per_chunk", {slope(time_remap_of(p, n.few), n.few, time_remap_of(p, n.many / 2), n.many / 2)});
}

/// What a freed block delays the next kernel of its stream by, on the device.
void time_stream_gap(cost_probe& p)
{
    pool_scene s(p);
    s.give(s.take(block_bytes));
    const std::int64_t without = per_kernel(p, [] {});
    const std::int64_t with = per_kernel(p, [&] { s.give(s.take(block_bytes)); });
    p.report.add("pool.stream_gap", {with - without});
}

}  // namespace

void measure_pool(cost_probe& p)
{
    if (!p.dev.info().has_pools) {
        p.report.notes.push_back("the device has no stream-ordered pools");
        return;
    }
    p.attempt("pool: hit_own and free", [&] { time_own_hits(p); });
    p.attempt("pool: hit_completed", [&] { time_completed_hits(p); });
    p.attempt("pool: hit_seen_completed", [&] { time_hits_by_time(p); });
    p.attempt("pool: hit_other_stream", [&] { time_hits_by_event(p); });
    p.attempt("pool: per_polled_block", [&] { time_polling(p); });
    p.attempt("pool: hit_merged", [&] { time_merged_hits(p); });
    p.attempt("pool: trim", [&] { time_idle_trim(p); });
    p.attempt("pool: growth and release", [&] { time_chunks(p); });
    p.attempt("pool: remapping", [&] { time_remap(p); });
    p.attempt("pool: stream_gap", [&] { time_stream_gap(p); });
}

}  // namespace vrambench::costs
