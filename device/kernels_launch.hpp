#pragma once
// Launching the kernels, for gpu_device only: this header knows the vendor's stream type.

#include "device/kernels.hpp"

// Compiled once for each vendor of the build: VRAMBENCH_VENDOR is its namespace ("cuda"), VRAMBENCH_VENDOR_NAMES its alias header.
#include VRAMBENCH_VENDOR_NAMES

namespace vrambench::gpu::inline VRAMBENCH_VENDOR {

/// Launches one kernel on `stream`; returns the vendor's status. `multiprocessors` of the card set the grid.
int launch_work(stream_t stream, int multiprocessors, const launch_arguments& arguments);

/// Copies `bytes` (a multiple of 16) `times` times over.
int launch_copy(stream_t stream, int multiprocessors, const void* from, void* to, std::uint64_t bytes, unsigned times);

/// Multiplies and adds f16 matrices in registers, `rounds` times in each of multiply_blocks() blocks.
int launch_multiply(stream_t stream, int multiprocessors, unsigned rounds, multiply_report* report);
unsigned multiply_blocks(int multiprocessors);

}  // namespace vrambench::gpu
