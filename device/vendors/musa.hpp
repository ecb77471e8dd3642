#pragma once
// Moore Threads' names for what gpu_device needs, as one thin layer of inline functions: the only file, beside the kernels,
// that knows them. A function returns the vendor's status as an int (0: success).
//
// Written from the rule that MUSA's names are CUDA's with another prefix, compiled against tests/musa_stub only: it has
// neither been built with the vendor's SDK nor run on a card. Stream-ordered pools are left out, since nothing is known of
// them there: the device says that it has none.

#include "device/vendors/unmanaged.hpp"

#include <musa.h>
#include <musa_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace vrambench::gpu::inline musa {

inline constexpr const char* vendor_kind = "musa";
inline constexpr const char* no_device_hint = "";

using unmanaged::clock_holders;
using unmanaged::management;

// How the driver takes memory is not known; these are NVIDIA's.
inline constexpr std::uint64_t margin = 0;
inline constexpr std::uint64_t physical_block = std::uint64_t{2} << 20;
inline constexpr std::uint64_t shared_up_to = std::uint64_t{1} << 20;
inline constexpr std::uint64_t pool_step = 1;
inline constexpr std::uint64_t pool_margin = 0;

using stream_t = musaStream_t;
using event_t = musaEvent_t;
using pool_t = void*;
using graph_t = musaGraph_t;
using graph_exec_t = musaGraphExec_t;

inline constexpr int out_of_memory = static_cast<int>(musaErrorMemoryAllocation);
static_assert(out_of_memory == static_cast<int>(MUSA_ERROR_OUT_OF_MEMORY), "one code serves runtime and driver");

inline const char* error_name(int code) { return musaGetErrorName(static_cast<musaError_t>(code)); }
inline const char* error_text(int code) { return musaGetErrorString(static_cast<musaError_t>(code)); }
/// Clears what a failed call left behind, and returns it.
inline int take_last_error() { return musaGetLastError(); }

// -- devices
inline int device_count(int* n) { return musaGetDeviceCount(n); }
inline int select_device(int n)
{
    const int e = musaSetDevice(n);
    return e ? e : static_cast<int>(musaFree(nullptr));    // makes the context now, not in the first timed call
}
inline int driver_version(int* v) { return musaDriverGetVersion(v); }
inline int runtime_version(int* v) { return musaRuntimeGetVersion(v); }
inline std::string version_text(int v) { return std::to_string(v); }
/// What is missing shows in the number of devices.
inline std::string driver_problem() { return ""; }

struct properties {
    char name[256];
    char architecture[64];
    std::uint64_t total_bytes;
    int multiprocessors;
    unsigned tick_ns;                ///< of the timer that kernels read
    bool ecc, integrated, pools;
};
inline int get_properties(int device, properties* p)
{
    musaDeviceProp d{};
    if (const int e = musaGetDeviceProperties(&d, device)) return e;
    std::snprintf(p->name, sizeof p->name, "%s", d.name);
    std::snprintf(p->architecture, sizeof p->architecture, "%d.%d", d.major, d.minor);
    p->total_bytes = d.totalGlobalMem;
    p->multiprocessors = d.multiProcessorCount;
    p->tick_ns = 1;
    p->ecc = d.ECCEnabled != 0;
    p->integrated = d.integrated != 0;
    p->pools = false;
    return 0;
}

/// "0000:0a:00.0".
inline int bus_id(char* text, int size, int device) { return musaDeviceGetPCIBusId(text, size, device); }

// -- streams and events
inline int stream_create(stream_t* s) { return musaStreamCreateWithFlags(s, musaStreamNonBlocking); }
inline int stream_destroy(stream_t s) { return musaStreamDestroy(s); }
inline int stream_sync(stream_t s) { return musaStreamSynchronize(s); }
inline int device_sync() { return musaDeviceSynchronize(); }
inline int event_create(event_t* e) { return musaEventCreateWithFlags(e, musaEventDisableTiming); }
inline int event_destroy(event_t e) { return musaEventDestroy(e); }
inline int event_record(event_t e, stream_t s) { return musaEventRecord(e, s); }
inline int stream_wait(stream_t s, event_t e) { return musaStreamWaitEvent(s, e, 0); }

// -- raw memory
inline int malloc(void** p, std::size_t n) { return musaMalloc(p, n); }
inline int free(void* p) { return musaFree(p); }
inline int free_memory(std::size_t* free, std::size_t* total) { return musaMemGetInfo(free, total); }
inline int fill(void* p, int value, std::size_t n) { return musaMemset(p, value, n); }
inline int copy_within(void* to, const void* from, std::size_t n) { return musaMemcpy(to, from, n, musaMemcpyDeviceToDevice); }
inline int copy_out(void* host, const void* device, std::size_t n) { return musaMemcpy(host, device, n, musaMemcpyDeviceToHost); }
inline int copy_in(void* device, const void* host, std::size_t n) { return musaMemcpy(device, host, n, musaMemcpyHostToDevice); }

