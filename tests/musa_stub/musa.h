#pragma once
// The same for the driver's calls.

#include <cstddef>

enum MUresult { MUSA_SUCCESS = 0, MUSA_ERROR_OUT_OF_MEMORY = 2 };
enum MUdevice_attribute { MU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102 };
enum MUmemAllocationType { MU_MEM_ALLOCATION_TYPE_PINNED = 1 };
enum MUmemLocationType { MU_MEM_LOCATION_TYPE_DEVICE = 1 };
enum MUmemAccess_flags { MU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3 };
enum MUmemAllocationGranularity_flags { MU_MEM_ALLOC_GRANULARITY_MINIMUM = 0, MU_MEM_ALLOC_GRANULARITY_RECOMMENDED = 1 };
using MUdevice = int;
using MUdeviceptr = unsigned long long;
using MUmemGenericAllocationHandle = unsigned long long;

struct MUmemLocation {
    MUmemLocationType type;
    int id;
};
struct MUmemAllocationProp {
    MUmemAllocationType type;
    MUmemLocation location;
};
struct MUmemAccessDesc {
    MUmemLocation location;
    MUmemAccess_flags flags;
};

extern "C" {
MUresult muDeviceGetAttribute(int*, MUdevice_attribute, MUdevice);
MUresult muMemGetAllocationGranularity(std::size_t*, const MUmemAllocationProp*, MUmemAllocationGranularity_flags);
MUresult muMemAddressReserve(MUdeviceptr*, std::size_t, std::size_t, MUdeviceptr, unsigned long long);
MUresult muMemAddressFree(MUdeviceptr, std::size_t);
MUresult muMemCreate(MUmemGenericAllocationHandle*, std::size_t, const MUmemAllocationProp*, unsigned long long);
MUresult muMemMap(MUdeviceptr, std::size_t, std::size_t, MUmemGenericAllocationHandle, unsigned long long);
MUresult muMemSetAccess(MUdeviceptr, std::size_t, const MUmemAccessDesc*, std::size_t);
MUresult muMemUnmap(MUdeviceptr, std::size_t);
MUresult muMemRelease(MUmemGenericAllocationHandle);
}
