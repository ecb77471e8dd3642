// What every allocator owes its caller, whatever its policy: one suite for all specs, with one stream and with three, on
// the simulated device. The player checks each answer and the books after every call.

#include "device/registry.hpp"
#include "spec/units.hpp"
#include "tests/allocators/player.hpp"
#include "tests/allocators/specs.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <random>
#include <tuple>

namespace vrambench::test {
namespace {

constexpr std::uint64_t block = 2 * MiB;      // the h200's physical block
constexpr std::int64_t second = 1'000'000'000;    // ns

class conformance : public testing::TestWithParam<std::tuple<std::string, std::uint32_t>> {
protected:
    std::string spec() const { return std::get<0>(GetParam()); }
    std::uint32_t streams() const { return std::get<1>(GetParam()); }
    bool is(std::string_view family) const { return spec().starts_with(family); }

    /// A fresh device and a fresh allocator on it, which has seen the trace that it will serve.
    void open(const script& s, const std::string& device_spec = "sim:h200,vram=8GiB")
    {
        device_ = open_device(choose_device(device_spec), {});
        device_->set_streams(streams());
        start_free_ = free_bytes();
        allocator_ = make(spec(), *device_, streams());
        allocator_->prepare(s, summarise(s));
        player_ = std::make_unique<player>(*device_, *allocator_);
    }

    /// Frees what is left, destroys the allocator and checks that nothing stays behind.
    void close()
    {
        player_->free_all();
        EXPECT_EQ(allocator_->stats().live, 0u);
        player_->sync();
        // The process's default pool outlives the allocator with what is in it: that is what `pool=default` shows.
        const std::uint64_t stays = is("async:pool=default") ? allocator_->reserved_bytes() : 0;
        allocator_.reset();
        EXPECT_EQ(free_bytes(), start_free_ - stays) << "memory stayed with the allocator";
        const auto* o = device_->observer();
        EXPECT_EQ(o->hazard_count(), 0u) << (o->hazards().empty() ? "" : o->hazards().front().message);
    }

    std::uint64_t free_bytes() { return device_->query_memory().free_bytes; }
    std::uint64_t taken() { return start_free_ - free_bytes(); }

