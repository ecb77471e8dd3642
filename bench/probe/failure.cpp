// Out of memory: does a call that fails keep anything, and does the device serve the next one?

#include "bench/costs/held_memory.hpp"
#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

#include <optional>

namespace vrambench::probing {

namespace {

constexpr std::uint64_t left_bytes = GiB, wanted_bytes = 2 * GiB;

std::uint64_t less(std::uint64_t before, std::uint64_t now) { return before > now ? before - now : 0; }

/// A small allocation of the same kind, written and verified. Nothing where it works, else what was seen.
std::string next_call(device& dev, device_ptr p, std::uint64_t bytes)
{
    if (!p) return "the next call, of " + human_size(bytes) + ", is refused too";
    watched_blocks blocks(dev);
    const std::uint32_t b = blocks.add(p, bytes);
    blocks.write(b), blocks.verify(b);
    const std::uint64_t wrong = blocks.wrong();
    blocks.drop(b);
    return wrong ? "the next block is corrupted: " + blocks.first_wrong() : "";
}

/// The device filled up to 1 GiB; `fail` asks for 2 GiB and returns whether it was refused, `next` asks for a little and
/// returns what was wrong with it, `give_back` may return what the failed call kept.
template <class Fail, class Next, class GiveBack> answer ask_failure(session& s, Fail fail, Next next, GiveBack give_back)
{
    device& dev = s.dev;
    s.need(left_bytes + 64 * MiB);
    costs::held_memory ballast(dev);
    ballast.leave(left_bytes);
    const std::uint64_t before = settled_free(dev);
    if (!fail())
        return {"not refused", level::broken, human_size(wanted_bytes) + " were given where " + human_size(before) + " are free"};
    const std::uint64_t kept = less(before, settled_free(dev));
    const std::string wrong = next();
    give_back();
    const std::uint64_t lost = less(before, settled_free(dev));
    std::string evidence = human_size(wanted_bytes) + " asked for, " + human_size(before) + " free: " + human_size(kept) + " kept";
    if (!wrong.empty()) return {"next call fails", level::broken, evidence + "; " + wrong};
    if (lost > slack) return {"memory is lost", level::broken, evidence + ", " + human_size(lost) + " stay away"};
    if (kept > slack) return {"kept until a trim", level::costly, evidence + ", none after a trim"};
    return {"keeps nothing", level::fine, evidence + "; the next call works"};
}

answer ask_malloc(session& s)
{
    device& dev = s.dev;
    const auto next = [&]() -> std::string {
        const device_ptr p = dev.malloc(4 * MiB);
        const std::string wrong = next_call(dev, p, 4 * MiB);
        if (p) dev.free(p);
        return wrong;
    };
    return ask_failure(s, [&] { return dev.malloc(wanted_bytes) == 0; }, next, [] {});
}

answer ask_pool(session& s, std::uint64_t threshold)
{
    device& dev = s.dev;
    own_pool pool(dev, {.threshold = threshold});
    const auto next = [&]() -> std::string {
        const device_ptr p = pool.try_take(4 * MiB);
        const std::string wrong = next_call(dev, p, 4 * MiB);
        if (p) pool.give(p);
        return wrong;
    };
    return ask_failure(s, [&] { return pool.try_take(wanted_bytes) == 0; }, next,
                       [&] { dev.sync_device(), dev.trim_pool(pool.id(), 0); });
}

answer ask_create(session& s)
{
    device& dev = s.dev;
    const std::uint64_t granularity = dev.info().vmm_granularity;
    if (!granularity) throw unsupported_error("no virtual memory management");
    const std::uint64_t bytes = round_up(4 * MiB, granularity);
    const auto next = [&]() -> std::string {
        mapped_range range(dev, bytes);
        range.grow(bytes);
        return next_call(dev, range.base(), bytes);
    };
    return ask_failure(s, [&] { return dev.create(round_up(wanted_bytes, granularity)) == 0; }, next, [] {});
}

}  // namespace

void probe_failure(session& s)
{
    s.ask("failure.malloc", "malloc that fails", [&] { return ask_malloc(s); });
    s.ask("failure.malloc_async.0", "malloc_async that fails, threshold 0", [&] { return ask_pool(s, 0); });
    s.ask("failure.malloc_async.max", "malloc_async that fails, threshold max", [&] { return ask_pool(s, UINT64_MAX); });
    s.ask("failure.create", "create that fails", [&] { return ask_create(s); });
}

}  // namespace vrambench::probing
