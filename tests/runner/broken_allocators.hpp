#pragma once
// Allocators with one mistake each, and the same without it. The mistakes are those that real ones had or could have:
// an edge that was forgotten, a list that keeps what it hands out, memory that goes back too early. `flaw::none` is right.

#include "allocators/allocator.hpp"
#include "allocators/list_pool.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace vrambench::test {

enum class flaw {
    none,
    // event_pool
    no_wait, waits_on_wrong_stream, records_on_wrong_stream, records_when_handed_out, one_event_for_all, keeps_what_it_hands_out,
    lists_twice, splits_overlapping,
    // flushing
    no_sync, syncs_one_stream, forgets_to_clear,
    // arena
    overlaps, grants_less, misaligned, outside, pops_too_much, reuses_too_early,
    // driver memory
    asks_for_half, frees_live, no_access,
    // async
    allocates_on_stream_0, frees_on_stream_0, caches_what_it_freed, destroys_live_pool,
};

/// What is common to small policies: books that need not be exact.
class small_policy : public allocator {
public:
    explicit small_policy(device& dev, flaw f = flaw::none) : device_(dev), flaw_(f) {}
    std::uint64_t trim(std::uint64_t) override { return 0; }
    allocator_stats stats() const override
    {
        allocator_stats s;
        s.reserved = s.peak_reserved = reserved_;
        return s;
    }
    allocator_traits traits() const override { return {}; }

protected:
    static allocation out_of_memory(std::uint64_t bytes) { return {.why = failure::memory, .asked_bytes = bytes}; }
    bool has(flaw f) const { return flaw_ == f; }

    device& device_;
    flaw flaw_;
};

/// An adaptor that changes nothing.
class wrapped : public allocator {
public:
    wrapped(std::unique_ptr<allocator> inner, device& dev, flaw f = flaw::none) : inner_(std::move(inner)), device_(dev), flaw_(f)
    {
        asks_after_calls_ = inner_->asks_after_calls();
    }
    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override
    {
        return follow(inner_->allocate(bytes, alignment, stream));
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override
    {
        return follow(inner_->deallocate(pointer, granted_bytes, stream));
    }
    std::uint64_t trim(std::uint64_t keep_bytes) override { return follow(inner_->trim(keep_bytes)); }
    void prepare(const trace& t, const trace_summary& summary) override
    {
        inner_->prepare(t, summary);
        follow(0);
    }
    void notify(notification what) override { inner_->notify(what); }
    void after_call(allocation* a) override
    {
        inner_->after_call(a);
        follow(0);
    }
    allocator_stats stats() const override { return inner_->stats(); }
    allocator_traits traits() const override { return inner_->traits(); }
    std::vector<std::uint64_t> cached_blocks() const override { return inner_->cached_blocks(); }

protected:
    template <class T> T follow(T value)
    {
        reserved_ = inner_->reserved_bytes();
        return value;
    }

    std::unique_ptr<allocator> inner_;
    device& device_;
    flaw flaw_;
};

/// One list of blocks for all streams. A free records an event, and whoever takes the block waits for it.
class event_pool final : public small_policy {
public:
    using small_policy::small_policy;
    ~event_pool() override
    {
        for (const auto& b : cached_) quietly([&] { device_.free(b.pointer); });
    }

    allocation allocate(std::uint64_t bytes, std::uint64_t, stream_id stream) override
    {
        const auto fits = std::find_if(cached_.begin(), cached_.end(), [&](const block& b) { return b.bytes >= bytes; });
        if (fits == cached_.end()) return grow(bytes, stream);
        block b = *fits;
        if (!has(flaw::keeps_what_it_hands_out)) cached_.erase(fits);
        if (!has(flaw::no_wait)) device_.wait(event_of(b.pointer), has(flaw::waits_on_wrong_stream) ? b.freed_on : stream);
        if (has(flaw::splits_overlapping) && b.bytes > bytes) cached_.push_back({b.pointer + bytes / 2, b.bytes / 2, b.freed_on});
        if (has(flaw::records_when_handed_out)) device_.record(event_of(b.pointer), stream);
        return {.pointer = b.pointer, .granted_bytes = b.bytes, .how = path::hit};
    }

    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override
    {
        if (!has(flaw::records_when_handed_out))
            device_.record(event_of(pointer), has(flaw::records_on_wrong_stream) ? wrong_stream : stream);
        cached_.push_back({pointer, granted_bytes, stream});
        if (has(flaw::lists_twice)) cached_.push_back(cached_.back());
        return {};
    }

private:
    struct block {
        device_ptr pointer;
        std::uint64_t bytes;
        stream_id freed_on;
    };
    static constexpr stream_id wrong_stream = 2;

