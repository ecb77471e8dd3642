// Reading clocks through a management library that is looked for at run time; a stand-in is found here.

#include "device/vendors/nvml.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vrambench::gpu::nvml {
namespace {

std::vector<std::string> names(std::uint64_t bits)
{
    std::vector<std::string> all;
    for (const auto& h : clock_holders)
        if (bits & h.bit) all.emplace_back(h.name);
    return all;
}

TEST(management_library, reads_clocks_and_what_holds_them)
{
    management m;
    ASSERT_TRUE(m.load("0000:0a:00.0")) << m.why_not();
    EXPECT_EQ(m.driver(), "580.159");
    clock_reading r{};
    ASSERT_TRUE(m.read(&r));
    EXPECT_EQ(r.sm_mhz, 1980u);
    EXPECT_EQ(r.memory_mhz, 3201u);
    EXPECT_EQ(r.temperature_c, 37u);
    EXPECT_EQ(r.power_mw, 0u);    // no such sensor
    EXPECT_EQ(names(r.held_by), (std::vector<std::string>{"idle", "power-cap"}));
}

TEST(management_library, an_unknown_card_has_no_readings)
{
    management m;
    EXPECT_FALSE(m.load("0000:0b:00.0"));
    EXPECT_STREQ(m.why_not(), "does not know the card");
    EXPECT_EQ(m.driver(), "");
    clock_reading r{};
    EXPECT_FALSE(m.read(&r));
}

TEST(management_library, what_was_not_loaded_has_no_readings)
{
    const management m;
    clock_reading r{};
    EXPECT_FALSE(m.read(&r));
}

}  // namespace
}  // namespace vrambench::gpu::nvml
