#include "bench/costs/cost_probe.hpp"
#include "bench/costs/held_memory.hpp"
#include "bench/costs/load.hpp"

#include "spec/units.hpp"

namespace vrambench::costs {

namespace {

/// What a call works on, and what has to be made before it.
struct subject {
    device& dev;
    std::uint64_t bytes = 0;
    device_ptr base = 0;                     ///< reserved addresses
    device_ptr block = 0;
    vmm_handle handle = 0;

    bool take() { return (block = dev.malloc(bytes)) != 0; }
    void give() { dev.free(block); }
    bool create() { return (handle = dev.create(bytes)) != 0; }
    void map() { dev.map(base, bytes, handle); }
    void allow() { dev.set_access(base, bytes); }
    void unmap() { dev.unmap(base, bytes); }
    void release() { dev.release(handle); }
};

/// A call with what comes before and after it. `before` is false when out of memory, and so is `call` where it obtains.
struct timed_call {
    const char* name;
    bool is_virtual;
    bool (*before)(subject&);
    bool (*call)(subject&);
    void (*after)(subject&);
};

constexpr timed_call calls[] = {
    {"malloc", false, [](subject&) { return true; }, [](subject& s) { return s.take(); }, [](subject& s) { s.give(); }},
    {"free", false, [](subject& s) { return s.take(); }, [](subject& s) { return s.give(), true; }, [](subject&) {}},
    {"create", true, [](subject&) { return true; }, [](subject& s) { return s.create(); }, [](subject& s) { s.release(); }},
    {"map", true, [](subject& s) { return s.create(); }, [](subject& s) { return s.map(), true; },
     [](subject& s) { s.unmap(), s.release(); }},
    {"set_access", true, [](subject& s) { return s.create() && (s.map(), true); }, [](subject& s) { return s.allow(), true; },
     [](subject& s) { s.unmap(), s.release(); }},
    {"unmap", true, [](subject& s) { return s.create() && (s.map(), s.allow(), true); }, [](subject& s) { return s.unmap(), true; },
     [](subject& s) { s.release(); }},
    {"release", true, [](subject& s) { return s.create() && (s.map(), s.allow(), s.unmap(), true); },
     [](subject& s) { return s.release(), true; }, [](subject&) {}},
};

void time_idle(cost_probe& p, const timed_call& c, subject s)
{
    samples times;
    for (std::uint32_t i = 0; i <= p.repetitions(s.bytes); ++i) {
        p.rest(s.bytes);
        if (!c.before(s)) break;
        bool done = false;
        const std::int64_t ps = p.watch.time([&] { done = c.call(s); });
        if (!done) break;
        c.after(s);
        if (i > 0) times.push_back(ps);    // the first one may grow
    }
    p.report.add({c.name, situation::idle, s.bytes}, times);
}

/// Whether the call mostly waited for the kernels; what it waited is not in its cost.
bool time_loaded(cost_probe& p, const timed_call& c, subject s)
{
    const std::int64_t expected = p.report.at({c.name, situation::idle, s.bytes});
    const std::int64_t hold = std::max<std::int64_t>(2'000'000'000, 4 * expected);
    samples times;
    std::size_t waits = 0;
    p.dev.reset_activity();    // matches the device's timer to the host's anew
    for (std::uint32_t i = 0; i < std::max(p.repetitions(s.bytes) / 2, 3u); ++i) {
        p.rest(s.bytes);
        if (!c.before(s)) break;
        bool done = false;
        const auto t = time_under_load(p, hold, [&] { done = c.call(s); });
        if (!done) break;
        c.after(s);
        if (!t) continue;
        times.push_back(t->ps);
        waits += t->waited;
    }
    p.report.add({c.name, situation::loaded, s.bytes}, times);
    return 2 * waits > times.size();
}

/// A handle that is released while its memory stays mapped, as allocators do.
void time_release_of_mapped(cost_probe& p, subject s)
{
    samples times;
    for (std::uint32_t i = 0; i < p.repetitions(s.bytes); ++i) {
        if (!s.create()) return;
        s.map();
        times.push_back(p.watch.time([&] { s.release(); }));
        s.allow();
        s.unmap();
    }
    p.report.add("release_mapped", times);
}

/// Addresses for the engine's pool: 32 GiB.
void time_reservation(cost_probe& p)
{
    constexpr std::uint64_t bytes = 32 * GiB;
    samples reserve, unreserve;
    for (std::uint32_t i = 0; i < p.repetitions(0); ++i) {
        device_ptr at = 0;
        const std::int64_t ps = p.watch.time([&] { at = p.dev.reserve(bytes); });
        if (!at) throw unsupported_error("no 32 GiB of addresses could be reserved");
        reserve.push_back(ps);
        unreserve.push_back(p.watch.time([&] { p.dev.unreserve(at, bytes); }));
    }
    p.report.add("reserve", reserve);
    p.report.add("unreserve", unreserve);
}

/// The largest power of two that can be reserved at once.
std::uint64_t address_space(device& dev, std::uint64_t granularity)
{
    for (std::uint64_t bytes = std::uint64_t{1} << 47; bytes >= granularity; bytes /= 2) {
        try {
            if (const device_ptr at = dev.reserve(bytes)) {
                dev.unreserve(at, bytes);
                return bytes;
            }
        } catch (const device_error&) {
            continue;    // a driver may call it an invalid value
        }
    }
    return 0;
}

void measure_call(cost_probe& p, const timed_call& c, device_ptr base)
{
    const std::uint64_t granularity = p.dev.info().vmm_granularity;
    std::size_t sizes = 0, waited = 0;
    for (const auto bytes : p.sizes) {
        if (c.is_virtual && (!granularity || bytes % granularity)) continue;
        held_memory neighbours(p.dev);
        if (!c.is_virtual && bytes <= p.dev.info().shared_up_to) neighbours.fill_shared(bytes);
        const subject s{p.dev, bytes, base};
        time_idle(p, c, s);
        waited += time_loaded(p, c, s);
        ++sizes;
    }
    if (std::string_view(c.name) == "free")
        p.report.facts["free_waits"] = 2 * waited > sizes;
    else if (waited)
        p.report.notes.push_back(std::string(c.name) + " waited for the kernels at " + std::to_string(waited) + " of " +
                                 std::to_string(sizes) + " sizes; the wait is taken off");
}

}  // namespace

void measure_calls(cost_probe& p)
{
    const std::uint64_t granularity = p.dev.info().vmm_granularity;
    const std::uint64_t longest = p.sizes.empty() ? 0 : p.sizes.back();
    const device_ptr base = granularity && longest % granularity == 0 ? p.dev.reserve(longest) : 0;
    for (const auto& c : calls)
        if (!c.is_virtual || base) measure_call(p, c, base);
    if (!base) return;
    time_release_of_mapped(p, {p.dev, granularity, base});
    p.dev.unreserve(base, longest);
    time_reservation(p);
    p.report.facts["address_space"] = address_space(p.dev, granularity);
}

}  // namespace vrambench::costs
