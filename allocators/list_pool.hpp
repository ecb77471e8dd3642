#pragma once
// The list pool that ggml calls the legacy pool (ggml_cuda_pool_leg; best fit since llama.cpp #2295, per context and
// stream since #6170): a flat table of 256 cached blocks, best fit, no splitting, 1.05 x over-allocation on a miss,
// nothing given back until the table is full. Byte for byte what the original asks of the driver.
//
// Its flush and retry on out of memory (llama.cpp #22155) is the `retry` adaptor around it. Where the original aborts
// (a failed driver allocation), this returns out of memory.

#include "allocators/allocator.hpp"
#include "allocators/byte_counter.hpp"

#include <array>

namespace vrambench {

class list_pool final : public allocator {
public:
    static constexpr int slots = 256;
    /// A cached block that exceeds the request by this much or more is not used.
    static constexpr std::uint64_t waste_limit = std::uint64_t{64} << 30;

    /// What a miss asks of the driver: 1.05 x in double arithmetic, truncated, rounded up to 256 bytes.
    static std::uint64_t look_ahead(std::uint64_t bytes);

    explicit list_pool(device& dev) : device_(dev) {}
    ~list_pool() override;

    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override;
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override;
    /// Frees cached blocks in slot order until at most `keep_bytes` are reserved.
    std::uint64_t trim(std::uint64_t keep_bytes) override;
    std::uint64_t address_epoch() const override { return epoch_; }
    allocator_stats stats() const override { return counter_.stats(reserved_); }
    allocator_traits traits() const override { return {.legal_in_capture = true}; }
    std::vector<std::uint64_t> cached_blocks() const override;

private:
    struct slot {
        device_ptr pointer = 0;    ///< 0: empty
        std::uint64_t bytes = 0;
    };

    struct fit {
        int slot = -1;                     ///< -1: no block fits
        std::uint32_t visited = slots;
    };

    fit best_fit(std::uint64_t bytes) const;
    allocation miss(std::uint64_t bytes, std::uint32_t work);
    void give_back(const slot& block);

    device& device_;
    std::array<slot, slots> table_{};
    byte_counter counter_;
    std::uint64_t epoch_ = 0;
};

}  // namespace vrambench
