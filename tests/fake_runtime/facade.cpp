// The runtimes' C calls that the project makes, for both vendors: the names header says GPU(Malloc) for cudaMalloc or hipMalloc,
// and includes the vendor's own declarations, so that a signature that is wrong does not compile.

#include FAKE_NAMES
#include "tests/fake_runtime/runtime.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

using vrambench::fake::invalid_value;
using vrambench::fake::refused;
using vrambench::fake::runtime;

namespace {

runtime& r() { return runtime::the(); }
template <class F> gpu_error call(const char* name, F body) { return static_cast<gpu_error>(r().call(name, body)); }
template <class F> gpu_error question(const char* name, F body) { return static_cast<gpu_error>(r().question(name, body)); }

// Handles are numbers; those that begin at 0 are told from null by adding one.
template <class T> std::uint64_t number(T handle) { return reinterpret_cast<std::uint64_t>(handle); }
template <class T> std::uint32_t index(T handle)
{
    if (!handle) throw refused{invalid_value};
    return static_cast<std::uint32_t>(number(handle) - 1);
}
template <class T> void put(T* where, std::uint64_t n) { *where = reinterpret_cast<T>(n); }

/// Memory that was asked for; none is out of memory, and may break a card that has that defect.
template <class T> void put_memory(T* where, std::uint64_t p)
{
    if (!p) {
        if (r().how().has("failure-sticks")) r().current().break_for_good(vrambench::fake::out_of_memory);
        throw refused{vrambench::fake::out_of_memory};
    }
    put(where, p);
}

constexpr std::size_t largest_fill = std::size_t{64} << 20;    // what is larger is only ever copied, which moves nothing here

}  // namespace

