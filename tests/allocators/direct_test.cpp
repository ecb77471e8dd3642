// One raw driver allocation a request.

#include "device/registry.hpp"
#include "spec/units.hpp"
#include "tests/allocators/player.hpp"
#include "tests/allocators/scripted_device.hpp"
#include "tests/allocators/specs.hpp"

#include <gtest/gtest.h>

namespace vrambench::test {
namespace {

TEST(direct_policy, every_request_is_a_driver_call_and_so_is_every_free)
{
    scripted_device dev;
    const auto pool = make("direct", dev, 3);
    const allocation a = pool->allocate(1001, 128, 2);
    EXPECT_EQ(a.how, path::driver);
    EXPECT_EQ(a.granted_bytes, 1001u);
    EXPECT_EQ(pool->deallocate(a.pointer, a.granted_bytes, 2).how, path::driver);
    EXPECT_EQ(dev.log_since(0), "malloc 1001, free 1001");
    EXPECT_EQ(pool->reserved_bytes(), 0u);
    EXPECT_TRUE(pool->cached_blocks().empty());
}

/// The driver's free waits for the device: that is the policy's price, and why it is safe.
TEST(direct_policy, a_free_waits_for_queued_kernels)
{
    const auto dev = open_device(choose_device("sim:h200,vram=1GiB"), {});
    dev->set_streams(1);
    const auto pool = make("direct", *dev);
    player p(*dev, *pool);
    p.allocate(0, MiB);
    p.launch(0, 0, 10'000'000);
    const std::int64_t busy_until = dev->busy_until_ps();
    EXPECT_LT(dev->clock().now_ps(), busy_until);
    p.free(0);
    EXPECT_GE(dev->clock().now_ps(), busy_until);
    EXPECT_EQ(dev->observer()->hazard_count(), 0u);
}

}  // namespace
}  // namespace vrambench::test
