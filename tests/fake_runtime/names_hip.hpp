#pragma once
// HIP's names for facade.cpp.

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <cstdio>

#define GPU(name) hip##name
#define GPU_INSTANTIATE hipGraphInstantiateWithFlags

using gpu_error = hipError_t;
using gpu_properties = hipDeviceProp_t;
using gpu_stream = hipStream_t;
using gpu_event = hipEvent_t;
using gpu_pool = hipMemPool_t;
using gpu_pool_properties = hipMemPoolProps;
using gpu_pool_attribute = hipMemPoolAttr;
using gpu_graph = hipGraph_t;
using gpu_graph_exec = hipGraphExec_t;
using gpu_capture_mode = hipStreamCaptureMode;
using gpu_copy_kind = hipMemcpyKind;

inline constexpr int runtime_number = HIP_VERSION;
inline constexpr auto release_threshold = hipMemPoolAttrReleaseThreshold;
inline constexpr auto to_device = hipMemcpyHostToDevice;
inline constexpr int first_usage_attribute = hipMemPoolAttrReservedMemCurrent;

inline void fill_vendor_properties(hipDeviceProp_t* p, bool)
{
    std::snprintf(p->gcnArchName, sizeof p->gcnArchName, "gfx000");
}
