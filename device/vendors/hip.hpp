#pragma once
// AMD's names for what gpu_device needs, as one thin layer of inline functions: the only file, beside the kernels, that knows
// them. A function returns the vendor's status as an int (0: success). ROCm 5.2 to 7.x; what a release lacks is guarded by
// HIP_VERSION here. Compiled and linked with Debian's hipcc 5.2.3; nothing of it has run on an AMD card.

#include "device/vendors/unmanaged.hpp"

#include <hip/hip_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace vrambench::gpu::inline hip {

inline constexpr const char* vendor_kind = "hip";
/// Users who are not in the right group get the same answer as machines without a card.
inline constexpr const char* no_device_hint = " (no AMD card: is there a /dev/kfd, and may this user open it? --device sim:h200 needs none)";

using unmanaged::clock_holders;
using unmanaged::management;

// How the driver takes memory, bytes, as its source says: raw allocations above 2 MiB are rounded up to 2 MiB, smaller ones
// share such blocks; pools of ROCm 7 take 32 MiB at a time, earlier ones one allocation a block.
inline constexpr std::uint64_t margin = 0;
inline constexpr std::uint64_t physical_block = std::uint64_t{2} << 20;
inline constexpr std::uint64_t shared_up_to = std::uint64_t{2} << 20;
inline constexpr std::uint64_t pool_step = HIP_VERSION >= 70000000 ? std::uint64_t{32} << 20 : std::uint64_t{2} << 20;
inline constexpr std::uint64_t pool_margin = 0;

using stream_t = hipStream_t;
using event_t = hipEvent_t;
using pool_t = hipMemPool_t;
using graph_t = hipGraph_t;
using graph_exec_t = hipGraphExec_t;

inline constexpr int out_of_memory = static_cast<int>(hipErrorOutOfMemory);

inline const char* error_name(int code) { return hipGetErrorName(static_cast<hipError_t>(code)); }
inline const char* error_text(int code) { return hipGetErrorString(static_cast<hipError_t>(code)); }
/// Clears what a failed call left behind, and returns it.
inline int take_last_error() { return hipGetLastError(); }

// -- devices
inline int device_count(int* n) { return hipGetDeviceCount(n); }
inline int select_device(int n)
{
    const int e = hipSetDevice(n);
    return e ? e : static_cast<int>(hipFree(nullptr));    // makes the context now, not in the first timed call
}
inline int driver_version(int* v) { return hipDriverGetVersion(v); }
inline int runtime_version(int* v) { return hipRuntimeGetVersion(v); }
/// "5.2.21153" from 50221153.
inline std::string version_text(int v)
{
    return std::to_string(v / 10'000'000) + "." + std::to_string(v / 100'000 % 100) + "." + std::to_string(v % 100'000);
}
/// The runtime brings its own driver: what is missing shows in the number of devices.
inline std::string driver_problem() { return ""; }

struct properties {
    char name[256];
    char architecture[64];
    std::uint64_t total_bytes;
    int multiprocessors;
    unsigned tick_ns;                ///< of the timer that kernels read
    bool ecc, integrated, pools;
};

/// 100 MHz on most cards, 25 MHz on some; releases before 6.0 do not tell.
inline unsigned timer_tick_ns([[maybe_unused]] int device)
{
    int khz = 0;
#if HIP_VERSION >= 60000000
    if (hipDeviceGetAttribute(&khz, hipDeviceAttributeWallClockRate, device) != hipSuccess) khz = 0;
#endif
    return khz > 0 ? static_cast<unsigned>((1'000'000 + khz / 2) / khz) : 10;
}

/// Releases before 6.2 say that they have no pools when they have: there the first pool decides.
inline bool has_pools(int device)
{
    int said = 0;
    if (hipDeviceGetAttribute(&said, hipDeviceAttributeMemoryPoolsSupported, device) == hipSuccess && said != 0) return true;
#if HIP_VERSION < 60200000
    hipMemPool_t pool{};
    if (hipDeviceGetDefaultMemPool(&pool, device) == hipSuccess && pool) return true;
#endif
    (void)hipGetLastError();
    return false;
}

inline int get_properties(int device, properties* p)
{
    hipDeviceProp_t d{};
    if (const int e = hipGetDeviceProperties(&d, device)) return e;
    std::snprintf(p->name, sizeof p->name, "%s", d.name);
    std::snprintf(p->architecture, sizeof p->architecture, "%.63s", d.gcnArchName);
    p->total_bytes = d.totalGlobalMem;
    p->multiprocessors = d.multiProcessorCount;
    p->tick_ns = timer_tick_ns(device);
    p->ecc = d.ECCEnabled != 0;
    p->integrated = d.integrated != 0;
    p->pools = has_pools(device);
    return 0;
}

