#include "bench/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace vrambench {
namespace {

std::uint64_t whole(const number& n) { return std::get<std::uint64_t>(n); }

TEST(statistics, median_of_integers_stays_exact)
{
    const std::uint64_t big = (std::uint64_t{1} << 53) + 1;
    EXPECT_EQ(whole(median(std::vector<std::uint64_t>{big, 1, UINT64_MAX})), big);
    EXPECT_EQ(whole(median(std::vector<std::uint64_t>{big, big})), big);
    EXPECT_EQ(whole(median(std::vector<std::uint64_t>{UINT64_MAX - 2, UINT64_MAX})), UINT64_MAX - 1);
    EXPECT_EQ(whole(median(std::vector<std::uint64_t>{4, 2})), 3u);
}

TEST(statistics, median_of_integers_may_be_a_half)
{
    EXPECT_EQ(std::get<double>(median(std::vector<std::uint64_t>{4, 1, 9, 3})), 3.5);
}

TEST(statistics, median_of_values)
{
    EXPECT_EQ(median(std::vector<double>{3, -1, 2}), 2);
    EXPECT_EQ(median(std::vector<double>{3, -1, 2, 4}), 2.5);
}

// Ranks from published tables of the 95 % interval of a median (sign test).
TEST(statistics, ranks_of_the_median_interval)
{
    const std::pair<std::uint64_t, std::uint64_t> known[] = {{0, 0},  {1, 0},  {5, 0},  {6, 1},  {7, 1},   {8, 1},   {9, 2},
                                                             {10, 2}, {11, 2}, {12, 3}, {15, 4}, {20, 6},  {25, 8},  {30, 10},
                                                             {35, 12}, {40, 14}, {50, 18}, {60, 22}, {100, 40}};
    for (const auto& [n, rank] : known) EXPECT_EQ(median_interval_rank(n), rank) << n;
}

TEST(statistics, ranks_of_many_samples_follow_the_normal_law)
{
    const double n = 100'000;
    EXPECT_NEAR(static_cast<double>(median_interval_rank(100'000)), n / 2 - 1.96 * std::sqrt(n) / 2, 2);
}

TEST(statistics, no_interval_is_invented)
{
    EXPECT_FALSE(estimate_of(std::vector<double>{}));
    const auto five = estimate_of(std::vector<double>{1, 2, 3, 4, 5});
    EXPECT_FALSE(five->ci95);
    EXPECT_EQ(five->samples, 5u);
    const auto six = estimate_of(std::vector<std::uint64_t>{60, 10, 20, 50, 40, 30});
    ASSERT_TRUE(six->ci95);
    EXPECT_EQ(whole(six->ci95->first), 10u);
    EXPECT_EQ(whole(six->ci95->second), 60u);
    const auto nine = estimate_of(std::vector<std::uint64_t>{9, 8, 7, 6, 5, 4, 3, 2, 1});
    EXPECT_EQ(whole(nine->ci95->first), 2u);
    EXPECT_EQ(whole(nine->ci95->second), 8u);
}

}  // namespace
}  // namespace vrambench
