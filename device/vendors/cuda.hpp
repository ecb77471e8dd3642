#pragma once
// NVIDIA's names for what gpu_device needs, as one thin layer of inline functions: the only file, beside the kernels, that
// knows them. A function returns the vendor's status as an int (0: success); names and out-of-memory codes are asked here.
//
// The runtime library is linked statically. The driver's own calls (virtual memory) are found through the runtime's
// entry-point query, so that a binary starts on a machine without a driver. CUDA 12.0 to 13.x.

#include "device/vendors/nvml.hpp"

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace vrambench::gpu::inline cuda {

inline constexpr const char* vendor_kind = "cuda";
inline constexpr const char* no_device_hint = "";

using nvml::clock_holders;
using nvml::management;

// How the driver takes memory, bytes, as measured on an H200: raw allocations occupy multiples of physical_block, those up to
// shared_up_to may share one; raw allocations and handles leave a margin free; pools take steps, and leave one of their own.
inline constexpr std::uint64_t margin = 1179649;
inline constexpr std::uint64_t physical_block = std::uint64_t{2} << 20;
inline constexpr std::uint64_t shared_up_to = std::uint64_t{1} << 20;
inline constexpr std::uint64_t pool_step = std::uint64_t{32} << 20;
inline constexpr std::uint64_t pool_margin = std::uint64_t{2} << 20;

using stream_t = cudaStream_t;
using event_t = cudaEvent_t;
using pool_t = cudaMemPool_t;
using graph_t = cudaGraph_t;
using graph_exec_t = cudaGraphExec_t;

inline constexpr int out_of_memory = static_cast<int>(cudaErrorMemoryAllocation);
static_assert(out_of_memory == static_cast<int>(CUDA_ERROR_OUT_OF_MEMORY), "one code serves runtime and driver");

inline const char* error_name(int code) { return cudaGetErrorName(static_cast<cudaError_t>(code)); }
inline const char* error_text(int code) { return cudaGetErrorString(static_cast<cudaError_t>(code)); }
/// Clears what a failed call left behind, and returns it.
inline int take_last_error() { return cudaGetLastError(); }

// -- devices
inline int device_count(int* n) { return cudaGetDeviceCount(n); }
inline int select_device(int n)
{
    const int e = cudaSetDevice(n);
    return e ? e : static_cast<int>(cudaFree(nullptr));    // makes the context now, not in the first timed call
}
inline int driver_version(int* v) { return cudaDriverGetVersion(v); }
inline int runtime_version(int* v) { return cudaRuntimeGetVersion(v); }
/// "13.0" from 13000.
inline std::string version_text(int v) { return std::to_string(v / 1000) + "." + std::to_string(v % 1000 / 10); }
/// Why no device can be used, whatever its number; empty where that is not known yet.
inline std::string driver_problem()
{
    int driver = 0, runtime = 0;
    driver_version(&driver), runtime_version(&runtime);
    if (driver == 0) return "no driver on this machine (--device sim:h200 needs none)";
    if (driver >= runtime / 1000 * 1000) return "";
    return "the driver is for " + version_text(driver) + ", this build needs " + version_text(runtime / 1000 * 1000);
}

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
    cudaDeviceProp d{};
    if (const int e = cudaGetDeviceProperties(&d, device)) return e;
    std::snprintf(p->name, sizeof p->name, "%s", d.name);
    std::snprintf(p->architecture, sizeof p->architecture, "%d.%d", d.major, d.minor);
    p->total_bytes = d.totalGlobalMem;
    p->multiprocessors = d.multiProcessorCount;
    p->tick_ns = 1;
    p->ecc = d.ECCEnabled != 0;
    p->integrated = d.integrated != 0;
    p->pools = d.memoryPoolsSupported != 0;
    return 0;
}

/// "0000:0a:00.0": what the management library knows the card by.
inline int bus_id(char* text, int size, int device) { return cudaDeviceGetPCIBusId(text, size, device); }

