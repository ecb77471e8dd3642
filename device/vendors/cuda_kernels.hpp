#pragma once
// What the kernels need beyond the common language, on NVIDIA's cards: their timer, and how they multiply f16 matrices.

#include "device/kernels.hpp"

#include <cuda_fp16.h>
#include <mma.h>

namespace vrambench::gpu::inline cuda {

/// The card's global timer, which counts nanoseconds.
__device__ inline unsigned long long timer_ticks()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

inline constexpr int chains = 8;        // of sums that do not wait for each other

// The host's side of the compilation has no architecture; it only needs the name of the kernel.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ < 530
__device__ inline float multiply_rounds(unsigned, multiply_report* report)
{
    report->how = multiply_how::none;
    return 0;
}
#elif __CUDA_ARCH__ >= 700
__device__ inline float multiply_rounds(unsigned rounds, multiply_report* report)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[chains];
    wmma::fill_fragment(a, __float2half(0.5f + static_cast<float>(blockIdx.x % 2)));
    wmma::fill_fragment(b, __float2half(0.25f));
    for (int i = 0; i < chains; ++i) wmma::fill_fragment(sums[i], static_cast<float>(i));    // different: none may serve for another
    for (unsigned r = 0; r < rounds; ++r)
#pragma unroll
        for (auto& s : sums) wmma::mma_sync(s, a, b, s);
    float total = 0;
    for (auto& s : sums)
        for (int i = 0; i < s.num_elements; ++i) total += s.x[i];
    report->how = multiply_how::tensor;
    report->flops_of_a_block = chains * 2 * 16 * 16 * 16 * (blockDim.x / warpSize);
    return total;
}
#else
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
#endif

}  // namespace vrambench::gpu
