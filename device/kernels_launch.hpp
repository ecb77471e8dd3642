#pragma once
// Launching the kernels, for gpu_device only: this header knows the vendor's stream type.

#include "device/kernels.hpp"

#if defined(VRAMBENCH_VENDOR_CUDA)
#include "device/vendors/cuda.hpp"
#endif

namespace vrambench::gpu {

/// Launches one kernel on `stream`; returns the vendor's status. `multiprocessors` of the card set the grid.
int launch_work(stream_t stream, int multiprocessors, const launch_arguments& arguments);

}  // namespace vrambench::gpu