// -- streams and events
inline int stream_create(stream_t* s) { return cudaStreamCreateWithFlags(s, cudaStreamNonBlocking); }
inline int stream_destroy(stream_t s) { return cudaStreamDestroy(s); }
inline int stream_sync(stream_t s) { return cudaStreamSynchronize(s); }
inline int device_sync() { return cudaDeviceSynchronize(); }
inline int event_create(event_t* e) { return cudaEventCreateWithFlags(e, cudaEventDisableTiming); }
inline int event_destroy(event_t e) { return cudaEventDestroy(e); }
inline int event_record(event_t e, stream_t s) { return cudaEventRecord(e, s); }
inline int stream_wait(stream_t s, event_t e) { return cudaStreamWaitEvent(s, e, 0); }

// -- raw memory
inline int malloc(void** p, std::size_t n) { return cudaMalloc(p, n); }
inline int free(void* p) { return cudaFree(p); }
inline int free_memory(std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }
inline int fill(void* p, int value, std::size_t n) { return cudaMemset(p, value, n); }
inline int copy_within(void* to, const void* from, std::size_t n) { return cudaMemcpy(to, from, n, cudaMemcpyDeviceToDevice); }
inline int copy_out(void* host, const void* device, std::size_t n) { return cudaMemcpy(host, device, n, cudaMemcpyDeviceToHost); }
inline int copy_in(void* device, const void* host, std::size_t n) { return cudaMemcpy(device, host, n, cudaMemcpyHostToDevice); }

// -- peers: `to` uses memory of `from`; access is that of the selected device
inline int can_access_peer(int* yes, int to, int from) { return cudaDeviceCanAccessPeer(yes, to, from); }
inline int enable_peer(int from) { return cudaDeviceEnablePeerAccess(from, 0); }
inline int disable_peer(int from) { return cudaDeviceDisablePeerAccess(from); }
inline int copy_peer(void* p, int to, const void* q, int from, std::size_t n) { return cudaMemcpyPeer(p, to, q, from, n); }

// -- stream-ordered memory
inline int pool_create(pool_t* p, int device)
{
    cudaMemPoolProps props{};
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = cudaMemHandleTypeNone;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = device;
    return cudaMemPoolCreate(p, &props);
}
inline int pool_destroy(pool_t p) { return cudaMemPoolDestroy(p); }
inline int pool_default(pool_t* p, int device) { return cudaDeviceGetDefaultMemPool(p, device); }
inline int pool_set_threshold(pool_t p, std::uint64_t bytes) { return cudaMemPoolSetAttribute(p, cudaMemPoolAttrReleaseThreshold, &bytes); }
inline int pool_set_reuse(pool_t p, bool follow_events, bool opportunistic, bool internal_dependencies)
{
    int v = follow_events;
    if (const int e = cudaMemPoolSetAttribute(p, cudaMemPoolReuseFollowEventDependencies, &v)) return e;
    v = opportunistic;
    if (const int e = cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowOpportunistic, &v)) return e;
    v = internal_dependencies;
    return cudaMemPoolSetAttribute(p, cudaMemPoolReuseAllowInternalDependencies, &v);
}
inline int pool_reserved(pool_t p, std::uint64_t* bytes) { return cudaMemPoolGetAttribute(p, cudaMemPoolAttrReservedMemCurrent, bytes); }
inline int pool_reserved_high(pool_t p, std::uint64_t* bytes) { return cudaMemPoolGetAttribute(p, cudaMemPoolAttrReservedMemHigh, bytes); }
inline int pool_used(pool_t p, std::uint64_t* bytes) { return cudaMemPoolGetAttribute(p, cudaMemPoolAttrUsedMemCurrent, bytes); }
inline int pool_used_high(pool_t p, std::uint64_t* bytes) { return cudaMemPoolGetAttribute(p, cudaMemPoolAttrUsedMemHigh, bytes); }
inline int pool_trim(pool_t p, std::size_t keep) { return cudaMemPoolTrimTo(p, keep); }
inline int malloc_async(void** p, std::size_t n, pool_t pool, stream_t s) { return cudaMallocFromPoolAsync(p, n, pool, s); }
inline int free_async(void* p, stream_t s) { return cudaFreeAsync(p, s); }

