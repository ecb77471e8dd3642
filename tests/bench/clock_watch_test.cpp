#include "bench/clock_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vrambench {
namespace {

using ::testing::HasSubstr;

card_condition running(std::uint64_t sm, std::uint64_t memory, std::vector<std::string> held_by = {})
{
    return {sm, memory, 40, 150'000, std::move(held_by)};
}

TEST(clocks, that_stay_disturb_nothing)
{
    EXPECT_FALSE(clocks_disturbed(running(1980, 3201), running(1980, 3201)));
    EXPECT_FALSE(clocks_disturbed(running(1980, 3201), running(1890, 3201)));    // 4.5 %
    EXPECT_FALSE(clocks_disturbed(running(345, 1593, {"idle"}), running(1980, 3201)));
}

TEST(clocks, settings_and_idleness_disturb_nothing)
{
    EXPECT_FALSE(clocks_disturbed(running(1200, 3201, {"applications-setting"}), running(1200, 3201, {"display-setting"})));
    EXPECT_FALSE(clocks_disturbed(running(1980, 3201), running(345, 1593, {"idle"})));    // it went to sleep
}

TEST(clocks, a_fall_disturbs)
{
    EXPECT_EQ(clocks_disturbed(running(1980, 3201), running(1500, 3201)), "the SM clock fell from 1980 to 1500 MHz");
    EXPECT_EQ(clocks_disturbed(running(1980, 3201), running(1980, 2000)), "the memory clock fell from 3201 to 2000 MHz");
}

TEST(clocks, what_holds_them_down_disturbs_at_either_reading)
{
    EXPECT_THAT(clocks_disturbed(running(1980, 3201, {"power-cap"}), running(1980, 3201)).value_or(""), HasSubstr("power-cap"));
    EXPECT_THAT(clocks_disturbed(running(1980, 3201), running(1980, 3201, {"idle", "thermal"})).value_or(""), HasSubstr("thermal"));
}

}  // namespace
}  // namespace vrambench
