// What stands in the roofline of a card that was measured, in part or not at all.

#include "device/device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vrambench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(rates, measured_ones_are_used_with_their_source)
{
    device_info info;
    use_rates(info, {123, 456, "tensor cores", "a copy"});
    EXPECT_EQ(info.flops_per_second, 123u);
    EXPECT_EQ(info.bytes_per_second, 456u);
    EXPECT_EQ(info.facts["flops_source"], "tensor cores");
    EXPECT_EQ(info.facts["bytes_source"], "a copy");
}

TEST(rates, what_was_not_measured_falls_back_and_says_so)
{
    device_info info;
    use_rates(info, {0, 456, "not measured: no form for this architecture", "a copy"});
    EXPECT_GT(info.flops_per_second, 0u);    // kernel times divide by it
    EXPECT_EQ(info.facts["flops_source"], "not measured: no form for this architecture; an H200's stands in");
    EXPECT_THAT(info.facts["bytes_source"], Not(HasSubstr("stands in")));
    use_rates(info, {});
    EXPECT_GT(info.bytes_per_second, 0u);
    EXPECT_EQ(info.facts["bytes_source"], "not measured; an H200's stands in");
}

}  // namespace
}  // namespace vrambench
