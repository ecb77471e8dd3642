// The driver's pool as an allocator: which pool it opens and closes, what its threshold keeps, how growth is noticed.

#include "device/registry.hpp"
#include "spec/units.hpp"
#include "tests/allocators/player.hpp"
#include "tests/allocators/scripted_device.hpp"
#include "tests/allocators/specs.hpp"

#include <gtest/gtest.h>

namespace vrambench::test {
namespace {

TEST(async, has_a_pool_of_its_own_with_its_threshold_set)
{
    for (const auto& [spec, opened] : {std::pair{"async", "pool_create max"}, {"async:threshold=0", "pool_create 0"},
                                       {"async:threshold=64MiB", "pool_create 67108864"}}) {
        scripted_device dev;
        make(spec, dev);
        EXPECT_EQ(dev.log_since(0), std::string(opened) + ", pool_destroy");
    }
}

TEST(async, leaves_the_processs_pool_alive)
{
    scripted_device dev;
    make("async:pool=default", dev);
    EXPECT_EQ(dev.log_since(0), "default_pool, set_threshold max, usage");
}

TEST(async, one_pool_serves_all_streams)
{
    scripted_device dev;
    const auto pool = make("async", dev, 3);
    pool->allocate(100, 128, 2);
    EXPECT_EQ(dev.log_since(0), "pool_create max, malloc_async 100 stream 2");
}

TEST(async, passes_requests_on_unrounded_and_frees_on_the_stream_of_the_free)
{
    scripted_device dev;
    const auto pool = make("async", dev, 2);
    const allocation a = pool->allocate(1001, 128, 0);
    EXPECT_EQ(a.granted_bytes, 1001u);
    pool->deallocate(a.pointer, a.granted_bytes, 1);
    EXPECT_EQ(dev.log_since(1), "malloc_async 1001 stream 0, free_async 1001 stream 1") << "and asks nothing in between";
}

TEST(async, a_call_that_raised_the_pools_reserved_bytes_grew_it)
{
    scripted_device dev;
    const auto pool = make("async", dev);
    ASSERT_TRUE(pool->asks_after_calls());
    allocation a = pool->allocate(MiB, 128, 0);
    EXPECT_EQ(pool->reserved_bytes(), 0u) << "not known before the driver was asked";
    pool->after_call(&a);
    EXPECT_EQ(a.how, path::grow);
    EXPECT_EQ(pool->reserved_bytes(), MiB);
    pool->deallocate(a.pointer, a.granted_bytes, 0);
    pool->after_call(nullptr);
    a = pool->allocate(MiB / 2, 128, 0);
    pool->after_call(&a);
    EXPECT_EQ(a.how, path::hit);
    pool->deallocate(a.pointer, a.granted_bytes, 0);
}

TEST(async, is_unsupported_on_a_device_without_pools)
{
    scripted_device dev;
    dev.set_no_pools();
    EXPECT_THROW(make("async", dev), unsupported_error);
}

/// What a synchronisation leaves in the pool: chunks of 32 MiB down to the threshold.
TEST(async, the_threshold_is_what_a_synchronisation_leaves)
{
    struct row { const char* spec; std::uint64_t left; };
    for (const auto& [spec, left] : {row{"async", 320 * MiB}, row{"async:threshold=0", 0}, row{"async:threshold=64MiB", 64 * MiB},
                                     row{"async:threshold=320MiB", 320 * MiB}, row{"async:threshold=1GiB", 320 * MiB}}) {
        const auto dev = open_device(choose_device("sim:h200,vram=1GiB"), {});
        dev->set_streams(1);
        const auto pool = make(spec, *dev);
        player p(*dev, *pool);
        p.allocate(0, 300 * MiB);
        p.launch(0, 0, 1000);
        p.free(0);
        EXPECT_EQ(pool->reserved_bytes(), 320 * MiB) << "a free alone gives nothing back";
        const auto epoch = pool->address_epoch();
        p.sync();
        EXPECT_EQ(pool->reserved_bytes(), left) << spec;
        EXPECT_EQ(pool->stats().peak_reserved, 320 * MiB);
        EXPECT_EQ(pool->address_epoch() > epoch, left < 320 * MiB) << spec;
    }
}

TEST(async, pending_bytes_are_told_where_the_driver_tells)
{
    const auto dev = open_device(choose_device("sim:h200,vram=1GiB"), {});
    dev->set_streams(1);
    const auto pool = make("async", *dev);
    player p(*dev, *pool);
    p.allocate(0, 40 * MiB);
    p.launch(0, 0, 10'000'000);
    p.free(0);
    EXPECT_EQ(pool->stats().pending, 40 * MiB);
    p.sync();
    EXPECT_EQ(pool->stats().pending, 0u);
}

/// Memory that other streams may have is used without waiting only where an event orders it.
TEST(async, a_block_crosses_streams_behind_an_event)
{
    const auto dev = open_device(choose_device("sim:h200,vram=1GiB"), {});
    dev->set_streams(2);
    const auto pool = make("async", *dev, 2);
    player p(*dev, *pool);
    const allocation a = p.allocate(0, 32 * MiB, 0);
    p.launch(0, 0, 10'000'000);
    p.free(0, 0);
    dev->record(0, 0);
    dev->wait(0, 1);
    EXPECT_EQ(p.allocate(1, 32 * MiB, 1).pointer, a.pointer);
    p.launch(1, 1, 1000);
    p.free(1, 1);
    EXPECT_EQ(dev->observer()->hazard_count(), 0u);
}

}  // namespace
}  // namespace vrambench::test