// -- capture and graphs
inline int capture_begin(stream_t s) { return cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal); }
inline int capture_end(stream_t s, graph_t* g) { return cudaStreamEndCapture(s, g); }
inline int graph_instantiate(graph_exec_t* x, graph_t g) { return cudaGraphInstantiate(x, g, 0); }
inline int graph_launch(graph_exec_t x, stream_t s) { return cudaGraphLaunch(x, s); }
inline int graph_destroy(graph_t g) { return cudaGraphDestroy(g); }
inline int graph_exec_destroy(graph_exec_t x) { return cudaGraphExecDestroy(x); }

// -- virtual memory: calls of the driver, looked up once
class virtual_memory {
public:
    /// False where the driver lacks one of them.
    bool load()
    {
        return find("cuMemAddressReserve", reserve_) && find("cuMemAddressFree", unreserve_) && find("cuMemCreate", create_) &&
               find("cuMemMap", map_) && find("cuMemSetAccess", set_access_) && find("cuMemUnmap", unmap_) &&
               find("cuMemRelease", release_) && find("cuMemGetAllocationGranularity", granularity_) &&
               find("cuDeviceGetAttribute", attribute_);
    }

    bool supported(int device)
    {
        int yes = 0;
        return attribute_(&yes, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device) == CUDA_SUCCESS && yes != 0;
    }
    int granularity(std::size_t* bytes, int device)
    {
        const CUmemAllocationProp p = properties_of(device);
        return granularity_(bytes, &p, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED);
    }
    int smallest_granularity(std::size_t* bytes, int device)
    {
        const CUmemAllocationProp p = properties_of(device);
        return granularity_(bytes, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    }
    int reserve(std::uint64_t* p, std::size_t n)
    {
        CUdeviceptr d = 0;
        const int e = reserve_(&d, n, 0, 0, 0);
        *p = d;
        return e;
    }
    int unreserve(std::uint64_t p, std::size_t n) { return unreserve_(p, n); }
    int create(std::uint64_t* handle, std::size_t n, int device)
    {
        const CUmemAllocationProp p = properties_of(device);
        CUmemGenericAllocationHandle h = 0;
        const int e = create_(&h, n, &p, 0);
        *handle = h;
        return e;
    }
    int map(std::uint64_t p, std::size_t n, std::uint64_t handle) { return map_(p, n, 0, handle, 0); }
    int set_access(std::uint64_t p, std::size_t n, int device)
    {
        CUmemAccessDesc d{};
        d.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        d.location.id = device;
        d.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        return set_access_(p, n, &d, 1);
    }
    int unmap(std::uint64_t p, std::size_t n) { return unmap_(p, n); }
    int release(std::uint64_t handle) { return release_(handle); }

private:
    static CUmemAllocationProp properties_of(int device)
    {
        CUmemAllocationProp p{};
        p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        p.location.id = device;
        return p;
    }
    template <class F> static bool find(const char* name, F& f)
    {
        void* entry = nullptr;
        cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
        const auto e = cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
#else
        const auto e = cudaGetDriverEntryPoint(name, &entry, cudaEnableDefault, &found);
#endif
        f = reinterpret_cast<F>(entry);
        return e == cudaSuccess && found == cudaDriverEntryPointSuccess && entry;
    }

    decltype(&cuMemAddressReserve) reserve_ = nullptr;
    decltype(&cuMemAddressFree) unreserve_ = nullptr;
    decltype(&cuMemCreate) create_ = nullptr;
    decltype(&cuMemMap) map_ = nullptr;
    decltype(&cuMemSetAccess) set_access_ = nullptr;
    decltype(&cuMemUnmap) unmap_ = nullptr;
    decltype(&cuMemRelease) release_ = nullptr;
    decltype(&cuMemGetAllocationGranularity) granularity_ = nullptr;
    decltype(&cuDeviceGetAttribute) attribute_ = nullptr;
};

}  // namespace vrambench::gpu
