// What only HIP has: how hipcc registers and launches kernels, attributes, and virtual memory as calls of the runtime.

#include "tests/fake_runtime/runtime.hpp"

#include <hip/hip_runtime_api.h>

using vrambench::fake::refused;
using vrambench::fake::runtime;

namespace {

template <class F> hipError_t call(const char* name, F body) { return static_cast<hipError_t>(runtime::the().call(name, body)); }
vrambench::fake::card& card() { return runtime::the().current(); }
template <class T> std::uint64_t number(T p) { return reinterpret_cast<std::uint64_t>(p); }
template <class T> void put_memory(T* where, std::uint64_t p)
{
    if (!p) throw refused{vrambench::fake::out_of_memory};
    *where = reinterpret_cast<T>(p);
}

}  // namespace

extern "C" {

hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t which, int)
{
    return call("DeviceGetAttribute", [&] {
        *value = which == hipDeviceAttributeMemoryPoolsSupported && card().info().has_pools;
    });
}
hipError_t hipMemGetAllocationGranularity(std::size_t* n, const hipMemAllocationProp*, hipMemAllocationGranularity_flags which)
{
    return call("MemGetAllocationGranularity", [&] { *n = card().stated_granularity(which == hipMemAllocationGranularityMinimum); });
}
hipError_t hipMemAddressReserve(void** p, std::size_t n, std::size_t, void*, unsigned long long)
{
    return call("MemAddressReserve", [&] { put_memory(p, card().reserve(n)); });
}
hipError_t hipMemAddressFree(void* p, std::size_t n) { return call("MemAddressFree", [&] { card().unreserve(number(p), n); }); }
hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* h, std::size_t n, const hipMemAllocationProp*, unsigned long long)
{
    return call("MemCreate", [&] { put_memory(h, card().create(n)); });
}
hipError_t hipMemMap(void* p, std::size_t n, std::size_t, hipMemGenericAllocationHandle_t h, unsigned long long)
{
    return call("MemMap", [&] { card().map(number(p), n, number(h)); });
}
hipError_t hipMemSetAccess(void* p, std::size_t n, const hipMemAccessDesc*, std::size_t)
{
    return call("MemSetAccess", [&] { card().set_access(number(p), n); });
}
hipError_t hipMemUnmap(void* p, std::size_t n) { return call("MemUnmap", [&] { card().unmap(number(p), n); }); }
hipError_t hipMemRelease(hipMemGenericAllocationHandle_t h) { return call("MemRelease", [&] { card().release(number(h)); }); }

void** __hipRegisterFatBinary(const void*)
{
    static void* handle;
    return &handle;
}
void __hipUnregisterFatBinary(void**) {}
void __hipRegisterFunction(void**, const void* host, char*, const char* mangled, int, void*, void*, void*, void*, int*)
{
    runtime::the().register_kernel(host, mangled);
}
hipError_t __hipPushCallConfiguration(dim3, dim3, std::size_t, hipStream_t s)
{
    runtime::the().push_stream(number(s));
    return hipSuccess;
}
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, hipStream_t* stream)
{
    *grid = *block = dim3(1, 1, 1);
    *shared = 0;
    *stream = reinterpret_cast<hipStream_t>(runtime::the().pushed_stream());
    return hipSuccess;
}
hipError_t hipLaunchKernel(const void* host, dim3, dim3, void** arguments, std::size_t, hipStream_t s)
{
    return static_cast<hipError_t>(runtime::the().launch(host, arguments, number(s)));
}

}  // extern "C"
