// Does memory hold what kernels wrote: fresh, reused and mapped again, on several streams, with both thresholds. A block's
// pattern names its owner, so that a wrong word says whose it is.

#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

#include <deque>

namespace vrambench::probing {

namespace {

constexpr std::uint64_t sizes[] = {64 * KiB, 3 * MiB, 512 * KiB, 20 * MiB, MiB + 512, 40 * MiB, 8 * MiB};
constexpr std::int64_t kernel_ps = 20'000'000;    // 20 us

struct held_block {
    device_ptr pointer;
    std::uint32_t number;
};

answer judge(watched_blocks& blocks, const std::string& what)
{
    const std::uint64_t wrong = blocks.wrong();
    if (wrong == 0) return {"intact", level::fine, what};
    return {"corrupted", level::broken, std::to_string(wrong) + " wrong in " + what + ": " + blocks.first_wrong()};
}

/// Every stream takes and frees blocks in turn, few alive at a time, without any order between streams; now and then the
/// device is synchronised, where a pool with threshold 0 gives memory back and has to take new memory after it.
answer ask_pool(session& s, std::uint32_t streams, std::uint64_t threshold)
{
    device& dev = s.dev;
    s.need(2 * GiB);
    const int rounds = s.quick ? 60 : 400;
    own_pool pool(dev, {.threshold = threshold});
    watched_blocks blocks(dev);
    std::vector<std::deque<held_block>> held(streams);
    const auto release = [&](stream_id stream) {
        const held_block b = held[stream].front();
        held[stream].pop_front();
        blocks.verify(b.number, stream, kernel_ps);
        blocks.drop(b.number, stream);
        pool.give(b.pointer, stream);
    };
    for (int round = 0; round < rounds; ++round) {
        for (stream_id stream = 0; stream < streams; ++stream) {
            const std::uint64_t bytes = sizes[(static_cast<std::uint64_t>(round) * streams + stream * 3) % std::size(sizes)];
            const device_ptr p = pool.take(bytes, stream);
            held[stream].push_back({p, blocks.add(p, bytes, stream)});
            blocks.write(held[stream].back().number, stream, kernel_ps);
            if (held[stream].size() > 3) release(stream);
        }
        if (round % 8 == 7) dev.sync_device();
    }
    for (stream_id stream = 0; stream < streams; ++stream)
        while (!held[stream].empty()) release(stream);
    return judge(blocks, std::to_string(rounds * static_cast<int>(streams)) + " blocks");
}

/// Blocks of a pool, written by a kernel, copied into another block by the driver, and verified there.
answer ask_copies(session& s, std::uint64_t threshold)
{
    device& dev = s.dev;
    s.need(GiB);
    const int rounds = s.quick ? 20 : 100;
    own_pool pool(dev, {.threshold = threshold});
    watched_blocks blocks(dev);
    for (int round = 0; round < rounds; ++round) {
        const stream_id stream = static_cast<stream_id>(round) % 4;
        const std::uint64_t bytes = sizes[static_cast<std::size_t>(round) % std::size(sizes)];
        const device_ptr from = pool.take(bytes, stream), to = pool.take(bytes, stream);
        const std::uint32_t b = blocks.add(from, bytes, stream);
        blocks.write(b, stream, kernel_ps);
        blocks.copy(b, to, stream);
        pool.give(from, stream);
        blocks.verify(b, stream, kernel_ps);
        blocks.drop(b, stream);
        pool.give(to, stream);
    }
    return judge(blocks, std::to_string(rounds) + " copies");
}

answer ask_raw(session& s)
{
    device& dev = s.dev;
    s.need(GiB);
    const int rounds = s.quick ? 40 : 200;
    watched_blocks blocks(dev);
    std::deque<held_block> held;
    const auto release = [&] {
        blocks.verify(held.front().number);
        dev.sync_device();
        blocks.drop(held.front().number);
        dev.free(held.front().pointer);
        held.pop_front();
    };
    for (int round = 0; round < rounds; ++round) {
        const std::uint64_t bytes = sizes[static_cast<std::size_t>(round) % std::size(sizes)];
        const device_ptr p = dev.malloc(bytes);
        if (!p) throw too_little_memory("no " + human_size(bytes) + " could be had");
        held.push_back({p, blocks.add(p, bytes)});
        blocks.write(held.back().number);
        if (held.size() > 6) release();
    }
    while (!held.empty()) release();
    return judge(blocks, std::to_string(rounds) + " blocks");
}

/// A range that shrinks and grows as a stack does: the addresses stay, the memory behind them is another each time.
answer ask_remapped(session& s)
{
    device& dev = s.dev;
    const std::uint64_t granularity = dev.info().vmm_granularity;
    if (!granularity) throw unsupported_error("no virtual memory management");
    const std::uint64_t unit = round_up(8 * MiB, granularity);
    const int rounds = s.quick ? 20 : 100;
    s.need(GiB);
    watched_blocks blocks(dev);
    for (int round = 0; round < rounds; ++round) {
        mapped_range range(dev, 8 * unit);
        std::vector<std::uint32_t> written;
        for (int i = 0; i <= round % 8; ++i) {
            range.grow(unit);
            written.push_back(blocks.add(range.end() - unit, unit));
            blocks.write(written.back());
        }
        for (const auto b : written) blocks.verify(b);
        dev.sync_device();
        for (const auto b : written) blocks.drop(b);
    }
    return judge(blocks, std::to_string(rounds) + " ranges of 8 MiB to 64 MiB");
}

}  // namespace

void probe_integrity(session& s)
{
    s.ask("integrity.malloc", "blocks of malloc, fresh and had before", [&] { return ask_raw(s); });
    for (const std::uint32_t streams : {1u, 2u, 4u})
        for (const auto& [name, threshold] : {std::pair{"0", std::uint64_t{0}}, std::pair{"max", UINT64_MAX}})
            s.ask("integrity.pool." + std::to_string(streams) + "." + name,
                  "a pool's blocks, " + std::to_string(streams) + (streams == 1 ? " stream" : " streams") + ", threshold " + name,
                  [&] { return ask_pool(s, streams, threshold); });
    s.ask("integrity.copy.0", "a pool's blocks copied by the driver, threshold 0", [&] { return ask_copies(s, 0); });
    s.ask("integrity.copy.max", "a pool's blocks copied by the driver, threshold max", [&] { return ask_copies(s, UINT64_MAX); });
    s.ask("integrity.vmm", "ranges mapped again and again", [&] { return ask_remapped(s); });
}

}  // namespace vrambench::probing