    allocation grow(std::uint64_t bytes, stream_id stream)
    {
        const device_ptr p = device_.malloc(bytes);
        if (!p) return out_of_memory(bytes);
        reserved_ += bytes;
        if (has(flaw::records_when_handed_out)) device_.record(event_of(p), stream);
        return {.pointer = p, .granted_bytes = bytes, .how = path::grow};
    }
    event_id event_of(device_ptr pointer)
    {
        if (has(flaw::one_event_for_all)) return first_event;
        return events_.try_emplace(pointer, first_event + static_cast<event_id>(events_.size())).first->second;
    }

    static constexpr event_id first_event = 100;    ///< the trace's own are below
    std::vector<block> cached_;
    std::map<device_ptr, event_id> events_;
};

/// Out of memory: synchronises, frees what is cached and tries once more, around any pools.
class flushing final : public wrapped {
public:
    using wrapped::wrapped;
    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override
    {
        allocation a = inner_->allocate(bytes, alignment, stream);
        if (!a.pointer) {
            if (flaw_ == flaw::syncs_one_stream) device_.sync_stream(stream);
            if (flaw_ == flaw::none) device_.sync_device();
            inner_->trim(0);
            a = inner_->allocate(bytes, alignment, stream);
        }
        return follow(a);
    }
};

/// A list that is emptied at each step, after which its blocks are the driver's.
class emptied_at_steps final : public small_policy {
public:
    using small_policy::small_policy;
    ~emptied_at_steps() override
    {
        if (!has(flaw::forgets_to_clear)) empty();
    }
    allocation allocate(std::uint64_t bytes, std::uint64_t, stream_id) override
    {
        const auto fits = std::find_if(cached_.begin(), cached_.end(), [&](const auto& b) { return b.second >= bytes; });
        if (fits != cached_.end()) {
            const auto [pointer, granted] = *fits;
            cached_.erase(fits);
            return {.pointer = pointer, .granted_bytes = granted, .how = path::hit};
        }
        const device_ptr p = device_.malloc(bytes);
        if (!p) return out_of_memory(bytes);
        return {.pointer = p, .granted_bytes = bytes, .how = path::grow};
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id) override
    {
        cached_.emplace_back(pointer, granted_bytes);
        return {};
    }
    void notify(notification what) override
    {
        if (what != notification::step) return;
        if (!has(flaw::no_sync)) device_.sync_device();
        empty();
    }

private:
    void empty()
    {
        for (const auto& [pointer, bytes] : cached_) quietly([&, p = pointer] { device_.free(p); });
        if (!has(flaw::forgets_to_clear)) cached_.clear();
    }
    std::vector<std::pair<device_ptr, std::uint64_t>> cached_;
};

/// Keeps at most `most` blocks: the oldest goes back to the driver.
class evicting final : public small_policy {
public:
    using small_policy::small_policy;
    ~evicting() override
    {
        for (const auto& [pointer, bytes] : cached_) quietly([&, p = pointer] { device_.free(p); });
    }
    allocation allocate(std::uint64_t bytes, std::uint64_t, stream_id) override
    {
        const device_ptr p = device_.malloc(bytes);
        if (!p) return out_of_memory(bytes);
        return {.pointer = p, .granted_bytes = bytes, .how = path::grow};
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id) override
    {
        cached_.emplace_back(pointer, granted_bytes);
        if (cached_.size() <= most) return {};
        if (!has(flaw::no_sync)) device_.sync_device();
        device_.free(cached_.front().first);
        cached_.pop_front();
        return {.how = path::driver};
    }

private:
    static constexpr std::size_t most = 1;
    std::deque<std::pair<device_ptr, std::uint64_t>> cached_;
};

/// A stack in one piece of driver memory.
class arena final : public small_policy {
public:
    arena(device& dev, flaw f) : small_policy(dev, f), base_(dev.malloc(size)) { reserved_ = size; }
    ~arena() override
    {
        quietly([&] { device_.free(base_); });
    }
    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id) override
    {
        const std::uint64_t granted = round_up(bytes, alignment);
        std::uint64_t offset = top_;
        if (has(flaw::misaligned)) offset += alignment / 2;
        if (has(flaw::outside)) offset += size - bytes / 2;
        top_ += has(flaw::overlaps) ? granted / 2 : granted;
        return {.pointer = base_ + offset, .granted_bytes = has(flaw::grants_less) ? bytes / 2 : granted, .how = path::hit};
    }
    deallocation deallocate(device_ptr, std::uint64_t granted_bytes, stream_id) override
    {
        if (has(flaw::overlaps)) granted_bytes /= 2;
        if (has(flaw::grants_less)) granted_bytes *= 2;
        if (has(flaw::pops_too_much)) granted_bytes *= 2;
        top_ -= std::min(top_, granted_bytes);
        return {};
    }

private:
    static constexpr std::uint64_t size = 64 * MiB;
    device_ptr base_;
    std::uint64_t top_ = 0;
};

