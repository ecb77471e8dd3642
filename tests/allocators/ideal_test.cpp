// The reference line: everything is taken before the clock starts, and nothing is asked of the driver after that.

#include "spec/units.hpp"
#include "tests/allocators/player.hpp"
#include "tests/allocators/scripted_device.hpp"
#include "tests/allocators/specs.hpp"

#include <gtest/gtest.h>

namespace vrambench::test {
namespace {

struct planned {
    planned(const script& s, scripted_device& dev) : pool(make("ideal", dev, s.header().streams))
    {
        pool->prepare(s, summarise(s));
    }
    std::unique_ptr<allocator> pool;
};

TEST(ideal_policy, a_lifo_trace_gets_a_stack_of_what_it_needs_at_most)
{
    script s;
    s.alloc(0, MiB).alloc(1, 2 * MiB).free(1).alloc(1, 512 * KiB).free(1).free(0);
    scripted_device dev;
    {
        const planned ideal(s, dev);
        EXPECT_EQ(dev.log_since(0), "malloc 3145728");
        player p(dev, *ideal.pool);
        p.play(s);
        p.play(s);
        EXPECT_EQ(ideal.pool->stats().peak_live, 3 * MiB);
        EXPECT_EQ(dev.log_since(1), "");
    }
    EXPECT_EQ(dev.log_since(1), "free 3145728");
}

/// A gap that alignment leaves belongs to no block.
TEST(ideal_policy, odd_sizes_and_alignments_stay_apart_and_inside)
{
    script s;
    s.alloc(0, 100, 0, 1).alloc(1, 128, 0, 128).alloc(2, 3, 0, 64).free(2).free(1).alloc(1, 200, 0, 1).alloc(2, 1, 0, 256);
    s.free(2).free(1).free(0);
    scripted_device dev;
    const planned ideal(s, dev);
    player p(dev, *ideal.pool);
    device_ptr end = 0;
    p.after_checks = [&] {
        for (const auto& [id, b] : p.held) end = std::max(end, b.pointer + b.granted);
    };
    p.play(s);
    p.play(s);
    EXPECT_LE(end, scripted_device::raw_base + ideal.pool->reserved_bytes());
}

TEST(ideal_policy, another_order_gets_a_best_fit_plan)
{
    script s;
    s.alloc(0, MiB).alloc(1, MiB).alloc(2, MiB).free(1).alloc(3, 512 * KiB).free(0).alloc(4, MiB).free(3).free(2).free(4);
    scripted_device dev;
    const planned ideal(s, dev);
    EXPECT_EQ(dev.log_since(0), "malloc 3145728") << "what is alive at once, with no hole";
    player p(dev, *ideal.pool);
    p.play(s);
    p.play(s);
    EXPECT_EQ(p.failures, 0u);
    EXPECT_EQ(dev.log_since(1), "");
}

TEST(ideal_policy, each_stream_has_an_arena)
{
    script s(3);
    s.alloc(0, MiB, 0).alloc(1, 2 * MiB, 2).free(0, 0).free(1, 2);
    scripted_device dev;
    const planned ideal(s, dev);
    EXPECT_EQ(dev.log_since(0), "malloc 1048576, malloc 2097152") << "and none for a stream without blocks";
}

TEST(ideal_policy, a_plan_that_does_not_fit_fails_request_by_request)
{
    script s;
    s.alloc(0, 4 * MiB).free(0);
    scripted_device dev(3 * MiB);
    const planned ideal(s, dev);
    const allocation a = ideal.pool->allocate(4 * MiB, 128, 0);
    EXPECT_EQ(a.pointer, 0u);
    EXPECT_EQ(a.why, failure::memory);
    EXPECT_EQ(a.asked_bytes, 4 * MiB);
    EXPECT_EQ(ideal.pool->stats().failures, 1u);
}

TEST(ideal_policy, a_block_that_changes_streams_cannot_be_planned)
{
    script s(2);
    s.alloc(0, MiB, 0).free(0, 1);
    scripted_device dev;
    EXPECT_THROW(planned(s, dev), unsupported_error);
}

}  // namespace
}  // namespace vrambench::test