/// "0000:0a:00.0".
inline int bus_id(char* text, int size, int device) { return hipDeviceGetPCIBusId(text, size, device); }

// -- streams and events
inline int stream_create(stream_t* s) { return hipStreamCreateWithFlags(s, hipStreamNonBlocking); }
inline int stream_destroy(stream_t s) { return hipStreamDestroy(s); }
inline int stream_sync(stream_t s) { return hipStreamSynchronize(s); }
inline int device_sync() { return hipDeviceSynchronize(); }
inline int event_create(event_t* e) { return hipEventCreateWithFlags(e, hipEventDisableTiming); }
inline int event_destroy(event_t e) { return hipEventDestroy(e); }
inline int event_record(event_t e, stream_t s) { return hipEventRecord(e, s); }
inline int stream_wait(stream_t s, event_t e) { return hipStreamWaitEvent(s, e, 0); }

// -- raw memory
inline int malloc(void** p, std::size_t n) { return hipMalloc(p, n); }
inline int free(void* p) { return hipFree(p); }
inline int free_memory(std::size_t* free, std::size_t* total) { return hipMemGetInfo(free, total); }
inline int fill(void* p, int value, std::size_t n) { return hipMemset(p, value, n); }
inline int copy_within(void* to, const void* from, std::size_t n) { return hipMemcpy(to, from, n, hipMemcpyDeviceToDevice); }
inline int copy_out(void* host, const void* device, std::size_t n) { return hipMemcpy(host, device, n, hipMemcpyDeviceToHost); }
inline int copy_in(void* device, const void* host, std::size_t n) { return hipMemcpy(device, host, n, hipMemcpyHostToDevice); }

// -- peers: `to` uses memory of `from`; access is that of the selected device
inline int can_access_peer(int* yes, int to, int from) { return hipDeviceCanAccessPeer(yes, to, from); }
inline int enable_peer(int from) { return hipDeviceEnablePeerAccess(from, 0); }
inline int disable_peer(int from) { return hipDeviceDisablePeerAccess(from); }
inline int copy_peer(void* p, int to, const void* q, int from, std::size_t n) { return hipMemcpyPeer(p, to, q, from, n); }

// -- stream-ordered memory
inline int pool_create(pool_t* p, int device)
{
    hipMemPoolProps props{};
    props.allocType = hipMemAllocationTypePinned;
    props.handleTypes = hipMemHandleTypeNone;
    props.location.type = hipMemLocationTypeDevice;
    props.location.id = device;
    return hipMemPoolCreate(p, &props);
}
inline int pool_destroy(pool_t p) { return hipMemPoolDestroy(p); }
inline int pool_default(pool_t* p, int device) { return hipDeviceGetDefaultMemPool(p, device); }
inline int pool_set_threshold(pool_t p, std::uint64_t bytes) { return hipMemPoolSetAttribute(p, hipMemPoolAttrReleaseThreshold, &bytes); }
inline int pool_set_reuse(pool_t p, bool follow_events, bool opportunistic, bool internal_dependencies)
{
    int v = follow_events;
    if (const int e = hipMemPoolSetAttribute(p, hipMemPoolReuseFollowEventDependencies, &v)) return e;
    v = opportunistic;
    if (const int e = hipMemPoolSetAttribute(p, hipMemPoolReuseAllowOpportunistic, &v)) return e;
    v = internal_dependencies;
    return hipMemPoolSetAttribute(p, hipMemPoolReuseAllowInternalDependencies, &v);
}
inline int pool_reserved(pool_t p, std::uint64_t* bytes) { return hipMemPoolGetAttribute(p, hipMemPoolAttrReservedMemCurrent, bytes); }
inline int pool_reserved_high(pool_t p, std::uint64_t* bytes) { return hipMemPoolGetAttribute(p, hipMemPoolAttrReservedMemHigh, bytes); }
inline int pool_used(pool_t p, std::uint64_t* bytes) { return hipMemPoolGetAttribute(p, hipMemPoolAttrUsedMemCurrent, bytes); }
inline int pool_used_high(pool_t p, std::uint64_t* bytes) { return hipMemPoolGetAttribute(p, hipMemPoolAttrUsedMemHigh, bytes); }
inline int pool_trim(pool_t p, std::size_t keep) { return hipMemPoolTrimTo(p, keep); }
inline int malloc_async(void** p, std::size_t n, pool_t pool, stream_t s) { return hipMallocFromPoolAsync(p, n, pool, s); }
inline int free_async(void* p, stream_t s) { return hipFreeAsync(p, s); }