/// A ring: the next block begins where the last one ended, and at the end it starts over. It is meant for traffic in which
/// what was there has long been freed; the right one is as long as that takes.
class ring final : public small_policy {
public:
    ring(device& dev, flaw f) : small_policy(dev, f), size_(f == flaw::reuses_too_early ? 8 * MiB : 64 * MiB), base_(dev.malloc(size_))
    {
    }
    ~ring() override
    {
        quietly([&] { device_.free(base_); });
    }
    allocation allocate(std::uint64_t bytes, std::uint64_t, stream_id) override
    {
        if (next_ + bytes > size_) next_ = 0;
        const device_ptr p = base_ + next_;
        next_ += bytes;
        return {.pointer = p, .granted_bytes = bytes, .how = path::hit};
    }
    deallocation deallocate(device_ptr, std::uint64_t, stream_id) override { return {}; }

private:
    std::uint64_t size_;
    device_ptr base_;
    std::uint64_t next_ = 0;
};

/// One driver allocation a block.
class one_by_one final : public small_policy {
public:
    using small_policy::small_policy;
    allocation allocate(std::uint64_t bytes, std::uint64_t, stream_id) override
    {
        const device_ptr p = device_.malloc(has(flaw::asks_for_half) ? bytes / 2 : bytes);
        if (!p) return out_of_memory(bytes);
        live_.push_back(p);
        return {.pointer = p, .granted_bytes = bytes, .how = path::driver};
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t, stream_id) override
    {
        if (std::erase(live_, pointer) > 0) device_.free(pointer);
        return {.how = path::driver};
    }
    void notify(notification what) override
    {
        if (!has(flaw::frees_live) || what != notification::step || live_.empty()) return;
        device_.free(live_.front());
        live_.erase(live_.begin());
    }

private:
    std::vector<device_ptr> live_;
};

