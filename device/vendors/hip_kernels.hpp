#pragma once
// What the kernels need beyond the common language, on AMD's cards: their timer, and how they multiply f16 numbers. Nothing
// here depends on whether a wave has 32 or 64 threads.

#include "device/kernels.hpp"

#include <hip/hip_fp16.h>

namespace vrambench::gpu::inline hip {

/// The counter that runs at a constant rate, whatever the clocks do. timer_tick_ns() asks the card for the rate.
__device__ inline unsigned long long timer_ticks()
{
#if defined(__HIP_DEVICE_COMPILE__)
    return static_cast<unsigned long long>(wall_clock64());
#else
    return 0;    // 5.2 does not declare it on the host's side of the compilation
#endif
}

inline constexpr int chains = 8;        // of sums that do not wait for each other

/// Pairs on the vector units, which every card of the last years has. Matrix units differ from family to family and are not used:
/// the rate is a lower one than a library's.
__device__ inline float multiply_rounds(unsigned rounds, multiply_report* report)
{
    __half2 sums[chains];
    for (int i = 0; i < chains; ++i) sums[i] = __float2half2_rn(static_cast<float>(i));    // different: none may serve for another
    const __half2 a = __float2half2_rn(0.5f + static_cast<float>(blockIdx.x % 2)), b = __float2half2_rn(0.25f);
    for (unsigned r = 0; r < rounds; ++r)
#pragma unroll
        for (auto& s : sums) s = __hfma2(a, b, s);
    float total = 0;
    for (auto& s : sums) total += __low2float(s) + __high2float(s);
    report->how = multiply_how::packed;
    report->flops_of_a_block = chains * 2 * 2 * blockDim.x;
    return total;
}

}  // namespace vrambench::gpu
