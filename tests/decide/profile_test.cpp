// Performance profiles and the Pareto front on small cases. The shares were computed from the definition (Dolan and More
// 2002) with exact fractions in a Python script of a few lines, independent of this code.

#include "bench/decide/pareto.hpp"
#include "bench/decide/profile.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace vrambench::decide {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Three solvers, five problems; A fails the fourth, C the fifth.
const std::vector<solver_times> textbook{{1, 4, 2, never, 8}, {2, 2, 3, 5, 8}, {4, 1, 2, 10, never}};
const std::vector<double> equal(5, 1);

std::vector<double> profile_of(const std::vector<double>& weights, double tau)
{
    std::vector<double> shares;
    for (const auto& r : performance_ratios(textbook)) shares.push_back(profile_at(r, weights, tau));
    return shares;
}

TEST(performance_profile, ratios_of_the_textbook_case)
{
    const auto r = performance_ratios(textbook);
    EXPECT_EQ(r[0], (std::vector<double>{1, 4, 1, never, 1}));
    EXPECT_EQ(r[1], (std::vector<double>{2, 2, 1.5, 1, 1}));
    EXPECT_EQ(r[2], (std::vector<double>{4, 1, 1, 2, never}));
}

TEST(performance_profile, shares_of_the_textbook_case)
{
    EXPECT_EQ(profile_of(equal, 1), (std::vector<double>{3.0 / 5, 2.0 / 5, 2.0 / 5}));
    EXPECT_EQ(profile_of(equal, 1.5), (std::vector<double>{3.0 / 5, 3.0 / 5, 2.0 / 5}));
    EXPECT_EQ(profile_of(equal, 2), (std::vector<double>{3.0 / 5, 1, 3.0 / 5}));
    EXPECT_EQ(profile_of(equal, 4), (std::vector<double>{4.0 / 5, 1, 4.0 / 5}));
    EXPECT_EQ(profile_of(equal, 1e9), (std::vector<double>{4.0 / 5, 1, 4.0 / 5})) << "a failure is within no factor";
}

TEST(performance_profile, weights_are_shares_of_their_sum)
{
    const std::vector<double> weights{1, 2, 3, 4, 5};
    EXPECT_EQ(profile_of(weights, 1), (std::vector<double>{9.0 / 15, 9.0 / 15, 5.0 / 15}));
    EXPECT_EQ(profile_of(weights, 2), (std::vector<double>{9.0 / 15, 1, 9.0 / 15}));
}

TEST(performance_profile, a_problem_that_nobody_solves_is_within_no_factor)
{
    EXPECT_EQ(profile_at(performance_ratios({{1, never}, {2, never}})[0], {1, 1}, 1e9), 0.5);
}

TEST(performance_profile, pairwise_shares_of_the_textbook_case)
{
    const auto p = pairwise_profile(textbook, equal, 1);
    EXPECT_EQ(p[0][1], 3.0 / 5);
    EXPECT_EQ(p[0][2], 3.0 / 5);
    EXPECT_EQ(p[1][0], 3.0 / 5);
    EXPECT_EQ(p[1][2], 3.0 / 5);
    EXPECT_EQ(p[2][0], 3.0 / 5);
    EXPECT_EQ(p[2][1], 2.0 / 5);
}

/// Gould and Scott 2016: the curve of all puts B above C, between the two of them C is above B. Found by a search in
/// Python.
TEST(performance_profile, the_order_below_first_place_can_mislead)
{
    const std::vector<solver_times> three{{2, 6, 1, 3, 2}, {4, 3, 2, 6, 4}, {6, 6, 4, 1, 2}};
    const auto all = performance_ratios(three);
    EXPECT_EQ(profile_at(all[1], equal, 2), 4.0 / 5);
    EXPECT_EQ(profile_at(all[2], equal, 2), 3.0 / 5);
    const auto two = pairwise_profile(three, equal, 2);
    EXPECT_EQ(two[1][2], 4.0 / 5);
    EXPECT_EQ(two[2][1], 1.0);
}

TEST(pareto, a_point_is_off_the_front_where_another_is_nowhere_worse_and_somewhere_better)
{
    const auto by = dominators({{1, 5}, {2, 2}, {2, 3}, {5, 1}, {5, 5}}, {0, 0});
    EXPECT_EQ(by[0], std::nullopt);
    EXPECT_EQ(by[1], std::nullopt);
    EXPECT_EQ(by[2], 1u);
    EXPECT_EQ(by[3], std::nullopt);
    EXPECT_EQ(by[4], 0u);
}

TEST(pareto, equal_points_and_differences_within_the_margin_beat_nobody)
{
    const auto by = dominators({{1, 1}, {1, 1}, {1, 1.05}, {1, 1.2}}, {0.1, 0.1});
    EXPECT_EQ(by[1], std::nullopt);
    EXPECT_EQ(by[2], std::nullopt);
    EXPECT_EQ(by[3], 0u);
}

}  // namespace
}  // namespace vrambench::decide