/// Maps each block and unmaps it when it is freed. Unmapping does not wait for kernels.
class mapped_one_by_one final : public small_policy {
public:
    mapped_one_by_one(device& dev, flaw f) : small_policy(dev, f), base_(dev.reserve(space)) {}
    ~mapped_one_by_one() override
    {
        quietly([&] { device_.unreserve(base_, space); });
    }
    allocation allocate(std::uint64_t bytes, std::uint64_t, stream_id) override
    {
        const std::uint64_t granted = round_up(bytes, device_.info().vmm_granularity);
        const vmm_handle handle = device_.create(granted);
        if (!handle) return out_of_memory(granted);
        const device_ptr p = base_ + top_;
        top_ += granted;
        device_.map(p, granted, handle);
        device_.release(handle);
        if (!has(flaw::no_access)) device_.set_access(p, granted);
        live_[p] = granted;
        return {.pointer = p, .granted_bytes = granted, .how = path::grow};
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override
    {
        if (live_.erase(pointer) == 0) return {};
        if (!has(flaw::no_sync)) device_.sync_stream(stream);
        device_.unmap(pointer, granted_bytes);
        return {.how = path::driver};
    }
    void notify(notification what) override
    {
        if (!has(flaw::frees_live) || what != notification::step) return;
        for (const auto& [pointer, bytes] : live_) device_.unmap(pointer, bytes);
        live_.clear();
    }

private:
    static constexpr std::uint64_t space = GiB;
    device_ptr base_;
    std::uint64_t top_ = 0;
    std::map<device_ptr, std::uint64_t> live_;
};

/// The driver's pool, called in ways that the driver cannot see to be wrong.
class misused_pool final : public small_policy {
public:
    misused_pool(device& dev, flaw f, std::uint64_t threshold = UINT64_MAX)
        : small_policy(dev, f), pool_(dev.create_pool({.threshold = threshold}))
    {
    }
    ~misused_pool() override
    {
        quietly([&] { device_.destroy_pool(pool_); });
    }
    allocation allocate(std::uint64_t bytes, std::uint64_t, stream_id stream) override
    {
        if (has(flaw::caches_what_it_freed) && freed_) return {.pointer = std::exchange(freed_, 0), .granted_bytes = bytes, .how = path::hit};
        const device_ptr p = device_.malloc_async(bytes, pool_, has(flaw::allocates_on_stream_0) ? 0 : stream);
        if (!p) return out_of_memory(bytes);
        return {.pointer = p, .granted_bytes = bytes, .how = path::hit};
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t, stream_id stream) override
    {
        quietly([&] { device_.free_async(pointer, has(flaw::frees_on_stream_0) ? 0 : stream); });
        freed_ = pointer;
        return {};
    }
    void notify(notification what) override
    {
        if (has(flaw::destroys_live_pool) && what == notification::step) {
            device_.destroy_pool(pool_);
            pool_ = device_.create_pool({});
        }
    }

private:
    pool_id pool_;
    device_ptr freed_ = 0;
};

/// One list a stream, but a block goes back to the stream that it was allocated on, wherever it is freed.
class home_coming final : public small_policy {
public:
    home_coming(device& dev, std::uint32_t streams) : small_policy(dev)
    {
        for (std::uint32_t s = 0; s < streams; ++s) pools_.push_back(std::make_unique<list_pool>(dev));
    }
    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override
    {
        const allocation a = pools_[stream]->allocate(bytes, alignment, stream);
        home_[a.pointer] = stream;
        return a;
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override
    {
        return pools_[home_[pointer]]->deallocate(pointer, granted_bytes, stream);
    }

private:
    std::vector<std::unique_ptr<list_pool>> pools_;
    std::map<device_ptr, stream_id> home_;
};

/// Plans for another trace than the one that runs.
class planned_for final : public wrapped {
public:
    planned_for(std::unique_ptr<allocator> inner, device& dev, std::shared_ptr<const trace> other)
        : wrapped(std::move(inner), dev), other_(std::move(other))
    {
    }
    void prepare(const trace&, const trace_summary&) override
    {
        inner_->prepare(*other_, summarise(*other_));
        follow(0);
    }

private:
    std::shared_ptr<const trace> other_;
};

/// Flushes its cached blocks when it is told: at each step. The caller's graphs know nothing of it.
class flushed_at_steps final : public wrapped {
public:
    using wrapped::wrapped;
    void notify(notification what) override
    {
        if (what != notification::step) return;
        device_.sync_device();
        follow(inner_->trim(0));
    }
};

/// Right for the first `calls` allocations; then it hands out the last block again.
class breaks_later final : public wrapped {
public:
    breaks_later(std::unique_ptr<allocator> inner, device& dev, std::uint64_t calls) : wrapped(std::move(inner), dev), left_(calls) {}
    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override
    {
        if (left_ == 0) return last_;
        --left_;
        return last_ = wrapped::allocate(bytes, alignment, stream);
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override
    {
        if (left_ == 0 && pointer == last_.pointer && std::exchange(freed_, true)) return {};
        return wrapped::deallocate(pointer, granted_bytes, stream);
    }

private:
    std::uint64_t left_;
    allocation last_;
    bool freed_ = false;
};

/// Makes any of the above.
template <class Policy> auto make_flawed(flaw f)
{
    return [f](device& dev, std::uint32_t) -> std::unique_ptr<allocator> { return std::make_unique<Policy>(dev, f); };
}

}  // namespace vrambench::test
