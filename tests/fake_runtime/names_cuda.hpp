#pragma once
// CUDA's names for facade.cpp.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>

#define GPU(name) cuda##name
#define GPU_INSTANTIATE cudaGraphInstantiate

using gpu_error = cudaError_t;
using gpu_properties = cudaDeviceProp;
using gpu_stream = cudaStream_t;
using gpu_event = cudaEvent_t;
using gpu_pool = cudaMemPool_t;
using gpu_pool_properties = cudaMemPoolProps;
using gpu_pool_attribute = cudaMemPoolAttr;
using gpu_graph = cudaGraph_t;
using gpu_graph_exec = cudaGraphExec_t;
using gpu_capture_mode = cudaStreamCaptureMode;
using gpu_copy_kind = cudaMemcpyKind;

inline constexpr int runtime_number = CUDART_VERSION;
inline constexpr auto release_threshold = cudaMemPoolAttrReleaseThreshold;
inline constexpr auto to_device = cudaMemcpyHostToDevice;
inline constexpr int first_usage_attribute = cudaMemPoolAttrReservedMemCurrent;

inline void fill_vendor_properties(cudaDeviceProp* p, bool has_pools)
{
    p->major = 9;
    p->memoryPoolsSupported = has_pools;
}
