#pragma once
// What an allocator does after a failed request, as an adaptor around any policy. It acts once and tries once more:
//   sync   synchronises the stream                        (stream-ordered pools: pending frees become usable)
//   trim   synchronises the stream and trims to nothing   (the same, and the pool starts afresh)
//   flush  synchronises the device and frees every cached block (llama.cpp #22155: ggml's legacy pool since 2026-04-21;
//          the synchronise matters, because "freed" there only means "put back in the list")

#include "allocators/allocator.hpp"

#include <memory>

namespace vrambench {

/// The times of a recovery; where the device did not know them then, it is idle now.
recovery_times times_of(const recovery_trace& r, device& dev);

class retry final : public allocator {
public:
    retry(std::unique_ptr<allocator> inner, device& dev, recovery_action action);

    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override;
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override;
    std::uint64_t trim(std::uint64_t keep_bytes) override;
    void prepare(const trace& t, const trace_summary& summary) override { inner_->prepare(t, summary); }
    void notify(notification what) override { inner_->notify(what); }
    void after_call(allocation* a) override;
    std::uint64_t address_epoch() const override { return inner_->address_epoch(); }
    allocator_stats stats() const override;
    recovery_times take_recovery() override;
    const recovery_trace* last_recovery(stream_id) const override { return recoveries_ ? &last_ : nullptr; }
    std::uint64_t largest_unused_block(stream_id stream) override { return inner_->largest_unused_block(stream); }
    allocator_traits traits() const override { return inner_->traits(); }
    std::vector<std::uint64_t> cached_blocks() const override { return inner_->cached_blocks(); }

private:
    /// Keeps reserved_ the inner allocator's, also when a call ends in an exception half-way.
    class following {
    public:
        explicit following(retry& r) : retry_(r) {}
        ~following() { retry_.reserved_ = retry_.inner_->reserved_bytes(); }
        following(const following&) = delete;
        following& operator=(const following&) = delete;

    private:
        retry& retry_;
    };

    void remember(const recovery_trace& taken);
    allocation recover(std::uint64_t bytes, std::uint64_t alignment, stream_id stream, const allocation& failed);

    std::unique_ptr<allocator> inner_;
    device& device_;
    recovery_action action_;
    recovery_times times_;                 ///< of recoveries whose parts are known
    std::vector<recovery_trace> unresolved_;   ///< on a GPU: of the pass that runs
    recovery_trace last_;
    std::uint64_t given_back_ = 0;         ///< in all, for stats()
    std::uint64_t attempts_ = 0, recoveries_ = 0, failures_ = 0;
};

}  // namespace vrambench
