#pragma once
// What the kernels need beyond the common language, on Moore Threads' cards. Like musa.hpp, it has not run on a card.

#include "device/kernels.hpp"

namespace vrambench::gpu::inline musa {

/// The multiprocessor's own counter: how long one of its steps takes is not known, so that kernels hold for a wrong time. To be
/// corrected by the first person with a card; the pattern checks do not depend on it.
__device__ inline unsigned long long timer_ticks() { return static_cast<unsigned long long>(clock64()); }

/// No form of it is known to be fast.
__device__ inline float multiply_rounds(unsigned, multiply_report* report)
{
    report->how = multiply_how::none;
    return 0;
}

}  // namespace vrambench::gpu
