#pragma once
// Two devices of one runtime: what the driver says of them, and whether a copy between them arrives. For gpu_device only.

#include "device/device.hpp"

namespace vrambench::gpu::inline VRAMBENCH_VENDOR {

/// device::try_peer. Leaves either device selected, and gives back what it took, peer access too.
peer_trial try_peer(int to, int from, std::uint64_t bytes);

}  // namespace vrambench::gpu
