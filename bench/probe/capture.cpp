// Which calls may be made while a stream captures, and what they answer.

#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

#include <optional>

namespace vrambench::probing {

namespace {

constexpr stream_id capturing = 1;

/// The call inside a capture of its own. A refused call may end the capture: that is the call's verdict, not an error.
template <class Call> answer ask_call(session& s, Call call)
{
    device& dev = s.dev;
    dev.sync_device();
    dev.capture_begin(capturing);
    dev.launch(capturing, 0, {});    // a graph with nothing in it is a case of its own
    std::string refusal, broken;
    try {
        call();
    } catch (const device_error& e) {
        refusal = e.name() + " (" + std::to_string(e.code()) + ")";
    } catch (const unsupported_error&) {
        quietly([&] { dev.capture_end(capturing, 0); });
        throw;
    }
    try {
        dev.capture_end(capturing, 0);
    } catch (const device_error& e) {
        broken = e.name() + " (" + std::to_string(e.code()) + ")";
    }
    if (!refusal.empty())
        return {"refused", level::fine, refusal + (broken.empty() ? "; the capture goes on" : "; ends the capture: " + broken)};
    if (!broken.empty()) return {"ends the capture", level::costly, broken};
    return {"legal", level::fine, "the capture goes on"};
}

void ask_pool_calls(session& s)
{
    device& dev = s.dev;
    s.ask("capture.malloc_async", "malloc_async and free_async on the capturing stream", [&] {
        own_pool pool(dev, {});
        return ask_call(s, [&] {
            const device_ptr p = dev.malloc_async(4 * MiB, pool.id(), capturing);
            if (p) dev.free_async(p, capturing);
        });
    });
    s.ask("capture.malloc_async.other", "malloc_async on another stream", [&] {
        own_pool pool(dev, {});
        device_ptr p = 0;
        const answer a = ask_call(s, [&] { p = dev.malloc_async(4 * MiB, pool.id(), 0); });
        if (p) dev.free_async(p, 0);
        return a;
    });
    s.ask("capture.trim", "trim", [&] {
        own_pool pool(dev, {});
        return ask_call(s, [&] { dev.trim_pool(pool.id(), 0); });
    });
}

void ask_virtual_calls(session& s)
{
    device& dev = s.dev;
    s.ask("capture.create", "create", [&] {
        if (!dev.info().vmm_granularity) throw unsupported_error("no virtual memory management");
        vmm_handle h = 0;
        const answer a = ask_call(s, [&] { h = dev.create(dev.info().vmm_granularity); });
        if (h) dev.release(h);
        return a;
    });
    s.ask("capture.grow", "map and set_access", [&] {
        const std::uint64_t unit = dev.info().vmm_granularity;
        if (!unit) throw unsupported_error("no virtual memory management");
        const vmm_handle h = dev.create(unit);
        if (!h) throw too_little_memory("no handle of " + human_size(unit) + " could be had");
        const device_ptr base = dev.reserve(unit);
        bool mapped = false;
        const answer a = ask_call(s, [&] { dev.map(base, unit, h), mapped = true, dev.set_access(base, unit); });
        if (mapped) dev.unmap(base, unit);
        dev.release(h);
        dev.unreserve(base, unit);
        return a;
    });
    s.ask("capture.unmap", "unmap", [&] {
        const std::uint64_t unit = dev.info().vmm_granularity;
        if (!unit) throw unsupported_error("no virtual memory management");
        mapped_range range(dev, unit);
        range.grow(unit);
        return ask_call(s, [&] { range.drop(0); });
    });
}

}  // namespace

void probe_capture(session& s)
{
    device& dev = s.dev;
    s.ask("capture.launch", "a kernel on the capturing stream", [&] { return ask_call(s, [&] { dev.launch(capturing, 0, {}); }); });
    s.ask("capture.malloc", "malloc", [&] {
        device_ptr p = 0;
        const answer a = ask_call(s, [&] { p = dev.malloc(4 * MiB); });
        if (p) dev.free(p);
        return a;
    });
    s.ask("capture.free", "free", [&] {
        const device_ptr p = dev.malloc(4 * MiB);
        if (!p) throw too_little_memory("no 4 MiB could be had");
        bool freed = false;
        const answer a = ask_call(s, [&] { dev.free(p), freed = true; });
        if (!freed) dev.free(p);
        return a;
    });
    ask_pool_calls(s);
    ask_virtual_calls(s);
    s.ask("capture.sync", "a synchronisation of another stream", [&] { return ask_call(s, [&] { dev.sync_stream(0); }); });
    s.ask("capture.memory_info", "memory_info", [&] { return ask_call(s, [&] { dev.query_memory(); }); });
}

}  // namespace vrambench::probing