extern "C" {

// -- errors and devices

gpu_error GPU(GetLastError)() { return static_cast<gpu_error>(r().take_last_error()); }
const char* GPU(GetErrorName)(gpu_error code) { return code == 2 ? "fakeErrorOutOfMemory" : "fakeError"; }
const char* GPU(GetErrorString)(gpu_error code)
{
    static char text[64];
    std::snprintf(text, sizeof text, "error %d of the fake runtime", static_cast<int>(code));
    return text;
}
gpu_error GPU(GetDeviceCount)(int* n)
{
    return question("GetDeviceCount", [&] {
        *n = r().how().devices;
        if (*n == 0) throw refused{vrambench::fake::no_device};
    });
}
gpu_error GPU(SetDevice)(int ordinal) { return question("SetDevice", [&] { r().select(ordinal); }); }
gpu_error GPU(DriverGetVersion)(int* v)
{
    return question("DriverGetVersion", [&] { *v = r().how().driver < 0 ? runtime_number : r().how().driver; });
}
gpu_error GPU(RuntimeGetVersion)(int* v) { return question("RuntimeGetVersion", [&] { *v = runtime_number; }); }
gpu_error GPU(GetDeviceProperties)(gpu_properties* p, int)
{
    return call("GetDeviceProperties", [&] {
        std::memset(p, 0, sizeof *p);
        const auto& info = r().current().info();
        std::snprintf(p->name, sizeof p->name, "simulated %s", info.name.c_str());
        p->totalGlobalMem = info.total_bytes;
        p->multiProcessorCount = 8;
        fill_vendor_properties(p, info.has_pools);
    });
}
gpu_error GPU(DeviceGetPCIBusId)(char* text, int size, int)
{
    return call("DeviceGetPCIBusId", [&] { std::snprintf(text, static_cast<std::size_t>(size), "0000:0a:00.0"); });
}
gpu_error GPU(DeviceSynchronize)() { return call("DeviceSynchronize", [] { r().current().sync_device(); }); }

// -- streams and events

gpu_error GPU(StreamCreateWithFlags)(gpu_stream* s, unsigned)
{
    return call("StreamCreateWithFlags", [&] { put(s, r().current().create_stream()); });
}
gpu_error GPU(StreamDestroy)(gpu_stream s)
{
    return call("StreamDestroy", [&] { r().current().destroy_stream(static_cast<std::uint32_t>(number(s))); });
}
gpu_error GPU(StreamSynchronize)(gpu_stream s)
{
    return call("StreamSynchronize", [&] { r().current().sync_stream(static_cast<std::uint32_t>(number(s))); });
}
gpu_error GPU(EventCreateWithFlags)(gpu_event* e, unsigned)
{
    return call("EventCreateWithFlags", [&] { put(e, r().current().create_event() + 1); });
}
gpu_error GPU(EventDestroy)(gpu_event e) { return call("EventDestroy", [&] { r().current().destroy_event(index(e)); }); }
gpu_error GPU(EventRecord)(gpu_event e, gpu_stream s)
{
    return call("EventRecord", [&] { r().current().record(index(e), static_cast<std::uint32_t>(number(s))); });
}
gpu_error GPU(StreamWaitEvent)(gpu_stream s, gpu_event e, unsigned)
{
    return call("StreamWaitEvent", [&] { r().current().wait(index(e), static_cast<std::uint32_t>(number(s))); });
}

// -- raw memory

gpu_error GPU(Malloc)(void** p, std::size_t n) { return call("Malloc", [&] { put_memory(p, r().current().malloc(n)); }); }
gpu_error GPU(Free)(void* p)
{
    return call("Free", [&] {
        if (p) r().current().free(number(p));
    });
}
gpu_error GPU(MemGetInfo)(std::size_t* free_bytes, std::size_t* total)
{
    return call("MemGetInfo", [&] {
        const auto m = r().current().query();
        *free_bytes = m.free_bytes;
        *total = m.total_bytes;
    });
}
gpu_error GPU(Memset)(void* p, int value, std::size_t n)
{
    return call("Memset", [&] {
        if (!r().current().may_touch(number(p), n)) throw refused{invalid_value};
        std::memset(p, value, std::min(n, largest_fill));
    });
}
gpu_error GPU(Memcpy)(void* to, const void* from, std::size_t n, gpu_copy_kind kind)
{
    return call("Memcpy", [&] {
        if (!r().current().may_touch(kind == to_device ? number(to) : number(from), n)) throw refused{invalid_value};
        std::memcpy(to, from, n);
    });
}

// -- peers: all cards reach each other

gpu_error GPU(DeviceCanAccessPeer)(int* yes, int to, int from)
{
    return question("DeviceCanAccessPeer", [&] { *yes = &r().at(to) != &r().at(from); });
}
gpu_error GPU(DeviceEnablePeerAccess)(int from, unsigned)
{
    return call("DeviceEnablePeerAccess", [&] {
        if (!r().current().enable_peer(from)) throw refused{vrambench::fake::peer_already_enabled};
    });
}
gpu_error GPU(DeviceDisablePeerAccess)(int from)
{
    return call("DeviceDisablePeerAccess", [&] {
        if (!r().current().disable_peer(from)) throw refused{vrambench::fake::peer_not_enabled};
    });
}
gpu_error GPU(MemcpyPeer)(void* to, int to_card, const void* from, int from_card, std::size_t n)
{
    return call("MemcpyPeer", [&] {
        if (!r().at(to_card).may_touch(number(to), n) || !r().at(from_card).may_touch(number(from), n)) throw refused{invalid_value};
        std::memcpy(to, from, r().how().has("peer-copy-wrong") ? n / 2 : n);
    });
}

// -- pools

gpu_error GPU(MemPoolCreate)(gpu_pool* p, const gpu_pool_properties*)
{
    return call("MemPoolCreate", [&] { put(p, r().current().create_pool() + 1); });
}
gpu_error GPU(MemPoolDestroy)(gpu_pool p) { return call("MemPoolDestroy", [&] { r().current().destroy_pool(index(p)); }); }
gpu_error GPU(DeviceGetDefaultMemPool)(gpu_pool* p, int)
{
    return call("DeviceGetDefaultMemPool", [&] { put(p, r().current().default_pool() + 1); });
}
gpu_error GPU(MemPoolSetAttribute)(gpu_pool p, gpu_pool_attribute which, void* value)
{
    return call("MemPoolSetAttribute", [&] {
        if (which == release_threshold) r().current().set_threshold(index(p), *static_cast<std::uint64_t*>(value));
    });
}
gpu_error GPU(MemPoolGetAttribute)(gpu_pool p, gpu_pool_attribute which, void* value)
{
    return call("MemPoolGetAttribute", [&] {
        const auto u = r().current().usage(index(p));
        const std::uint64_t attributes[] = {u.reserved, u.reserved_high, u.used, u.used_high};
        *static_cast<std::uint64_t*>(value) = attributes[which - first_usage_attribute];
    });
}
gpu_error GPU(MemPoolTrimTo)(gpu_pool p, std::size_t keep) { return call("MemPoolTrimTo", [&] { r().current().trim(index(p), keep); }); }
gpu_error GPU(MallocFromPoolAsync)(void** p, std::size_t n, gpu_pool pool, gpu_stream s)
{
    return call("MallocFromPoolAsync", [&] {
        put_memory(p, r().current().malloc_async(n, index(pool), static_cast<std::uint32_t>(number(s))));
    });
}
gpu_error GPU(FreeAsync)(void* p, gpu_stream s)
{
    return call("FreeAsync", [&] { r().current().free_async(number(p), static_cast<std::uint32_t>(number(s))); });
}

// -- capture and graphs

gpu_error GPU(StreamBeginCapture)(gpu_stream s, gpu_capture_mode)
{
    return call("StreamBeginCapture", [&] { r().current().capture_begin(static_cast<std::uint32_t>(number(s))); });
}
gpu_error GPU(StreamEndCapture)(gpu_stream s, gpu_graph* g)
{
    return call("StreamEndCapture", [&] { put(g, r().current().capture_end(static_cast<std::uint32_t>(number(s))) + 1); });
}
gpu_error GPU_INSTANTIATE(gpu_graph_exec* x, gpu_graph g, unsigned long long)
{
    return call("GraphInstantiate", [&] {
        r().current().instantiate(index(g));
        put(x, number(g));
    });
}
gpu_error GPU(GraphLaunch)(gpu_graph_exec x, gpu_stream s)
{
    return call("GraphLaunch", [&] { r().current().graph_launch(index(x), static_cast<std::uint32_t>(number(s))); });
}
gpu_error GPU(GraphDestroy)(gpu_graph g) { return call("GraphDestroy", [&] { r().current().drop_graph(index(g)); }); }
gpu_error GPU(GraphExecDestroy)(gpu_graph_exec x) { return call("GraphExecDestroy", [&] { r().current().drop_graph(index(x)); }); }

// -- for tests

void GPU(FakeControl)(const char* settings) { r().control(settings); }
void GPU(FakeArm)(const char* settings) { r().arm(settings); }
const char* GPU(FakeReport)(const char* what) { return r().report(what); }

}  // extern "C"
