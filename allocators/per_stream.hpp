#pragma once
// One pool a stream, as ggml has it (pools[device][stream], llama.cpp #16991): a policy without events may hand a freed
// block to the same stream only. A block goes back to the pool of the stream on which it is freed.

#include "allocators/allocator.hpp"

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
    recovery_times recovery() const override;
    allocator_traits traits() const override { return pools_.front()->traits(); }
    std::vector<std::uint64_t> cached_blocks() const override;

private:
    /// Brings the sum up to date after pool `p` changed from `before` reserved bytes.
    void update(const allocator& p, std::uint64_t before)
    {
        reserved_ += p.reserved_bytes() - before;
        peak_reserved_ = std::max(peak_reserved_, reserved_);
    }

    std::vector<std::unique_ptr<allocator>> pools_;
    std::uint64_t peak_reserved_ = 0;
};

}  // namespace vrambench
