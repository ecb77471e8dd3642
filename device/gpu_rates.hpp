#pragma once
// What a card reaches: bytes copied a second and f16 multiplications a second, by kernels of ours. For gpu_device only: this
// header knows the vendor's stream type.

#include "device/device.hpp"
#include "device/kernels_launch.hpp"

namespace vrambench::gpu::inline VRAMBENCH_VENDOR {

/// Takes about two seconds and up to 2 GiB, which it gives back. A rate that cannot be measured is 0, and its source says
/// why. Throws device_error where the card fails.
card_rates measure_rates(stream_t stream, int multiprocessors, const host_clock& clock);

}  // namespace vrambench::gpu
