#pragma once
// One pool a stream, as ggml has it (pools[device][stream], llama.cpp #16991): a policy without events may hand a freed
// block to the same stream only. A block goes back to the pool of the stream on which it is freed.
//
// A block that is freed on another stream than its own changes pools, and then each pool's own counts are off by it, one
// up and one down. So the books are kept here, of all pools together, where they are exact.

#include "allocators/allocator.hpp"
#include "allocators/byte_counter.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace vrambench {

class per_stream final : public allocator {
public:
    /// `make` is called once for every stream.
    per_stream(std::uint32_t streams, const std::function<std::unique_ptr<allocator>()>& make);

    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override;
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override;
    std::uint64_t trim(std::uint64_t keep_bytes) override;
    void notify(notification what) override;
    std::uint64_t address_epoch() const override;
    allocator_stats stats() const override;
    recovery_times take_recovery() override;
    const recovery_trace* last_recovery(stream_id stream) const override { return pools_[stream]->last_recovery(stream); }
    std::uint64_t largest_unused_block(stream_id stream) override { return pools_[stream]->largest_unused_block(stream); }
    allocator_traits traits() const override { return pools_.front()->traits(); }
    std::vector<std::uint64_t> cached_blocks() const override;

private:
    /// Brings the sum up to date after one pool changed, also when the call ends in an exception half-way.
    class following {
    public:
        following(per_stream& all, const allocator& pool) : all_(all), pool_(pool), before_(pool.reserved_bytes()) {}
        ~following() { all_.reserved_ += pool_.reserved_bytes() - before_; }
        following(const following&) = delete;
        following& operator=(const following&) = delete;

    private:
        per_stream& all_;
        const allocator& pool_;
        std::uint64_t before_;
    };

    std::vector<std::unique_ptr<allocator>> pools_;
    byte_counter counter_;
};

}  // namespace vrambench
