// What a card did, from stamps: times worked out by hand.

#include "device/launch_log.hpp"

#include <gtest/gtest.h>

namespace vrambench {
namespace {

TEST(launch_log, joins_kernels_that_overlap_or_touch)
{
    const launch_log log({{0, 10, 20}, {0, 15, 30}, {0, 30, 40}, {0, 60, 70}});
    EXPECT_EQ(log.busy_ps(), 40);
}

TEST(launch_log, tells_the_busy_part_of_a_stretch)
{
    const launch_log log({{0, 60, 70}, {0, 10, 20}, {0, 30, 40}});    // whatever the order
    EXPECT_EQ(log.busy_within_ps(0, 100), 30);
    EXPECT_EQ(log.busy_within_ps(15, 35), 10);     // half of the first, half of the second
    EXPECT_EQ(log.busy_within_ps(20, 30), 0);      // between two
    EXPECT_EQ(log.busy_within_ps(62, 64), 2);      // within one
    EXPECT_EQ(log.busy_within_ps(70, 80), 0);
    EXPECT_EQ(launch_log({}).busy_within_ps(0, 100), 0);
}

TEST(launch_log, a_launch_waits_behind_a_running_kernel)
{
    //  stream A: 10 ... 50, then 50 ... 60, launched to be ready at 12
    const launch_log log({{10, 10, 50}, {12, 50, 60}});
    EXPECT_EQ(log.waiting_ps(), 38);
}

TEST(launch_log, several_that_wait_count_once)
{
    const launch_log log({{0, 0, 100}, {10, 100, 110}, {20, 110, 120}, {105, 120, 130}});
    EXPECT_EQ(log.waiting_ps(), 110);    // 10 ... 120
}

TEST(launch_log, a_late_start_on_an_idle_card_is_no_wait)
{
    const launch_log log({{0, 0, 10}, {20, 23, 30}, {40, 40, 50}});
    EXPECT_EQ(log.waiting_ps(), 0);
}

TEST(launch_log, a_gap_between_kernels_that_wait_is_waited_through)
{
    const launch_log log({{0, 0, 10}, {1, 12, 20}, {2, 22, 30}});
    EXPECT_EQ(log.waiting_ps(), 21);     // 1 ... 22: the queue was never empty
    EXPECT_EQ(log.busy_ps(), 26);
}

}  // namespace
}  // namespace vrambench
