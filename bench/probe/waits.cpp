// Does a call return while a kernel runs, or only when it has ended?

#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

#include <algorithm>
#include <memory>

namespace vrambench::probing {

namespace {

constexpr std::int64_t kernel_ps = 20 * millisecond_ps;
constexpr std::int64_t long_call_ps = 2 * millisecond_ps;    // longer than any of these calls takes by itself
constexpr stream_id busy = 1;

struct timing {
    std::int64_t call_ps = 0;
    bool waited = false;                     ///< the kernel had ended when the call returned
};

/// Makes a call while a kernel of 20 ms runs on the stream `busy`. What is left of the kernel after the call shows whether the
/// call waited for it, whatever the device can tell of itself.
template <class F> timing time_behind_kernel(device& dev, F call)
{
    dev.sync_device();
    dev.launch(busy, kernel_ps, {});
    for (int i = 0; i < 3; ++i) dev.query_memory();    // some 20 us, in which the kernel begins
    const std::int64_t begin = dev.clock().now_ps();
    call();
    const std::int64_t end = dev.clock().now_ps();
    dev.sync_device();
    const std::int64_t rest_ps = dev.clock().now_ps() - end;
    return {end - begin, rest_ps < kernel_ps / 20 && end - begin > kernel_ps / 2};
}

std::string time_text(std::int64_t ps) { return human_time(static_cast<double>(ps) / 1000); }

/// The verdict over several tries: what most of them showed.
answer judge(std::vector<timing> tries)
{
    const auto waits = std::count_if(tries.begin(), tries.end(), [](const timing& t) { return t.waited; });
    std::sort(tries.begin(), tries.end(), [](const timing& a, const timing& b) { return a.call_ps < b.call_ps; });
    const std::int64_t median = tries[tries.size() / 2].call_ps;
    std::string evidence = "back after " + time_text(median) + " of a kernel of 20 ms, longest " + time_text(tries.back().call_ps);
    if (waits != 0 && waits != static_cast<std::ptrdiff_t>(tries.size()))
        evidence += "; waited in " + std::to_string(waits) + " of " + std::to_string(tries.size());
    if (2 * waits > static_cast<std::ptrdiff_t>(tries.size())) return {"waits for the kernel", level::costly, evidence};
    if (median > long_call_ps) return {"waits for the driver", level::costly, evidence};
    return {"does not wait", level::fine, evidence};
}

/// One call with what comes before and after it, outside the time. The first try is not counted: it may pay for being it.
template <class Before, class Call, class After>
answer ask_call(session& s, std::uint64_t bytes, Before before, Call call, After after)
{
    need_times(s.dev);
    std::vector<timing> tries;
    const int n = s.quick ? 3 : 7;
    for (int i = 0; i <= n; ++i) {
        if (bytes >= 16 * MiB) rest(s.dev, bytes);
        before();
        const timing t = time_behind_kernel(s.dev, call);
        after();
        if (i > 0) tries.push_back(t);
    }
    return judge(std::move(tries));
}

device_ptr obtained(device_ptr p, std::uint64_t bytes)
{
    if (!p) throw too_little_memory("no " + human_size(bytes) + " could be had");
    return p;
}

void ask_raw(session& s, const char* size_name, std::uint64_t bytes)
{
    device& dev = s.dev;
    const std::string of = std::string(" of ") + exact_size(bytes);
    device_ptr p = 0;
    const auto take = [&] { p = obtained(dev.malloc(bytes), bytes); };
    const auto give = [&] { dev.free(p); };
    s.ask(std::string("wait.malloc.") + size_name, "malloc" + of, [&] { return ask_call(s, bytes, [] {}, take, give); });
    s.ask(std::string("wait.free.") + size_name, "free" + of, [&] { return ask_call(s, bytes, take, give, [] {}); });
}

/// From memory that the pool has: a hit.
void ask_pool_hits(session& s, const char* where, stream_id stream)
{
    constexpr std::uint64_t bytes = 16 * MiB;
    s.ask(std::string("wait.malloc_async.") + where, std::string("malloc_async, a hit, kernel on the ") + where + " stream", [&] {
        own_pool pool(s.dev, {});
        pool.give(pool.take(bytes, stream), stream);
        device_ptr p = 0;
        return ask_call(s, 0, [] {}, [&] { p = pool.take(bytes, stream); }, [&] { pool.give(p, stream); });
    });
    s.ask(std::string("wait.free_async.") + where, std::string("free_async, kernel on the ") + where + " stream", [&] {
        own_pool pool(s.dev, {});
        device_ptr p = 0;
        return ask_call(s, 0, [&] { p = pool.take(bytes, stream); }, [&] { pool.give(p, stream); }, [] {});
    });
}

void ask_pools(session& s)
{
    ask_pool_hits(s, "same", busy);
    ask_pool_hits(s, "other", 0);
    constexpr std::uint64_t bytes = 64 * MiB;
    s.ask("wait.malloc_async.growing", "malloc_async that takes 64 MiB of the device", [&] {
        std::unique_ptr<own_pool> pool;
        return ask_call(s, bytes, [&] { pool = std::make_unique<own_pool>(s.dev, pool_settings{}); }, [&] { pool->take(bytes); },
                        [&] { pool.reset(); });
    });
    s.ask("wait.trim", "trim of a pool with 64 MiB that are unused", [&] {
        own_pool pool(s.dev, {});
        return ask_call(s, bytes, [&] { pool.give(pool.take(bytes)), s.dev.sync_device(); }, [&] { s.dev.trim_pool(pool.id(), 0); },
                        [] {});
    });
}

/// A handle of 64 MiB and where it is mapped.
struct handle_scene {
    device& dev;
    std::uint64_t bytes;
    device_ptr base;
    vmm_handle handle = 0;

