#pragma once
// Plays events on an allocator as the runner does, and after every call holds the allocator to its contract: what it
// hands out, and its books. A device error is an outcome here: the block of a refused allocation does not exist, the
// block of a refused free is still the caller's.

#include "allocators/allocator.hpp"
#include "device/device.hpp"
#include "tests/allocators/script.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <vector>

namespace vrambench::test {

struct held_block {
    device_ptr pointer = 0;
    std::uint64_t bytes = 0;
    std::uint64_t granted = 0;
    stream_id stream = 0;
    std::uint64_t born = 0;
};

class player {
public:
    player(device& dev, allocator& a)
        : device_(dev), allocator_(a), epoch_(a.address_epoch()), reserved_(a.reserved_bytes())
    {
    }

    /// Called around the checks that follow every call of the allocator.
    std::function<void()> before_checks = [] {};
    std::function<void()> after_checks = [] {};

    void play(const script& s)
    {
        for (const auto& e : s.events()) play(e, s);
    }

    allocation allocate(std::uint32_t id, std::uint64_t bytes, stream_id stream = 0, std::uint32_t alignment = 128)
    {
        allocation a;
        try {
            a = allocator_.allocate(bytes, alignment, stream);
        } catch (const device_error&) {
            ++errors;
            settle(nullptr);
            check_books("after a device error in allocate");
            return a;
        }
        device_.charge(a.work);
        settle(&a);
        check_answer(a, bytes, alignment);
        if (a.pointer) take(id, a, bytes, stream, alignment);
        check_books("after allocate");
        return a;
    }

    deallocation free(std::uint32_t id, stream_id stream = 0)
    {
        const held_block b = held.at(id);
        if (auto* o = device_.observer()) o->freed(id, b.pointer, b.granted, stream);
        deallocation d;
        try {
            d = allocator_.deallocate(b.pointer, b.granted, stream);
        } catch (const device_error&) {
            ++errors;
            settle(nullptr);
            check_books("after a device error in deallocate");
            return d;
        }
        held.erase(id);
        device_.charge(d.work);
        settle(nullptr);
        check_books("after deallocate");
        return d;
    }

    std::uint64_t trim(std::uint64_t keep_bytes)
    {
        std::uint64_t given_back = 0;
        try {
            given_back = allocator_.trim(keep_bytes);
        } catch (const device_error&) {
            ++errors;
            settle(nullptr);
        }
        check_books("after trim");
        return given_back;
    }

    void sync()
    {
        try {
            device_.sync_device();
        } catch (const device_error&) {
            ++errors;
        }
        settle(nullptr);
        allocator_.notify(notification::safe_point);
        check_books("after a synchronisation");
    }

    void launch(std::uint32_t id, stream_id stream, std::int64_t nanoseconds)
    {
        const held_block& b = held.at(id);
        const kernel_access access{b.pointer, b.bytes, id, true};
        device_.launch(stream, nanoseconds * 1000, {&access, 1});
    }

    /// Frees everything in the reverse order of birth, each block on its own stream.
    void free_all()
    {
        std::vector<std::pair<std::uint64_t, std::uint32_t>> by_birth;
        for (const auto& [id, b] : held) by_birth.emplace_back(b.born, id);
        std::sort(by_birth.rbegin(), by_birth.rend());
        for (const auto& [born, id] : by_birth) free(id, held.at(id).stream);
    }

    std::map<std::uint32_t, held_block> held;
    std::uint64_t failures = 0;      ///< requests answered with null
    std::uint64_t errors = 0;        ///< calls that threw device_error

private:
    void play(const event& e, const script& s)
    {
        switch (e.kind) {
        case event_kind::alloc:
            if (held.contains(e.id)) free(e.id, e.stream);    // the driver would not take it before
            if (!held.contains(e.id)) allocate(e.id, e.bytes, e.stream, e.alignment);
            break;
        case event_kind::free:
            if (held.contains(e.id)) free(e.id, e.stream);
            break;
        case event_kind::kernel:
            if (held.contains(s.operand(e))) launch(s.operand(e), e.stream, e.nanoseconds);
            break;
        case event_kind::record: device_.record(e.id, e.stream); break;
        case event_kind::wait: device_.wait(e.id, e.stream); break;
        case event_kind::sync_device: sync(); break;
        default: FAIL() << "the player does not know " << to_string(e.kind);
        }
    }

    /// Asking the driver after a call may fail as any call may; the next question has the answer.
    void settle(allocation* a)
    {
        if (!allocator_.asks_after_calls()) return;
        for (int asked = 0; asked < 3; ++asked) try {
                return allocator_.after_call(a);
            } catch (const device_error&) {
                ++errors;
            }
    }

    void check_answer(const allocation& a, std::uint64_t bytes, std::uint64_t alignment)
    {
        EXPECT_EQ(a.pointer == 0, a.how == path::fail);
        EXPECT_EQ(a.pointer == 0, a.why != failure::none);
        if (!a.pointer) {
            ++failures;
            EXPECT_EQ(a.granted_bytes, 0u);
            EXPECT_GE(a.asked_bytes, 1u);
            return;
        }
        EXPECT_GE(a.granted_bytes, bytes);
        EXPECT_EQ(a.pointer % alignment, 0u) << "alignment " << alignment;
        for (const auto& [id, b] : held)
            EXPECT_TRUE(a.pointer + a.granted_bytes <= b.pointer || b.pointer + b.granted <= a.pointer)
                << bytes << " bytes at " << a.pointer << " overlap block " << id << " at " << b.pointer;
    }

    void take(std::uint32_t id, const allocation& a, std::uint64_t bytes, stream_id stream, std::uint32_t alignment)
    {
        ASSERT_FALSE(held.contains(id));
        held[id] = {a.pointer, bytes, a.granted_bytes, stream, born_++};
        if (auto* o = device_.observer()) o->allocated(id, a.pointer, bytes, a.granted_bytes, alignment, stream);
    }

    void check_books(const char* when)
    {
        std::uint64_t live = 0;
        for (const auto& [id, b] : held) live += b.granted;
        before_checks();
        const allocator_stats s = allocator_.stats();
        EXPECT_EQ(s.live, live) << when;
        EXPECT_EQ(s.live + s.cached, s.reserved) << when;
        EXPECT_EQ(allocator_.reserved_bytes(), s.reserved) << when;
        peak_live_ = std::max(peak_live_, s.live);
        peak_cached_ = std::max(peak_cached_, s.cached);
        peak_reserved_ = std::max(peak_reserved_, s.reserved);
        EXPECT_GE(s.peak_live, peak_live_) << when;
        EXPECT_GE(s.peak_cached, peak_cached_) << when;
        EXPECT_GE(s.peak_reserved, peak_reserved_) << when;
        EXPECT_LE(s.peak_live, s.peak_reserved) << when;
        EXPECT_LE(s.pending, s.cached) << when;
        check_epoch(s.reserved, when);
        after_checks();
    }

    /// Memory cannot leave the allocator without some address becoming invalid.
    void check_epoch(std::uint64_t reserved, const char* when)
    {
        const std::uint64_t epoch = allocator_.address_epoch();
        EXPECT_GE(epoch, epoch_) << when;
        if (reserved < reserved_) { EXPECT_GT(epoch, epoch_) << when; }
        epoch_ = epoch;
        reserved_ = reserved;
    }

    device& device_;
    allocator& allocator_;
    std::uint64_t born_ = 0;
    std::uint64_t epoch_;
    std::uint64_t reserved_;
    std::uint64_t peak_live_ = 0, peak_cached_ = 0, peak_reserved_ = 0;
};

}  // namespace vrambench::test
