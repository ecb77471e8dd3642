#pragma once
// What an allocator does after a failed request, as an adaptor around any policy. It acts once and tries once more:
//   sync   synchronises the stream                        (stream-ordered pools: pending frees become usable)
//   trim   synchronises the stream and trims to nothing   (the same, and the pool starts afresh)
//   flush  synchronises the device and frees every cached block (llama.cpp #22155: ggml's legacy pool since 2026-04-21;
//          the synchronise matters, because "freed" there only means "put back in the list")

#include "allocators/allocator.hpp"

#include <memory>

namespace vrambench {

enum class recovery_action : std::uint8_t { sync, trim, flush };

class retry final : public allocator {
public:
    /// A part of a recovery: host times in picoseconds, and how long the device was busy in it; negative: to be asked.
    struct stretch {
        std::int64_t begin = 0, end = 0, busy = 0;
    };

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

    struct parts {
        stretch sync, free, allocate;
    };

    void remember(const parts& taken);
    void add(const parts& taken, recovery_times& to) const;
    allocation recover(std::uint64_t bytes, std::uint64_t alignment, stream_id stream, const allocation& failed);

    std::unique_ptr<allocator> inner_;
    device& device_;
    recovery_action action_;
    recovery_times times_;                 ///< of recoveries whose parts are known
    std::vector<parts> unresolved_;        ///< on a GPU: of the pass that runs
    std::uint64_t given_back_ = 0;         ///< in all, for stats()
    std::uint64_t attempts_ = 0, recoveries_ = 0, failures_ = 0;
};

}  // namespace vrambench
