#pragma once
// The stack on virtual memory that ggml calls the VMM pool (ggml_cuda_pool_vmm, llama.cpp #4606, #4620, #4687): 32 GiB of
// addresses reserved at the first growth, physical memory mapped behind what is there by just what is missing, blocks
// freed last in, first out, nothing ever unmapped. Where the original aborts, this returns out of memory (a driver that
// has none, or the reservation used up) or throws policy_error (a free out of order).

#include "allocators/allocator.hpp"
#include "allocators/byte_counter.hpp"

namespace vrambench {

class vmm_stack final : public allocator {
public:
    static constexpr std::uint64_t reservation = std::uint64_t{32} << 30;
    static constexpr std::uint64_t grain = 128;    ///< requests are rounded up to this

    /// `growth_unit`: memory is mapped in multiples of it; 0 takes the device's recommended granularity. Throws
    /// unsupported_error where the device has no virtual memory management.
    vmm_stack(device& dev, std::uint64_t growth_unit);
    ~vmm_stack() override;

    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override;
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override;
    std::uint64_t trim(std::uint64_t) override { return 0; }
    allocator_stats stats() const override { return counter_.stats(reserved_); }
    std::uint64_t largest_unused_block(stream_id) override { return (reserved_ - used_) / grain * grain; }
    allocator_traits traits() const override
    {
        return {.needs_lifo = true, .legal_in_capture = true, .can_trim = false, .max_alignment = grain};
    }

private:
    failure grow(std::uint64_t bytes);

    device& device_;
    std::uint64_t unit_;
    device_ptr base_ = 0;          ///< 0 until the first growth
    std::uint64_t used_ = 0;
    byte_counter counter_;         ///< reserved_ counts the mapped bytes
};

}  // namespace vrambench
