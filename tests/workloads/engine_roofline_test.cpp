#include "workloads/engine/roofline.hpp"

#include <gtest/gtest.h>

namespace vrambench::engine {
namespace {

TEST(EngineRoofline, TheSlowerOfFlopsAndBytesAndTheFixedPart)
{
    const target t = find_target("nvidia/9.0/100/1000e12/1000e9");
    const attained a{.flops_share = 500, .bytes_share = 700, .fixed_ns = 2000};
    ASSERT_EQ(attained_by(kernel_class::vector_product).flops_share, a.flops_share);
    ASSERT_EQ(attained_by(kernel_class::vector_product).bytes_share, a.bytes_share);
    ASSERT_EQ(attained_by(kernel_class::vector_product).fixed_ns, a.fixed_ns);
    // 500 flops and 0.7 bytes a nanosecond.
    EXPECT_EQ(nanoseconds(t, kernel_class::vector_product, {}), 2000);
    EXPECT_EQ(nanoseconds(t, kernel_class::vector_product, {.flops = 500'000'000}), 2000 + 1000);
    EXPECT_EQ(nanoseconds(t, kernel_class::vector_product, {.bytes = 7'000'000}), 2000 + 10'000);
    EXPECT_EQ(nanoseconds(t, kernel_class::vector_product, {.flops = 500'000'001, .bytes = 1}),
              2000 + 1001);    // rounded up
    EXPECT_EQ(nanoseconds(t, kernel_class::vector_product, {.flops = 500'000'000, .bytes = 7'000'000}), 2000 + 10'000);
}

TEST(EngineRoofline, AFasterTargetIsFasterInTheSameProportion)
{
    const target slow = find_target("nvidia/9.0/100/100e12/1000e9"), fast = find_target("nvidia/9.0/100/200e12/2000e9");
    const op_cost cost{.flops = 1'000'000'000'000, .bytes = 1'000'000'000};
    for (std::size_t i = 0; i < kernel_classes; ++i) {
        const auto c = static_cast<kernel_class>(i);
        const auto fixed = static_cast<std::int64_t>(attained_by(c).fixed_ns);
        EXPECT_NEAR(static_cast<double>(nanoseconds(slow, c, cost) - fixed),
                    2.0 * static_cast<double>(nanoseconds(fast, c, cost) - fixed), 2.0)
            << to_string(c);
    }
}

TEST(EngineRoofline, ATargetMayHaveItsOwnShareOfQuantisedProducts)
{
    target t = find_target("nvidia/9.0/100/1000e12/1000e9");
    const op_cost cost{.flops = 1'000'000'000};
    const auto fixed = static_cast<std::int64_t>(attained_by(kernel_class::quantised_product).fixed_ns);
    const std::int64_t other_class = nanoseconds(t, kernel_class::float_product, cost);
    t.quantised_share = 500;
    EXPECT_EQ(nanoseconds(t, kernel_class::quantised_product, cost), fixed + 2000);
    EXPECT_EQ(nanoseconds(t, kernel_class::float_product, cost), other_class);
    EXPECT_EQ(find_target("nvidia/8.6/46/43e12/540e9").quantised_share, find_target("rtx-3090").quantised_share);
    EXPECT_EQ(find_target("nvidia/8.0/108/250e12/1800e9").quantised_share, 0u);    // the same family, other units
}

TEST(EngineRoofline, AnAbsurdCostStaysATime)
{
    const target t = find_target("nvidia/9.0/1/1/1");
    const auto ns = nanoseconds(t, kernel_class::attention, {.flops = UINT64_MAX, .bytes = UINT64_MAX});
    EXPECT_EQ(ns, 1'000'000'000'000'000 + static_cast<std::int64_t>(attained_by(kernel_class::attention).fixed_ns));
}

}  // namespace
}  // namespace vrambench::engine
