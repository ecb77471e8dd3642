#include "bench/costs/cost_probe.hpp"
#include "bench/costs/held_memory.hpp"
#include "bench/costs/pool_scene.hpp"

#include "spec/units.hpp"

namespace vrambench::costs {

namespace {

/// Requests that cannot be met, by what is free: `about` bytes.
void time_refusals(cost_probe& p, std::uint64_t about)
{
    const std::uint64_t wanted = round_up(p.dev.query_memory().free_bytes + GiB, GiB);
    samples malloc, create;
    for (std::uint32_t i = 0; i < p.repetitions(256 * MiB); ++i)
        malloc.push_back(p.watch.time([&] {
            if (const device_ptr block = p.dev.malloc(wanted)) p.dev.free(block);
        }));
    p.report.add({"malloc", situation::refused, about}, malloc);
    if (!p.dev.info().vmm_granularity) return;
    for (std::uint32_t i = 0; i < p.repetitions(256 * MiB); ++i)
        create.push_back(p.watch.time([&] {
            if (const vmm_handle handle = p.dev.create(wanted)) p.dev.release(handle);
        }));
    p.report.add({"create", situation::refused, about}, create);
}

/// A request for `bytes` that were given back just before, beside little else that is free, against the same after a rest:
/// what it waits for them to be clean.
std::int64_t time_cleaning(cost_probe& p, std::uint64_t bytes)
{
    samples clean, at_once;
    for (std::uint32_t i = 0; i < p.repetitions(bytes); ++i) {
        for (samples* to : {&clean, &at_once}) {
            if (to == &clean) p.rest(2 * bytes);
            device_ptr block = 0;
            to->push_back(p.watch.time([&] { block = p.dev.malloc(bytes); }));
            if (!block) throw unsupported_error("too little memory to measure cleaning");
            p.dev.free(block);
        }
    }
    return median(at_once) - median(clean);
}

/// The least wait on a nearly full card, and how fast much memory is cleaned. Leaves little more than `much` free.
void measure_cleaning(cost_probe& p, held_memory& ballast, std::uint64_t much)
{
    constexpr std::int64_t noise_ps = 1'000'000'000;    // less is what the call itself varies by
    std::int64_t wait = 0;
    {
        held_memory most(p.dev);
        most.leave(420 * MiB);
        wait = time_cleaning(p, 300 * MiB);
    }
    p.rest(4 * much);
    if (wait < noise_ps) return;
    p.report.add("clean_wait", {wait});
    ballast.leave(much + much / 8);
    const std::int64_t took = time_cleaning(p, much);
    if (took < 2 * wait) throw unsupported_error("too little memory to see how fast it is cleaned");
    p.report.facts["clean_bytes_per_second"] = static_cast<std::uint64_t>(static_cast<__int128>(much) * 1'000'000'000'000 / took);
}

/// Fills the card block by block; the least that must then be kept back: with one byte less the block would have been served. 0
/// where no block is kept back.
template <class Take> std::uint64_t left_when_refused(cost_probe& p, std::uint64_t block, Take take)
{
    while (take(block)) {}
    const std::uint64_t left = p.dev.query_memory().free_bytes;
    return left < block ? 0 : left - block + 1;
}

void measure_margins(cost_probe& p, held_memory& ballast)
{
    const std::uint64_t block = std::max(p.dev.info().physical_block, held_memory::smallest);
    p.report.facts["raw_margin"] = left_when_refused(p, block, [&](std::uint64_t bytes) { return ballast.take(bytes); });
    const std::uint64_t granularity = p.dev.info().vmm_granularity;
    if (!granularity) return;
    ballast.give_back(64 * MiB);
    std::vector<vmm_handle> handles;
    p.report.facts["handle_margin"] = left_when_refused(p, granularity, [&](std::uint64_t bytes) {
        const vmm_handle h = p.dev.create(bytes);
        if (h) handles.push_back(h);
        return h != 0;
    });
    for (const auto h : handles) p.dev.release(h);
}

/// A request for more than there is leaves the chunks it got in the pool, unmapped: what follows only maps them.
void time_mapping(cost_probe& p)
{
    samples per_chunk, per_obtained;
    for (std::uint32_t i = 0; i < p.repetitions(256 * MiB); ++i) {
        p.rest(GiB);
        pool_scene s(p);
        s.take(s.chunk());
        const std::uint64_t before = s.chunks();
        device_ptr none = 0, one = 0, rest = 0;
        const std::int64_t refused = s.time_take(round_up(p.dev.query_memory().free_bytes + GiB, GiB), none);
        const std::uint64_t got = s.chunks() - before;
        if (none || got < 4) throw unsupported_error("the pool kept no chunks of a refused request");
        const std::int64_t first = s.time_take(s.chunk(), one);
        const std::int64_t others = s.time_take((got - 1) * s.chunk(), rest);
        if (!one || !rest) throw unsupported_error("the pool did not hand out the chunks of a refused request");
        per_chunk.push_back(slope(first, 1, others, got - 1));
        per_obtained.push_back(refused / static_cast<std::int64_t>(got));
    }
    p.report.add("pool.per_mapped_chunk", per_chunk);
    p.report.add("pool.refused_per_chunk", per_obtained);
}

/// On a card without room for a chunk: a refusal, and a request that is served from another, busy stream's block.
void time_exhausted_pool(cost_probe& p, held_memory& ballast, std::uint64_t left)
{
    constexpr std::int64_t busy_ps = 2'000'000'000;
    pool_scene s(p);
    device_ptr block = s.take(2 * s.chunk());
    ballast.leave(left);
    samples refused, internal;
    for (std::uint32_t i = 0; i < p.repetitions(0); ++i) {
        device_ptr none = 0;
        refused.push_back(s.time_take(4 * s.chunk(), none));
        if (none) throw unsupported_error("the pool could still grow");
    }
    for (std::uint32_t i = 0; i < p.repetitions(0); ++i) {
        p.dev.launch(1, busy_ps, {});
        s.give(block, 1);
        internal.push_back(s.time_take(2 * s.chunk(), block) - p.report.at({"pool.per_polled_block"}));
        p.dev.sync_device();
        if (!block) throw unsupported_error("the pool inserted no dependency");
    }
    p.report.add("pool.fail", refused);
    p.report.add("pool.internal_dependency", internal);
}

}  // namespace

void measure_full_card(cost_probe& p)
{
    held_memory ballast(p.dev);
    const std::uint64_t all = p.dev.query_memory().free_bytes;
    if (all < 2 * GiB) {
        p.report.notes.push_back("what happens on a full card was not measured: less than 2 GiB free");
        return;
    }
    p.attempt("refused calls on an empty card", [&] { time_refusals(p, all / GiB * GiB); });
    p.attempt("cleaning", [&] { measure_cleaning(p, ballast, all / 4 / GiB * GiB); });
    ballast.leave(GiB);
    p.attempt("refused calls beside 1 GiB", [&] { time_refusals(p, GiB); });
    if (p.dev.info().has_pools) {
        ballast.leave(9 * p.dev.info().pool_step + 16 * MiB);
        p.attempt("pool: per_mapped_chunk", [&] { time_mapping(p); });
        p.attempt("pool: fail and internal_dependency", [&] { time_exhausted_pool(p, ballast, 16 * MiB); });
    }
    ballast.give_back(100 * MiB);
    ballast.leave(100 * MiB);
    p.attempt("refused calls beside 100 MiB", [&] { time_refusals(p, 100 * MiB); });
    p.attempt("margins", [&] { measure_margins(p, ballast); });
}

}  // namespace vrambench::costs
