#include "device/kernels_launch.hpp"

#include VRAMBENCH_VENDOR_KERNELS

namespace vrambench::gpu::inline VRAMBENCH_VENDOR {

namespace {

constexpr int threads_per_block = 256;    // a multiple of every warp size there is, and of the 64 words verified together

__device__ unsigned long long now_ns(unsigned tick_ns) { return timer_ticks() * tick_ns; }

__device__ unsigned long long pattern(unsigned long long key, unsigned long long seed, unsigned long long i)
{
    unsigned long long h = (i + seed) * 0x9e3779b97f4a7c15ull;
    return key | (h >> 40);
}

__device__ void write_block(const touched_block& b, unsigned long long seed)
{
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < b.count; i += step)
        b.words[i] = pattern(b.key, seed, i);
}

__device__ void report_mismatch(const launch_arguments& a, unsigned long long expected, unsigned long long found, unsigned long long i)
{
    if (atomicAdd(&a.report->count, 1ull) != 0) return;
    a.report->launch = a.launch;
    a.report->expected = expected;
    a.report->found = found;
    a.report->offset = i;
}

/// Verifies every stride-th group of 64 words (512 bytes).
__device__ void verify_block(const touched_block& b, const launch_arguments& a)
{
    const unsigned long long groups = (b.count + 63) / 64;
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * (blockDim.x / 64);
    const unsigned lane = threadIdx.x % 64;
    for (unsigned long long g = (static_cast<unsigned long long>(blockIdx.x) * (blockDim.x / 64) + threadIdx.x / 64) * a.stride;
         g < groups; g += step * a.stride) {
        const unsigned long long i = g * 64 + lane;
        if (i >= b.count) continue;
        const unsigned long long found = b.words[i];
        const unsigned long long expected = pattern(b.key, a.seed, i);
        if (found != expected) report_mismatch(a, expected, found, i);
    }
}

__device__ void hold(unsigned long long began, unsigned long long ns, unsigned tick_ns)
{
    if (threadIdx.x == 0)
        while (now_ns(tick_ns) - began < ns) {
        }
    __syncthreads();
}

__global__ void work(launch_arguments a)
{
    __shared__ unsigned long long began;
    if (threadIdx.x == 0) {
        began = now_ns(a.tick_ns);
        if (a.stamp) atomicMin(&a.stamp->start, began);
    }
    __syncthreads();
    for (int n = 0; n < a.n_blocks; ++n)
        if (a.blocks[n].write) write_block(a.blocks[n], a.seed);
    __syncthreads();
    if (threadIdx.x == 0 && blockIdx.x == 0 && now_ns(a.tick_ns) - began > a.hold_ns && a.n_blocks > 0 && a.hold_ns > 0)
        atomicAdd(&a.report->overruns, 1ull);
    hold(began, a.verify_at_ns, a.tick_ns);
    for (int n = 0; n < a.n_blocks; ++n)
        if (a.blocks[n].verify) verify_block(a.blocks[n], a);
    __syncthreads();
    hold(began, a.hold_ns, a.tick_ns);
    if (threadIdx.x == 0 && a.stamp) atomicMin(&a.stamp->inverted_end, ~now_ns(a.tick_ns));
}

// -- what the card reaches

__global__ void copy(const uint4* from, uint4* to, unsigned long long n, unsigned times)
{
    const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
    for (unsigned t = 0; t < times; ++t)
        for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
            to[i] = from[i];
}

constexpr int multiply_groups = 2;      // of threads_per_block on each multiprocessor

__global__ void multiply(unsigned rounds, multiply_report* report)
{
    multiply_report mine{};
    const float total = multiply_rounds(rounds, &mine);
    if (total == -1.0f) report->sink = total;    // never: the factors are positive
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    report->how = mine.how;
    report->flops_of_a_block = mine.flops_of_a_block;
}

}  // namespace

int launch_work(stream_t stream, int multiprocessors, const launch_arguments& a)
{
    unsigned long long words = 0;
    for (int n = 0; n < a.n_blocks; ++n) words += a.blocks[n].count;
    // One group a multiprocessor holds the card; kernels that touch little take what their words fill.
    const unsigned long long filling = (words + threads_per_block * 4 - 1) / (threads_per_block * 4);
    const unsigned long long most = static_cast<unsigned long long>(multiprocessors) * 4;
    const unsigned grid = static_cast<unsigned>(filling == 0 ? 1 : filling < most ? filling : most);
    work<<<grid, threads_per_block, 0, stream>>>(a);
    return take_last_error();
}

int launch_copy(stream_t stream, int multiprocessors, const void* from, void* to, std::uint64_t bytes, unsigned times)
{
    const unsigned grid = static_cast<unsigned>(multiprocessors) * 8;
    copy<<<grid, threads_per_block, 0, stream>>>(static_cast<const uint4*>(from), static_cast<uint4*>(to), bytes / sizeof(uint4), times);
    return take_last_error();
}

unsigned multiply_blocks(int multiprocessors)
{
    return static_cast<unsigned>(multiprocessors) * multiply_groups;
}

int launch_multiply(stream_t stream, int multiprocessors, unsigned rounds, multiply_report* report)
{
    multiply<<<multiply_blocks(multiprocessors), threads_per_block, 0, stream>>>(rounds, report);
    return take_last_error();
}

}  // namespace vrambench::gpu
