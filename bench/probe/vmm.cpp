// Virtual memory as an engine's pool uses it: reservations that grow, with access set on the new tail alone.

#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

#include <memory>
#include <span>

namespace vrambench::probing {

namespace {

std::uint64_t unit_of(device& dev)
{
    const std::uint64_t granularity = dev.info().vmm_granularity;
    if (!granularity) throw unsupported_error("no virtual memory management");
    return round_up(2 * MiB, granularity);
}

/// Grows the ranges in turn. Each step's tail is written at once, and everything is verified in the end, so that a mapping
/// that is moved or lost by a later one shows.
answer grow_in_turn(session& s, std::uint64_t unit, int ranges, int steps)
{
    device& dev = s.dev;
    s.need(static_cast<std::uint64_t>(ranges) * steps * (steps + 1) / 2 * unit + 64 * MiB);
    std::vector<std::unique_ptr<mapped_range>> grown;
    for (int r = 0; r < ranges; ++r) grown.push_back(std::make_unique<mapped_range>(dev, 8 * GiB));
    watched_blocks blocks(dev);
    std::vector<std::uint32_t> written;
    for (int step = 1; step <= steps; ++step)
        for (int r = 0; r < ranges; ++r) {
            const device_ptr tail = grown[r]->end();
            const std::uint64_t bytes = unit * static_cast<std::uint64_t>(step);
            const auto failed = [&](const std::string& why) {
                return answer{"growth fails", level::broken, "step " + std::to_string(step) + " of " + std::to_string(steps) +
                              ", reservation " + std::to_string(r + 1) + " of " + std::to_string(ranges) + ": " + why};
            };
            try {
                grown[r]->grow(bytes);
            } catch (const device_error& e) {
                return failed(e.what());
            } catch (const too_little_memory& e) {    // with memory to spare
                return failed(e.what());
            }
            written.push_back(blocks.add(tail, bytes));
            blocks.write(written.back());
        }
    for (const auto b : written) blocks.verify(b);
    const std::uint64_t wrong = blocks.wrong();
    for (const auto b : written) blocks.drop(b);
    if (wrong) return {"corrupted", level::broken, blocks.first_wrong()};
    return {"works", level::fine, std::to_string(ranges * steps) + " handles of " + human_size(unit) + " to " +
            human_size(unit * static_cast<std::uint64_t>(steps)) + " mapped, written and verified"};
}

/// A kernel runs on one handle while its neighbour is unmapped.
answer unmap_beside_kernel(session& s)
{
    device& dev = s.dev;
    const std::uint64_t unit = unit_of(dev);
    watched_blocks blocks(dev);
    mapped_range range(dev, GiB);
    for (int i = 0; i < 3; ++i) range.grow(unit);
    const std::uint32_t below = blocks.add(range.base(), unit), above = blocks.add(range.base() + 2 * unit, unit);
    blocks.write(below), blocks.write(above);
    for (const auto b : {below, above}) blocks.verify(b, 0, 5 * millisecond_ps);
    range.drop(unit);
    for (const auto b : {below, above}) blocks.verify(b), blocks.write(b), blocks.verify(b);
    const std::uint64_t wrong = blocks.wrong();
    for (const auto b : {below, above}) blocks.drop(b);
    if (wrong) return {"breaks its neighbours", level::broken, blocks.first_wrong()};
    return {"works", level::fine, "the handle between two was unmapped under kernels of 5 ms on both sides"};
}

/// A handle that is kept has its contents wherever it is mapped.
answer map_kept_handle(session& s)
{
    device& dev = s.dev;
    const std::uint64_t unit = unit_of(dev);
    const device_ptr base = dev.reserve(4 * unit);
    if (!base) throw device_error(driver_call::reserve, 0, "refused", human_size(4 * unit) + " of addresses");
    const vmm_handle first = dev.create(unit), second = dev.create(unit);
    if (!first || !second) throw too_little_memory("no two handles of " + human_size(unit) + " could be had");
    watched_blocks blocks(dev);
    const auto map = [&](device_ptr at, vmm_handle h) { dev.map(at, unit, h), dev.set_access(at, unit); };
    map(base, first), map(base + unit, second);
    const std::uint32_t a = blocks.add(base, unit), b = blocks.add(base + unit, unit);
    blocks.write(a), blocks.write(b);
    dev.sync_device();
    blocks.drop(a), blocks.drop(b);
    dev.unmap(base, unit), dev.unmap(base + unit, unit);
    map(base + 2 * unit, second), map(base + 3 * unit, first);
    blocks.moved(a, base + 3 * unit), blocks.moved(b, base + 2 * unit);
    blocks.verify(a), blocks.verify(b);
    const std::uint64_t wrong = blocks.wrong();
    blocks.drop(a), blocks.drop(b);
    dev.unmap(base + 2 * unit, unit), dev.unmap(base + 3 * unit, unit);
    dev.release(first), dev.release(second);
    dev.unreserve(base, 4 * unit);
    if (wrong) return {"holds other data", level::broken, blocks.first_wrong()};
    return {"holds its data", level::fine, "two handles of " + human_size(unit) + ", mapped again in other places"};
}

}  // namespace

void probe_vmm(session& s)
{
    const int steps = s.quick ? 8 : 24;
    s.ask("vmm.one-reservation", "one reservation grown, access set on the tail", [&] { return grow_in_turn(s, unit_of(s.dev), 1, steps); });
    s.ask("vmm.three-reservations", "three reservations grown in turn", [&] { return grow_in_turn(s, unit_of(s.dev), 3, steps / 2); });
    s.ask("vmm.granularity", "one reservation grown by the recommended granularity", [&] {
        unit_of(s.dev);    // throws where there is none
        return grow_in_turn(s, s.dev.info().vmm_granularity, 1, steps);
    });
    s.ask("vmm.unmap-neighbour", "unmap while kernels run on the pages beside it", [&] { return unmap_beside_kernel(s); });
    s.ask("vmm.kept-handle", "a kept handle mapped again elsewhere", [&] { return map_kept_handle(s); });
}

}  // namespace vrambench::probing