// -- capture and graphs
inline int capture_begin(stream_t s) { return hipStreamBeginCapture(s, hipStreamCaptureModeThreadLocal); }
inline int capture_end(stream_t s, graph_t* g) { return hipStreamEndCapture(s, g); }
inline int graph_instantiate(graph_exec_t* x, graph_t g) { return hipGraphInstantiateWithFlags(x, g, 0); }
inline int graph_launch(graph_exec_t x, stream_t s) { return hipGraphLaunch(x, s); }
inline int graph_destroy(graph_t g) { return hipGraphDestroy(g); }
inline int graph_exec_destroy(graph_exec_t x) { return hipGraphExecDestroy(x); }

// -- virtual memory
class virtual_memory {
public:
    bool load() { return true; }    // part of the runtime

    /// Releases before 6.0 have no attribute for it: there a granule is mapped and unmapped once.
    bool supported(int device)
    {
#if HIP_VERSION >= 60000000
        int yes = 0;
        return hipDeviceGetAttribute(&yes, hipDeviceAttributeVirtualMemoryManagementSupported, device) == hipSuccess && yes != 0;
#else
        const bool works = try_granule(device);
        (void)hipGetLastError();
        return works;
#endif
    }
    int granularity(std::size_t* bytes, int device)
    {
        const hipMemAllocationProp p = properties_of(device);
        return hipMemGetAllocationGranularity(bytes, &p, hipMemAllocationGranularityRecommended);
    }
    int smallest_granularity(std::size_t* bytes, int device)
    {
        const hipMemAllocationProp p = properties_of(device);
        return hipMemGetAllocationGranularity(bytes, &p, hipMemAllocationGranularityMinimum);
    }
    int reserve(std::uint64_t* p, std::size_t n)
    {
        void* d = nullptr;
        const int e = hipMemAddressReserve(&d, n, 0, nullptr, 0);
        *p = reinterpret_cast<std::uint64_t>(d);
        return e;
    }
    int unreserve(std::uint64_t p, std::size_t n) { return hipMemAddressFree(at(p), n); }
    int create(std::uint64_t* handle, std::size_t n, int device)
    {
        const hipMemAllocationProp p = properties_of(device);
        hipMemGenericAllocationHandle_t h{};
        const int e = hipMemCreate(&h, n, &p, 0);
        *handle = reinterpret_cast<std::uint64_t>(h);
        return e;
    }
    int map(std::uint64_t p, std::size_t n, std::uint64_t handle) { return hipMemMap(at(p), n, 0, physical(handle), 0); }
    int set_access(std::uint64_t p, std::size_t n, int device)
    {
        hipMemAccessDesc d{};
        d.location.type = hipMemLocationTypeDevice;
        d.location.id = device;
        d.flags = hipMemAccessFlagsProtReadWrite;
        return hipMemSetAccess(at(p), n, &d, 1);
    }
    int unmap(std::uint64_t p, std::size_t n) { return hipMemUnmap(at(p), n); }
    int release(std::uint64_t handle) { return hipMemRelease(physical(handle)); }

private:
    static void* at(std::uint64_t p) { return reinterpret_cast<void*>(p); }
    static hipMemGenericAllocationHandle_t physical(std::uint64_t handle)
    {
        return reinterpret_cast<hipMemGenericAllocationHandle_t>(handle);
    }
    static hipMemAllocationProp properties_of(int device)
    {
        hipMemAllocationProp p{};
        p.type = hipMemAllocationTypePinned;
        p.location.type = hipMemLocationTypeDevice;
        p.location.id = device;
        return p;
    }
#if HIP_VERSION < 60000000
    bool try_granule(int device)
    {
        std::size_t n = 0;
        std::uint64_t p = 0, handle = 0;
        if (granularity(&n, device) || n == 0) return false;
        n = (n + physical_block - 1) / physical_block * physical_block;    // a smaller one may be stated and not work
        if (reserve(&p, n)) return false;
        bool works = create(&handle, n, device) == 0;
        if (works) {
            const bool mapped = map(p, n, handle) == 0;
            works = mapped && set_access(p, n, device) == 0;
            if (mapped && unmap(p, n)) works = false;
            if (release(handle)) works = false;
        }
        return unreserve(p, n) == 0 && works;
    }
#endif
};

}  // namespace vrambench::gpu
