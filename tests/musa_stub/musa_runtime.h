#pragma once
// A stub of the names that device/vendors/musa.hpp maps to, so that the device source is compiled for MUSA without its SDK.
// Types and values follow the rule that MUSA's names are CUDA's with another prefix; nothing here is from the SDK.

#include <cstddef>

enum musaError_t { musaSuccess = 0, musaErrorMemoryAllocation = 2, musaErrorNotSupported = 801 };
enum musaMemcpyKind { musaMemcpyHostToDevice = 1, musaMemcpyDeviceToHost = 2, musaMemcpyDeviceToDevice = 3 };
enum musaStreamCaptureMode { musaStreamCaptureModeThreadLocal = 1 };
inline constexpr unsigned musaStreamNonBlocking = 1, musaEventDisableTiming = 2;
using musaStream_t = struct MUstream_st*;
using musaEvent_t = struct MUevent_st*;
using musaGraph_t = struct MUgraph_st*;
using musaGraphExec_t = struct MUgraphExec_st*;
using musaGraphNode_t = struct MUgraphNode_st*;

struct musaDeviceProp {
    char name[256];
    std::size_t totalGlobalMem;
    int major, minor, multiProcessorCount, ECCEnabled, integrated;
};

extern "C" {
const char* musaGetErrorName(musaError_t);
const char* musaGetErrorString(musaError_t);
musaError_t musaGetLastError();
musaError_t musaGetDeviceCount(int*);
musaError_t musaSetDevice(int);
musaError_t musaDriverGetVersion(int*);
musaError_t musaRuntimeGetVersion(int*);
musaError_t musaGetDeviceProperties(musaDeviceProp*, int);
musaError_t musaDeviceGetPCIBusId(char*, int, int);
musaError_t musaDeviceSynchronize();
musaError_t musaStreamCreateWithFlags(musaStream_t*, unsigned);
musaError_t musaStreamDestroy(musaStream_t);
musaError_t musaStreamSynchronize(musaStream_t);
musaError_t musaStreamWaitEvent(musaStream_t, musaEvent_t, unsigned);
musaError_t musaEventCreateWithFlags(musaEvent_t*, unsigned);
musaError_t musaEventDestroy(musaEvent_t);
musaError_t musaEventRecord(musaEvent_t, musaStream_t);
musaError_t musaMalloc(void**, std::size_t);
musaError_t musaFree(void*);
musaError_t musaMemGetInfo(std::size_t*, std::size_t*);
musaError_t musaMemset(void*, int, std::size_t);
musaError_t musaMemcpy(void*, const void*, std::size_t, musaMemcpyKind);
musaError_t musaMemcpyPeer(void*, int, const void*, int, std::size_t);
musaError_t musaDeviceCanAccessPeer(int*, int, int);
musaError_t musaDeviceEnablePeerAccess(int, unsigned);
musaError_t musaDeviceDisablePeerAccess(int);
musaError_t musaStreamBeginCapture(musaStream_t, musaStreamCaptureMode);
musaError_t musaStreamEndCapture(musaStream_t, musaGraph_t*);
musaError_t musaGraphInstantiate(musaGraphExec_t*, musaGraph_t, musaGraphNode_t*, char*, std::size_t);
musaError_t musaGraphLaunch(musaGraphExec_t, musaStream_t);
musaError_t musaGraphDestroy(musaGraph_t);
musaError_t musaGraphExecDestroy(musaGraphExec_t);
}
