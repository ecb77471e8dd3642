// What only CUDA has: how nvcc registers and launches kernels, and the driver's calls behind the entry-point query.

#include "tests/fake_runtime/runtime.hpp"

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>
#include <iterator>

using vrambench::fake::refused;
using vrambench::fake::runtime;

namespace {

template <class F> CUresult call(const char* name, F body) { return static_cast<CUresult>(runtime::the().driver_call(name, body)); }
vrambench::fake::card& card() { return runtime::the().current(); }

void put_memory(unsigned long long* where, std::uint64_t p)
{
    if (!p) throw refused{vrambench::fake::out_of_memory};
    *where = p;
}

CUresult mem_address_reserve(CUdeviceptr* p, std::size_t n, std::size_t, CUdeviceptr, unsigned long long)
{
    return call("MemAddressReserve", [&] { put_memory(p, card().reserve(n)); });
}
CUresult mem_address_free(CUdeviceptr p, std::size_t n) { return call("MemAddressFree", [&] { card().unreserve(p, n); }); }
CUresult mem_create(CUmemGenericAllocationHandle* h, std::size_t n, const CUmemAllocationProp*, unsigned long long)
{
    return call("MemCreate", [&] { put_memory(h, card().create(n)); });
}
CUresult mem_map(CUdeviceptr p, std::size_t n, std::size_t, CUmemGenericAllocationHandle h, unsigned long long)
{
    return call("MemMap", [&] { card().map(p, n, h); });
}
CUresult mem_set_access(CUdeviceptr p, std::size_t n, const CUmemAccessDesc*, std::size_t)
{
    return call("MemSetAccess", [&] { card().set_access(p, n); });
}
CUresult mem_unmap(CUdeviceptr p, std::size_t n) { return call("MemUnmap", [&] { card().unmap(p, n); }); }
CUresult mem_release(CUmemGenericAllocationHandle h) { return call("MemRelease", [&] { card().release(h); }); }
CUresult mem_granularity(std::size_t* n, const CUmemAllocationProp*, CUmemAllocationGranularity_flags which)
{
    return call("MemGetAllocationGranularity", [&] { *n = card().stated_granularity(which == CU_MEM_ALLOC_GRANULARITY_MINIMUM); });
}
CUresult device_attribute(int* value, CUdevice_attribute, CUdevice)
{
    return call("DeviceGetAttribute", [&] { *value = card().info().vmm_granularity != 0; });
}

struct entry_point {
    const char* name;
    void* function;
};
const entry_point entry_points[] = {
    {"cuMemAddressReserve", reinterpret_cast<void*>(mem_address_reserve)},
    {"cuMemAddressFree", reinterpret_cast<void*>(mem_address_free)},
    {"cuMemCreate", reinterpret_cast<void*>(mem_create)},
    {"cuMemMap", reinterpret_cast<void*>(mem_map)},
    {"cuMemSetAccess", reinterpret_cast<void*>(mem_set_access)},
    {"cuMemUnmap", reinterpret_cast<void*>(mem_unmap)},
    {"cuMemRelease", reinterpret_cast<void*>(mem_release)},
    {"cuMemGetAllocationGranularity", reinterpret_cast<void*>(mem_granularity)},
    {"cuDeviceGetAttribute", reinterpret_cast<void*>(device_attribute)},
};

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* found)
{
    return static_cast<cudaError_t>(runtime::the().question("GetDriverEntryPoint", [&] {
        *function = nullptr;
        for (const auto& e : entry_points)
            if (std::strcmp(e.name, name) == 0) *function = e.function;
        *found = *function ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
    }));
}

void** __cudaRegisterFatBinary(void*)
{
    static void* handle;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }
void __cudaRegisterFunction(void**, const char* host, char*, const char* mangled, int, void*, void*, void*, void*, int*)
{
    runtime::the().register_kernel(host, mangled);
}
unsigned __cudaPushCallConfiguration(dim3, dim3, std::size_t, cudaStream_t s)
{
    runtime::the().push_stream(reinterpret_cast<std::uint64_t>(s));
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream)
{
    *grid = *block = dim3(1, 1, 1);
    *shared = 0;
    *static_cast<std::uint64_t*>(stream) = runtime::the().pushed_stream();
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(const void** kernel, const void* host)
{
    *kernel = host;
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(const void* kernel, dim3, dim3, void** arguments, std::size_t, cudaStream_t s)
{
    return static_cast<cudaError_t>(runtime::the().launch(kernel, arguments, reinterpret_cast<std::uint64_t>(s)));
}

}  // extern "C"
