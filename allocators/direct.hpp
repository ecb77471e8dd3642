#pragma once
// One raw driver allocation per request, given back at once. The driver's free waits for the device (CUDA may, HIP does),
// which is what this policy costs. Proposed for the flash-attention f16 buffers on HIP (llama.cpp #22094, #22185).

#include "allocators/allocator.hpp"
#include "allocators/byte_counter.hpp"

namespace vrambench {

class direct final : public allocator {
public:
    explicit direct(device& dev) : device_(dev) {}

    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override;
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override;
    std::uint64_t trim(std::uint64_t) override { return 0; }
    std::uint64_t address_epoch() const override { return epoch_; }
    allocator_stats stats() const override { return counter_.stats(reserved_); }
    allocator_traits traits() const override
    {
        return {.stream_ordered = false, .keeps_freed = false, .can_trim = false, .synchronises = true};
    }

private:
    device& device_;
    byte_counter counter_;
    std::uint64_t epoch_ = 0;
};

}  // namespace vrambench