    /// Nested blocks of awkward sizes on every stream, used by kernels and freed last in, first out, three times.
    script nested(std::uint32_t largest_alignment = 128) const
    {
        static constexpr std::uint64_t sizes[] = {1, 127, 128, 129, 100'000, MiB + 1, 3 * MiB, 20 * MiB};
        script s(streams());
        for (int round = 0; round < 3; ++round) {
            std::uint32_t id = 0, alignment = 1;
            for (const auto bytes : sizes)
                for (std::uint32_t stream = 0; stream < streams(); ++stream) {
                    s.alloc(id, bytes + static_cast<std::uint64_t>(round) * 4096, stream, alignment);
                    s.kernel(id++, stream);
                    alignment = alignment >= largest_alignment ? 1 : alignment * 2;
                }
            while (id-- > 0) s.free(id, id % streams());
        }
        return s;
    }

    /// Blocks of 512 bytes to 8 MiB that come and go in any order, each freed on its own stream.
    script any_order(unsigned seed) const
    {
        std::mt19937 numbers(seed);
        script s(streams());
        std::vector<std::pair<std::uint32_t, std::uint32_t>> live;    // id, stream
        std::vector<std::uint32_t> spare;
        for (std::uint32_t id = 64; id-- > 0;) spare.push_back(id);
        for (int i = 0; i < 600; ++i) {
            if (live.empty() || (!spare.empty() && numbers() % 5 < 3)) {
                const std::uint32_t id = spare.back(), stream = numbers() % streams();
                spare.pop_back();
                s.alloc(id, (std::uint64_t{512} << numbers() % 14) + numbers() % 512, stream).kernel(id, stream);
                live.emplace_back(id, stream);
            } else {
                std::swap(live[numbers() % live.size()], live.back());
                s.free(live.back().first, live.back().second);
                spare.push_back(live.back().first);
                live.pop_back();
            }
        }
        while (!live.empty()) {
            s.free(live.back().first, live.back().second);
            live.pop_back();
        }
        return s;
    }

    std::unique_ptr<device> device_;
    std::uint64_t start_free_ = 0;
    std::unique_ptr<allocator> allocator_;
    std::unique_ptr<player> player_;
};

TEST_P(conformance, blocks_are_large_enough_aligned_apart_and_safe_to_use)
{
    open(nested());
    const auto alignment = static_cast<std::uint32_t>(allocator_->traits().max_alignment);
    allocator_.reset();
    open(nested(alignment));
    player_->play(nested(alignment));
    EXPECT_EQ(player_->failures, 0u);
    close();
}

TEST_P(conformance, frees_come_in_any_order)
{
    open(nested());
    if (allocator_->traits().needs_lifo) return;
    for (const unsigned seed : {1u, 2u, 3u}) {
        allocator_.reset();
        open(any_order(seed));
        player_->play(any_order(seed));
        EXPECT_EQ(player_->failures, 0u);
        close();
    }
}

/// Ordered by an event, so that nothing is wrong with it: the books must balance and no memory may be lost.
TEST_P(conformance, a_block_may_be_freed_on_another_stream)
{
    if (streams() == 1) return;
    script s(streams());
    for (int round = 0; round < 4; ++round) {
        s.alloc(0, 3 * MiB, 0).kernel(0, 0).alloc(1, 5 * MiB, 1).kernel(1, 1);
        s.record(0, 0).wait(0, 2).free(0, 2);
        s.free(1, 1);
        s.alloc(2, 2 * MiB, 2).kernel(2, 2).free(2, 2);
    }
    try {
        open(s);
    } catch (const unsupported_error&) {
        return;    // a plan by stream cannot serve it, and says so before the start
    }
    if (allocator_->traits().needs_lifo) return;
    player_->play(s);
    EXPECT_EQ(player_->failures, 0u);
    EXPECT_LE(allocator_->stats().peak_live, 40 * MiB);
    EXPECT_LE(allocator_->stats().peak_reserved, 8 * 40 * MiB);
    if (allocator_->traits().can_trim) {
        player_->sync();
        player_->trim(0);
        EXPECT_EQ(allocator_->reserved_bytes(), 0u);
        EXPECT_EQ(free_bytes(), start_free_);
    }
    close();
}

TEST_P(conformance, serves_the_same_trace_again_and_again)
{
    open(nested());
    std::uint64_t reserved = 0;
    for (int pass = 0; pass < 4; ++pass) {
        player_->play(nested());
        if (pass == 1) reserved = allocator_->reserved_bytes();
    }
    EXPECT_EQ(allocator_->reserved_bytes(), reserved) << "a repeated trace must not need more and more";
    EXPECT_EQ(player_->failures, 0u);
    close();
}

TEST_P(conformance, reserved_is_what_the_device_lends)
{
    script s(streams());
    for (std::uint32_t id = 0; id < 6; ++id) s.alloc(id, (id + 1) * 512 * KiB, id % streams()).kernel(id, id % streams());
    for (std::uint32_t id = 6; id-- > 0;) s.free(id, id % streams());
    open(s, "sim:h200,vram=8GiB,block=256");    // where raw memory is exact
    player_->after_checks = [&] { EXPECT_EQ(taken(), allocator_->reserved_bytes()); };
    player_->play(s);
    player_->sync();
    player_->play(s);
    player_->free_all();
    player_->sync();
    player_->trim(0);
    close();
}

TEST_P(conformance, raw_memory_is_lent_in_blocks_of_2_mib)
{
    if (!is("direct") && !is("legacy")) return;
    script s(streams());
    for (std::uint32_t id = 0; id < 6; ++id) s.alloc(id, (id + 1) * 1300 * KiB, id % streams());
    for (std::uint32_t id = 6; id-- > 0;) s.free(id, id % streams());
    open(s);
    player_->after_checks = [&] {
        std::uint64_t expected = 0;
        for (const auto& [id, b] : player_->held) expected += round_up(b.granted, block);
        for (const auto bytes : allocator_->cached_blocks()) expected += round_up(bytes, block);
        EXPECT_EQ(taken(), expected);
    };
    player_->play(s);
    close();
}

// -- out of memory

TEST_P(conformance, out_of_memory_is_a_value_and_what_fits_is_served_after_it)
{
    script s(streams());
    s.alloc(0, 32 * MiB).kernel(0);
    for (std::uint32_t i = 0; i < 5; ++i) s.alloc(100 + i, GiB, i % streams());
    s.alloc(1, 48 * MiB).kernel(1);
    for (std::uint32_t i = 0; i < 5; ++i) s.free(104 - i, (4 - i) % streams());
    s.free(1).free(0).sync().alloc(0, 40 * MiB).kernel(0).free(0);
    open(s, "sim:h200,vram=256MiB");
    player_->play(s);
    if (is("ideal")) {
        EXPECT_EQ(player_->failures, 8u) << "without room for the plan nothing is served";
    } else {
        EXPECT_EQ(player_->failures, 5u);
    }
    EXPECT_EQ(allocator_->stats().failures, player_->failures);
    close();
}

TEST_P(conformance, failed_requests_neither_leak_nor_hoard)
{
    script s(streams());
    for (std::uint32_t i = 0; i < 100; ++i) s.alloc(0, 100 * GiB, i % streams()).free(0, i % streams());
    open(s, "sim:h200,vram=256MiB");
    player_->play(s);
    EXPECT_EQ(player_->failures, 100u);
    EXPECT_EQ(allocator_->stats().failures, 100u);
    EXPECT_LE(taken(), 256 * MiB);
    player_->sync();
    if (allocator_->traits().can_trim) {
        player_->trim(0);
        EXPECT_EQ(free_bytes(), start_free_);
    }
    close();
}

TEST_P(conformance, absurd_sizes_are_refused)
{
    script s(streams());
    s.alloc(0, 1).free(0);
    open(s);
    if (is("ideal")) return;    // serves its plan only
    for (const std::uint64_t bytes : {TiB, std::uint64_t{1} << 50, std::uint64_t{1} << 60})
        EXPECT_EQ(player_->allocate(7, bytes).pointer, 0u) << bytes;
    EXPECT_NE(player_->allocate(7, 1000).pointer, 0u);
    close();
}

/// A device that is filled to the brim by others: every request fails, and works once they are gone. The brim is a block of
/// 2 MiB below the end, since the card leaves a margin free that is smaller than a block.
TEST_P(conformance, recovers_once_somebody_else_makes_room)
{
    script s(streams());
    s.alloc(0, 64 * MiB).kernel(0).free(0);
    if (is("ideal")) return;    // takes its memory before the start
    open(s, "sim:h200,vram=256MiB");
    ASSERT_EQ(device_->malloc(256 * MiB), 0u);
    const device_ptr other = device_->malloc(254 * MiB);
    ASSERT_NE(other, 0u);
    player_->play(s);
    EXPECT_EQ(player_->failures, 1u);
    device_->free(other);
    player_->play(s);
    EXPECT_EQ(player_->failures, 1u);
    close();
}

// -- giving back

TEST_P(conformance, trim_keeps_its_word)
{
    open(nested());
    player_->play(nested());
    player_->sync();
    const bool can = allocator_->traits().can_trim;
    EXPECT_EQ(player_->trim(UINT64_MAX), 0u);
    for (const std::uint64_t keep : {40 * MiB, std::uint64_t{0}}) {
        const std::uint64_t before = allocator_->reserved_bytes(), free_before = free_bytes();
        const std::uint64_t given_back = player_->trim(keep);
        EXPECT_EQ(allocator_->reserved_bytes(), before - given_back);
        EXPECT_EQ(free_bytes() > free_before, given_back > 0);
        if (can) { EXPECT_LE(allocator_->reserved_bytes(), keep == 0 ? 0 : round_up(keep, 32 * MiB)); }
        if (!can) { EXPECT_EQ(given_back, 0u); }
    }
    if (can) {
        EXPECT_EQ(free_bytes(), start_free_);
        EXPECT_TRUE(allocator_->cached_blocks().empty());
    }
    player_->play(nested());
    EXPECT_EQ(player_->failures, 0u);
    close();
}

TEST_P(conformance, trim_leaves_live_blocks_alone)
{
    script s(streams());
    s.alloc(0, 40 * MiB).kernel(0).alloc(1, 40 * MiB).kernel(1).free(1).sync();
    open(s);
    player_->play(s);
    player_->trim(0);
    EXPECT_GE(allocator_->reserved_bytes(), 40 * MiB);
    player_->launch(0, 0, 1000);
    player_->free_all();
    close();
}

TEST_P(conformance, destruction_returns_cached_memory_too)
{
    open(nested());
    player_->play(nested());
    close();
}

// -- the epoch

/// Passes that only reuse leave addresses valid; the player checks the reverse after every call.
TEST_P(conformance, the_epoch_stays_while_nothing_is_given_back)
{
    open(nested());
    player_->play(nested());
    player_->play(nested());
    const auto epoch = allocator_->address_epoch();
    const auto frees = device_->calls()[static_cast<std::size_t>(driver_call::free)];
    player_->play(nested());
    const bool gave_back = device_->calls()[static_cast<std::size_t>(driver_call::free)] != frees;
    EXPECT_EQ(allocator_->address_epoch() != epoch, gave_back);
    close();
}

// -- traits

TEST_P(conformance, traits_are_legal)
{
    open(nested());
    const allocator_traits t = allocator_->traits();
    EXPECT_TRUE(std::has_single_bit(t.max_alignment));
    EXPECT_GE(t.max_alignment, 128u) << "what ggml asks of its back ends";
    EXPECT_FALSE(t.synchronises && t.stream_ordered) << "a free that waits for the device is not stream-ordered";
    EXPECT_FALSE(t.synchronises && t.legal_in_capture);
}

TEST_P(conformance, a_broken_order_of_frees_is_an_exception_where_order_is_needed)
{
    script s(streams());
    s.alloc(0, 3 * MiB).alloc(1, 5 * MiB).free(1).free(0);
    open(s);
    if (!allocator_->traits().needs_lifo) return;
    player_->allocate(0, 3 * MiB);
    player_->allocate(1, 5 * MiB);
    const auto first = player_->held.at(0);
    EXPECT_THROW(allocator_->deallocate(first.pointer, first.granted, 0), policy_error);
    if (streams() > 1) { EXPECT_THROW(allocator_->deallocate(first.pointer, first.granted, 1), policy_error); }
    player_->free(1);    // nothing was changed by the wrong call
    player_->free(0);
    close();
}

/// Behind a second of kernels an allocator that does not synchronise answers at once.
TEST_P(conformance, warm_calls_wait_for_the_device_only_where_they_say_so)
{
    script s(streams());
    s.alloc(0, 3 * MiB).kernel(0, 0, second).free(0).alloc(0, 3 * MiB).kernel(0).free(0);
    open(s);
    player_->play(s);
    player_->sync();
    const std::int64_t start = device_->clock().now_ps();
    player_->play(s);
    const bool waited = device_->clock().now_ps() - start > second / 2 * 1000;
    EXPECT_EQ(waited, allocator_->traits().synchronises);
    close();
}

TEST_P(conformance, hits_are_legal_inside_a_capture_where_it_says_so)
{
    open(nested());
    player_->play(nested());
    player_->play(nested());
    player_->sync();
    device_->capture_begin(0);
    if (allocator_->traits().legal_in_capture) {
        EXPECT_NO_THROW(player_->play(nested()));
        EXPECT_EQ(player_->errors, 0u);
    } else {
        // The device refuses with an error of one kind or another; the allocator passes it on and stays sound.
        EXPECT_ANY_THROW({
            const allocation a = allocator_->allocate(3 * MiB, 128, 0);
            allocator_->deallocate(a.pointer, a.granted_bytes, 0);
        });
    }
    device_->capture_end(0, 0);
    player_->play(nested());
    EXPECT_EQ(player_->failures, 0u);
    close();
}

// -- the rest of the interface

TEST_P(conformance, notifications_may_come_at_any_time)
{
    open(nested());
    const auto all = {notification::step, notification::safe_point, notification::capture_begin, notification::capture_end};
    for (const auto n : all) allocator_->notify(n);
    player_->play(nested());
    for (const auto n : all) allocator_->notify(n);
    player_->play(nested());
    EXPECT_EQ(player_->failures, 0u);
    close();
}

TEST_P(conformance, an_empty_trace_can_be_prepared)
{
    open(script(streams()));
    EXPECT_EQ(allocator_->stats().live, 0u);
    EXPECT_EQ(allocator_->trim(0), 0u);
    close();
}

INSTANTIATE_TEST_SUITE_P(allocators, conformance, testing::Combine(testing::ValuesIn(all_specs()), testing::Values(1u, 3u)),
                         [](const auto& p) {
                             return test_name(std::get<0>(p.param)) + "_" + std::to_string(std::get<1>(p.param));
                         });

}  // namespace
}  // namespace vrambench::test
