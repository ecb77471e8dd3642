#pragma once
// The driver's own pool: stream-ordered allocation (cudaMallocAsync, hipMallocAsync). Every repetition has a pool of its
// own, since the default pool belongs to the process and keeps what earlier runs left in it (`pool=default` shows that).
//
// The driver does not say whether a call was a hit: after the call, outside the timed interval, the pool's reserved
// attribute is read, and a call that raised it counts as `grow`.

#include "allocators/allocator.hpp"
#include "allocators/byte_counter.hpp"

namespace vrambench {

class stream_ordered final : public allocator {
public:
    /// `threshold`: bytes that a synchronisation leaves in the pool. Throws unsupported_error where the device has no pools.
    stream_ordered(device& dev, std::uint64_t threshold, bool own_pool);
    ~stream_ordered() override;

    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override;
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override;
    std::uint64_t trim(std::uint64_t keep_bytes) override;
    void after_call(allocation* a) override;
    std::uint64_t address_epoch() const override { return epoch_; }
    allocator_stats stats() const override;
    std::uint64_t largest_unused_block(stream_id stream) override;
    /// At threshold 0 what was freed goes back to the driver at the next synchronisation.
    allocator_traits traits() const override { return {.keeps_freed = threshold_ > 0}; }

private:
    device& device_;
    std::uint64_t threshold_;
    pool_id pool_;
    bool own_pool_;
    byte_counter counter_;
    std::uint64_t epoch_ = 0;
};

}  // namespace vrambench
