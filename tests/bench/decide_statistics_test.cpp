#include "bench/decide/bootstrap.hpp"
#include "bench/decide/effect_size.hpp"
#include "bench/decide/equivalence.hpp"
#include "bench/decide/variance_split.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

namespace vrambench {
namespace {

using values = std::vector<double>;

// Many resamples, to come near the bootstrap's own limit.
constexpr bootstrap_settings fine{.seed = 7, .resamples = 399'999};

// The limits are not of a random number generator: all multisets of resamples, weighted by how many orders each has, give the
// quantiles of t exactly (a Python program of its own, in rational arithmetic up to the roots).
TEST(bootstrap, interval_is_the_one_that_all_resamples_give)
{
    // Survival times of the nine control mice in Efron and Tibshirani (1993), table 2.1.
    const values mice{52, 10, 40, 104, 51, 27, 146, 30, 46};
    const auto found = mean_interval(mice, fine);
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->low, 31.8408, 0.4);
    EXPECT_NEAR(found->high, 126.4694, 1.5);

    const auto six = mean_interval(values{3.1, 2.7, 4.4, 3.9, 8.2, 3.3}, fine);
    ASSERT_TRUE(six);
    EXPECT_NEAR(six->low, 2.9441, 0.02);
    EXPECT_NEAR(six->high, 9.6412, 0.1);
}

TEST(bootstrap, same_values_and_seed_give_the_same_interval)
{
    const values v{1.03, 4.17, 2.71, 8.29, 5.55, 7.13, 6.07, 3.91, 9.64};
    EXPECT_EQ(mean_interval(v), mean_interval(v));
    EXPECT_NE(mean_interval(v, {.seed = 1}), mean_interval(v, {.seed = 2}));
}

TEST(bootstrap, a_shift_moves_the_interval_and_a_large_one_costs_no_digits)
{
    const values v{1, 4, 2, 8, 5, 7};
    values far = v;
    for (double& x : far) x += 1e12;
    const auto near = mean_interval(v), moved = mean_interval(far);
    EXPECT_NEAR(moved->low - 1e12, near->low, 1e-3);
    EXPECT_NEAR(moved->high - 1e12, near->high, 1e-3);
}

TEST(bootstrap, equal_values_are_a_point)
{
    EXPECT_EQ(mean_interval(values{3, 3}), (interval{3, 3}));
    EXPECT_EQ(difference_interval(values{3, 3}, values{5, 5, 5}), (interval{2, 2}));
}

TEST(bootstrap, no_interval_is_made_from_nothing)
{
    EXPECT_FALSE(mean_interval(values{}));
    EXPECT_FALSE(mean_interval(values{3}));
    EXPECT_FALSE(mean_interval(values{1, 2, 3}));
    EXPECT_FALSE(difference_interval(values{1}, values{1, 2, 3, 4}));
    EXPECT_FALSE(difference_interval(values{1, 2}, values{1, 2, 3, 4}));
    EXPECT_THROW((void)mean(values{}), std::logic_error);
}

// One arm without any spread: the interval is as wide as the other arm's own.
TEST(bootstrap, one_arm_without_spread)
{
    const values v{1, 4, 2, 8, 5, 7};
    const auto alone = mean_interval(v, fine);
    const auto against_zero = difference_interval(values{0, 0, 0, 0}, v, fine);
    ASSERT_TRUE(alone && against_zero);
    EXPECT_NEAR(against_zero->low, alone->low, 0.05);
    EXPECT_NEAR(against_zero->high, alone->high, 0.05);
}

/// Most resamples of such values have no spread, so that their quantiles are infinite, or what rounding leaves. Student's t: 2.570582 is its 97.5 %
/// quantile of 5 degrees of freedom, and 5.0 of them is passed by 0.0041048 (tables; R: 2 * pt(-5, 5)).
TEST(bootstrap, values_that_are_nearly_all_the_same_are_students)
{
    const auto one_off = estimate_mean(values{0, 10, 10, 10, 10, 10});
    ASSERT_TRUE(one_off);
    EXPECT_NEAR(one_off->ci95().low, 50.0 / 6 - 2.570582 * 10 / 6, 1e-4);
    EXPECT_NEAR(one_off->ci95().high, 50.0 / 6 + 2.570582 * 10 / 6, 1e-4);
    EXPECT_NEAR(one_off->p_within(0), 0.0041048, 1e-6);
    EXPECT_DOUBLE_EQ(one_off->p_within(10), 1);
    values other(60, 10.0 * (1 << 20));
    other[17] = 1 << 20;
    const auto bytes = estimate_difference(values(60, 1 << 20), other);
    ASSERT_TRUE(bytes);
    EXPECT_GT(bytes->ci95().low, 8.5 * (1 << 20));
    EXPECT_LT(bytes->ci95().high, 9.2 * (1 << 20));
    EXPECT_LT(bytes->p_within(0), 1e-9);
}

TEST(bootstrap, pairs_by_round)
{
    EXPECT_EQ(paired_differences(values{1, 2, 4}, values{3, 2, 1}), (values{2, 0, -3}));
    EXPECT_EQ(paired_ratios(values{1, 2, 4}, values{3, 2, 1}), (values{3, 1, 0.25}));
    EXPECT_TRUE(paired_ratios(values{1, 0, 4}, values{3, 2, 1}).empty());
    EXPECT_TRUE(paired_ratios(values{1, 1, 4}, values{3, -2, 1}).empty());
    EXPECT_THROW((void)paired_differences(values{1}, values{1, 2}), std::logic_error);
}

// A round that disturbs both arms alike is no part of the paired interval.
TEST(bootstrap, pairing_takes_out_what_rounds_have_in_common)
{
    const values base{100, 340, 220, 180, 460, 300}, other{103, 342, 224, 183, 462, 304};
    const auto paired = mean_interval(paired_differences(base, other));
    const auto loose = difference_interval(base, other);
    ASSERT_TRUE(paired && loose);
    EXPECT_GT(paired->low, 1.5);
    EXPECT_LT(paired->high, 4.5);
    EXPECT_LT(loose->low, -50);
}

// Lakens (2017), "Equivalence tests: a practical primer", the study of Eskine (2013) replicated by Johnson, Cheung and Donnellan:
// means differ by 0.03, interval [-0.188, 0.248], bounds of 0.384 raw units: equivalent; at 0.2 they are not.
TEST(equivalence, published_case)
{
    EXPECT_EQ(judge({-0.188, 0.248}, 0.384), judgement::same);
    EXPECT_EQ(judge({-0.188, 0.248}, 0.2), judgement::undecided);
}

TEST(equivalence, five_places_of_an_interval)
{
    EXPECT_EQ(judge({1.1, 3}, 1), judgement::above);
    EXPECT_EQ(judge({-3, -1.1}, 1), judgement::below);
    EXPECT_EQ(judge({-1, 1}, 1), judgement::same);
    EXPECT_EQ(judge({0.2, 0.3}, 1), judgement::same);          // surely not zero, surely too little to matter
    EXPECT_EQ(judge({0.2, 1.2}, 1), judgement::undecided);
    EXPECT_EQ(judge({-2, 2}, 1), judgement::undecided);
    EXPECT_EQ(judge({1, 2}, 1), judgement::undecided);         // it touches the margin
}

TEST(equivalence, a_margin_of_zero_asks_for_any_difference)
{
    EXPECT_EQ(judge({0, 0}, 0), judgement::same);
    EXPECT_EQ(judge({1e-9, 1e-9}, 0), judgement::above);
    EXPECT_EQ(judge({-1, 1}, 0), judgement::undecided);
}

TEST(equivalence, resolution)
{
    EXPECT_DOUBLE_EQ(resolution({-1, 3}, 0.5, {}, 0.05), 2.5);
    // Of 4 degrees Student's t is 2.776445 at 5 % and 10.306255 at 0.05 %; an interval of 2.776445 errors to each side is his own.
    EXPECT_NEAR(resolution({-2.776445, 2.776445}, 0.5, {1, 4}, 0.0005), 0.5 + 10.306255, 1e-5);
    EXPECT_NEAR(resolution({-2 * 2.776445, 2 * 2.776445}, 0.5, {1, 4}, 0.0005), 0.5 + 2 * 10.306255, 1e-5);
    EXPECT_NEAR(resolution({-1, 1}, 0.5, {1, 4}, 0.0005), 0.5 + 10.306255, 1e-5);     // never below Student's beyond the interval
}

// The first n that suffices, by counting up with Student's density summed (a Python program of its own).
TEST(equivalence, processes_that_would_settle_it)
{
    EXPECT_EQ(processes_to_settle(5, 0, 1, {2 / 1.96, 4}, 0.05), 23);
    EXPECT_EQ(processes_to_settle(5, -3, 2, {2 / 1.96, 4}, 0.05), 23);
    EXPECT_EQ(processes_to_settle(5, 9, 1, {2 / 1.96, 4}, 0.05), 6);
    EXPECT_EQ(processes_to_settle(5, 5, 1, {1, 4}, 0.0005), 10);
    EXPECT_NEAR(*processes_to_settle(5, 1, 2, {1000, 4}, 0.05), 5 * 1.959964 * 1.959964 * 1e6, 100);
    EXPECT_FALSE(processes_to_settle(5, -1, 1, {2, 4}, 0.05));
    EXPECT_FALSE(processes_to_settle(5, 1e-300, 0, {1, 4}, 0.05));        // but for a rounding
}

TEST(bootstrap, errors_and_degrees_of_freedom)
{
    const auto one = estimate_mean(values{2, 4, 4, 4, 5, 5, 7, 9});
    EXPECT_NEAR(one->error(), 0.7559289460, 1e-10);                   // sqrt(32 / 7 / 8)
    EXPECT_EQ(one->freedom(), 7);
    const auto two = estimate_difference(values{2, 4, 4, 4, 5, 5, 7, 9}, values{1, 3, 5});
    EXPECT_NEAR(two->error(), 1.3801311187, 1e-10);                   // sqrt(4 / 7 + 4 / 3)
    EXPECT_NEAR(two->freedom(), 1400.0 / 361, 1e-9);                  // (40 / 21)^2 / ((4 / 7)^2 / 7 + (4 / 3)^2 / 2)
    EXPECT_TRUE(estimate_mean(values{3, 3})->is_point());
}

// The documented example of the R package effsize (cliff.delta): -0.25; and the pairs counted one by one.
TEST(effect_size, published_case)
{
    const values treatment{10, 10, 20, 20, 20, 30, 30, 30, 40, 50}, control{10, 20, 30, 40, 40, 50};
    EXPECT_DOUBLE_EQ(cliffs_delta(control, treatment), -0.25);
    EXPECT_DOUBLE_EQ(cliffs_delta(treatment, control), 0.25);
}

TEST(effect_size, ends_and_words)
{
    EXPECT_DOUBLE_EQ(cliffs_delta(values{1, 2}, values{3, 4, 5}), 1);
    EXPECT_DOUBLE_EQ(cliffs_delta(values{3, 3}, values{3, 3}), 0);
    EXPECT_STREQ(effect_words(0.1), "negligible");
    EXPECT_STREQ(effect_words(-0.25), "small");
    EXPECT_STREQ(effect_words(0.4), "medium");
    EXPECT_STREQ(effect_words(-1), "large");
    EXPECT_THROW((void)cliffs_delta(values{}, values{1}), std::logic_error);
}

// Snedecor and Cochran, "Statistical Methods", calcium in turnip leaves: 0.0724 between leaves, 0.0066 within. With values
// taken out, the same formulas in a Python program of its own.
TEST(variance_split, published_case)
{
    std::vector<values> leaves{{3.28, 3.09, 3.03, 3.03}, {3.52, 3.48, 3.38, 3.38}, {2.88, 2.80, 2.81, 2.76}, {3.34, 3.38, 3.23, 3.26}};
    const auto s = split_variance(leaves);
    ASSERT_TRUE(s);
    EXPECT_NEAR(s->between, 0.0724, 0.00005);
    EXPECT_NEAR(s->within, 0.0066, 0.00005);
    EXPECT_NEAR(s->between_share(), 0.916, 0.001);

    leaves[1].resize(2);
    leaves[2].resize(3);
    EXPECT_NEAR(split_variance(leaves)->between, 0.0660037634, 1e-9);
    EXPECT_NEAR(split_variance(leaves)->within, 0.0067944444, 1e-9);
}

TEST(variance_split, nothing_between_and_nothing_at_all)
{
    EXPECT_EQ(split_variance({{1, 3}, {3, 1}})->between, 0);
    EXPECT_EQ(split_variance({{2, 2}, {2, 2}})->between_share(), 0);
    EXPECT_FALSE(split_variance({{1, 2, 3}}));
    EXPECT_FALSE(split_variance({{1}, {2}}));
    EXPECT_FALSE(split_variance({}));
}

}  // namespace
}  // namespace vrambench