    explicit handle_scene(device& d)
        : dev(d), bytes(round_up(64 * MiB, std::max<std::uint64_t>(d.info().vmm_granularity, 1))), base(d.reserve(bytes))
    {
        if (!base) throw device_error(driver_call::reserve, 0, "refused", human_size(bytes) + " of addresses");
    }
    ~handle_scene()
    {
        quietly([&] { dev.unreserve(base, bytes); });
    }
    handle_scene(const handle_scene&) = delete;
    void create() { handle = obtained(dev.create(bytes), bytes); }
    void map() { dev.map(base, bytes, handle); }
    void allow() { dev.set_access(base, bytes); }
    void unmap() { dev.unmap(base, bytes); }
    void release() { dev.release(handle); }
};

void ask_virtual(session& s)
{
    const auto ask = [&](const char* call, auto before, auto timed, auto after) {
        s.ask(std::string("wait.") + call, std::string(call) + " of a handle of 64 MiB", [&] {
            if (!s.dev.info().vmm_granularity) throw unsupported_error("no virtual memory management");
            handle_scene h(s.dev);
            return ask_call(s, h.bytes, [&] { before(h); }, [&] { timed(h); }, [&] { after(h); });
        });
    };
    using scene = handle_scene;
    ask("create", [](scene&) {}, [](scene& h) { h.create(); }, [](scene& h) { h.release(); });
    ask("map", [](scene& h) { h.create(); }, [](scene& h) { h.map(); }, [](scene& h) { h.unmap(), h.release(); });
    ask("set_access", [](scene& h) { h.create(), h.map(); }, [](scene& h) { h.allow(); }, [](scene& h) { h.unmap(), h.release(); });
    ask("unmap", [](scene& h) { h.create(), h.map(), h.allow(); }, [](scene& h) { h.unmap(); }, [](scene& h) { h.release(); });
    ask("release", [](scene& h) { h.create(), h.map(), h.allow(), h.unmap(); }, [](scene& h) { h.release(); }, [](scene&) {});
}

}  // namespace

void probe_waits(session& s)
{
    ask_raw(s, "small", 4 * KiB);
    ask_raw(s, "large", 64 * MiB);
    ask_pools(s);
    ask_virtual(s);
    s.ask("wait.memory_info", "memory_info", [&] {
        return ask_call(s, 0, [] {}, [&] { s.dev.query_memory(); }, [] {});
    });
}

}  // namespace vrambench::probing
