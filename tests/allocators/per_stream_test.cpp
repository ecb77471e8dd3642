// One pool a stream.

#include "spec/units.hpp"
#include "tests/allocators/player.hpp"
#include "tests/allocators/scripted_device.hpp"
#include "tests/allocators/specs.hpp"

#include <gtest/gtest.h>

namespace vrambench::test {
namespace {

TEST(pools_by_stream, a_freed_block_serves_its_own_stream_only)
{
    scripted_device dev;
    const auto pool = make("legacy", dev, 2);
    const allocation a = pool->allocate(MiB, 128, 0);
    pool->deallocate(a.pointer, a.granted_bytes, 0);
    EXPECT_EQ(pool->allocate(MiB, 128, 1).how, path::grow);
    const allocation again = pool->allocate(MiB, 128, 0);
    EXPECT_EQ(again.how, path::hit);
    EXPECT_EQ(again.pointer, a.pointer);
}

TEST(pools_by_stream, each_stack_has_its_own_reservation)
{
    scripted_device dev;
    const auto pool = make("vmm", dev, 3);
    pool->allocate(1, 128, 0);
    pool->allocate(1, 128, 2);
    EXPECT_EQ(dev.reservations(), 2u) << "and none where nothing was asked for";
    EXPECT_EQ(pool->reserved_bytes(), 2 * scripted_device::granularity);
}

/// Blocks that move to the pool of the stream that frees them leave one pool's counts too high and the other's too low.
TEST(pools_by_stream, the_books_hold_when_blocks_change_pools)
{
    scripted_device dev;
    {
        const auto pool = make("legacy-retry", dev, 2);
        player p(dev, *pool);
        for (int round = 0; round < 3; ++round) {
            p.allocate(0, MiB, 0);
            p.allocate(1, 2 * MiB, 1);
            p.free(0, 1);
            p.free(1, 1);
        }
        EXPECT_EQ(pool->stats().peak_live, 1101056u + 2202112u);
        EXPECT_EQ(pool->stats().cached, 3 * 1101056u + 2202112u) << "the first stream never gets its blocks back";
        EXPECT_EQ(p.trim(0), 3 * 1101056u + 2202112u);
        EXPECT_EQ(dev.lent_bytes(), 0u);
    }
    EXPECT_TRUE(dev.misuse.empty());
}

TEST(pools_by_stream, a_flush_frees_blocks_that_came_from_other_streams)
{
    scripted_device dev(5 * MiB);
    const auto pool = make("legacy-retry", dev, 2);
    const allocation a = pool->allocate(2 * MiB, 128, 0);
    pool->deallocate(a.pointer, a.granted_bytes, 1);
    EXPECT_EQ(pool->allocate(4 * MiB, 128, 1).how, path::flush_retry);
}

/// Sums are of the same moment: two pools that never peaked together have no common peak.
TEST(pools_by_stream, peaks_are_those_of_the_sum)
{
    scripted_device dev;
    const auto pool = make("legacy", dev, 2);
    player p(dev, *pool);
    p.allocate(0, MiB, 0);
    p.free(0, 0);
    p.trim(0);
    p.allocate(0, MiB, 1);
    p.free(0, 1);
    EXPECT_EQ(pool->stats().peak_reserved, 1101056u);
    EXPECT_EQ(pool->stats().peak_live, 1101056u);
    EXPECT_EQ(pool->stats().peak_cached, 1101056u);
}

TEST(pools_by_stream, trim_stops_when_the_sum_is_small_enough)
{
    scripted_device dev;
    const auto pool = make("legacy", dev, 2);
    player p(dev, *pool);
    p.allocate(0, MiB, 0);
    p.allocate(1, 2 * MiB, 1);
    p.free(0, 0);
    p.free(1, 1);
    EXPECT_EQ(p.trim(2202112), 1101056u);
    EXPECT_EQ(pool->reserved_bytes(), 2202112u);
    EXPECT_EQ(p.trim(2202111), 2202112u);
}

}  // namespace
}  // namespace vrambench::test