// -- peers: `to` uses memory of `from`; access is that of the selected device
inline int can_access_peer(int* yes, int to, int from) { return musaDeviceCanAccessPeer(yes, to, from); }
inline int enable_peer(int from) { return musaDeviceEnablePeerAccess(from, 0); }
inline int disable_peer(int from) { return musaDeviceDisablePeerAccess(from); }
inline int copy_peer(void* p, int to, const void* q, int from, std::size_t n) { return musaMemcpyPeer(p, to, q, from, n); }

// -- stream-ordered memory: none
inline constexpr int no_pools = static_cast<int>(musaErrorNotSupported);
inline int pool_create(pool_t*, int) { return no_pools; }
inline int pool_destroy(pool_t) { return no_pools; }
inline int pool_default(pool_t*, int) { return no_pools; }
inline int pool_set_threshold(pool_t, std::uint64_t) { return no_pools; }
inline int pool_set_reuse(pool_t, bool, bool, bool) { return no_pools; }
inline int pool_reserved(pool_t, std::uint64_t*) { return no_pools; }
inline int pool_reserved_high(pool_t, std::uint64_t*) { return no_pools; }
inline int pool_used(pool_t, std::uint64_t*) { return no_pools; }
inline int pool_used_high(pool_t, std::uint64_t*) { return no_pools; }
inline int pool_trim(pool_t, std::size_t) { return no_pools; }
inline int malloc_async(void**, std::size_t, pool_t, stream_t) { return no_pools; }
inline int free_async(void*, stream_t) { return no_pools; }

// -- capture and graphs
inline int capture_begin(stream_t s) { return musaStreamBeginCapture(s, musaStreamCaptureModeThreadLocal); }
inline int capture_end(stream_t s, graph_t* g) { return musaStreamEndCapture(s, g); }
inline int graph_instantiate(graph_exec_t* x, graph_t g) { return musaGraphInstantiate(x, g, nullptr, nullptr, 0); }
inline int graph_launch(graph_exec_t x, stream_t s) { return musaGraphLaunch(x, s); }
inline int graph_destroy(graph_t g) { return musaGraphDestroy(g); }
inline int graph_exec_destroy(graph_exec_t x) { return musaGraphExecDestroy(x); }

// -- virtual memory: calls of the driver, linked
class virtual_memory {
public:
    bool load() { return true; }
    bool supported(int device)
    {
        int yes = 0;
        return muDeviceGetAttribute(&yes, MU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) == MUSA_SUCCESS && yes != 0;
    }
    int granularity(std::size_t* bytes, int device)
    {
        const MUmemAllocationProp p = properties_of(device);
        return muMemGetAllocationGranularity(bytes, &p, MU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    }
    int smallest_granularity(std::size_t* bytes, int device)
    {
        const MUmemAllocationProp p = properties_of(device);
        return muMemGetAllocationGranularity(bytes, &p, MU_MEM_ALLOC_GRANULARITY_MINIMUM);
    }
    int reserve(std::uint64_t* p, std::size_t n)
    {
        MUdeviceptr d = 0;
        const int e = muMemAddressReserve(&d, n, 0, 0, 0);
        *p = d;
        return e;
    }
    int unreserve(std::uint64_t p, std::size_t n) { return muMemAddressFree(p, n); }
    int create(std::uint64_t* handle, std::size_t n, int device)
    {
        const MUmemAllocationProp p = properties_of(device);
        MUmemGenericAllocationHandle h = 0;
        const int e = muMemCreate(&h, n, &p, 0);
        *handle = h;
        return e;
    }
    int map(std::uint64_t p, std::size_t n, std::uint64_t handle) { return muMemMap(p, n, 0, handle, 0); }
    int set_access(std::uint64_t p, std::size_t n, int device)
    {
        MUmemAccessDesc d{};
        d.location.type = MU_MEM_LOCATION_TYPE_DEVICE;
        d.location.id = device;
        d.flags = MU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return muMemSetAccess(p, n, &d, 1);
    }
    int unmap(std::uint64_t p, std::size_t n) { return muMemUnmap(p, n); }
    int release(std::uint64_t handle) { return muMemRelease(handle); }

private:
    static MUmemAllocationProp properties_of(int device)
    {
        MUmemAllocationProp p{};
        p.type = MU_MEM_ALLOCATION_TYPE_PINNED;
        p.location.type = MU_MEM_LOCATION_TYPE_DEVICE;
        p.location.id = device;
        return p;
    }
};

}  // namespace vrambench::gpu
