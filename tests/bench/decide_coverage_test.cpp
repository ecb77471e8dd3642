// How often a 95 % interval holds the truth, by simulation: seeded, so that a share is the same each time.

#include "bench/decide/bootstrap.hpp"
#include "workloads/random_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace vrambench {
namespace {

constexpr int trials = 4000;                 // a share of 95 % is then known to 0.7 % (two standard errors)

double uniform(random_numbers& r) { return static_cast<double>((r.next() >> 11) + 1) * 0x1p-53; }
double normal(random_numbers& r)
{
    const double size = std::sqrt(-2 * std::log(uniform(r)));
    return size * std::cos(2 * std::numbers::pi * uniform(r));
}

using source = std::function<double(random_numbers&)>;

std::vector<double> drawn(const source& from, std::size_t n, random_numbers& r)
{
    std::vector<double> v(n);
    for (double& x : v) x = from(r);
    return v;
}

/// Per cent of intervals that hold 0; a sample without an interval counts as one that does not.
double held(const std::function<std::optional<interval>(random_numbers&, const bootstrap_settings&)>& make)
{
    random_numbers r(2026);
    int inside = 0;
    for (int i = 0; i < trials; ++i) {
        const auto found = make(r, {.seed = static_cast<std::uint64_t>(i), .resamples = 999});
        inside += found && found->low <= 0 && found->high >= 0;
    }
    return 100.0 * inside / trials;
}

double one_arm(const source& from, std::size_t n)
{
    return held([&](random_numbers& r, const bootstrap_settings& how) { return mean_interval(drawn(from, n, r), how); });
}

double two_arms(const source& from, std::size_t n, double other_scale = 1)
{
    return held([&](random_numbers& r, const bootstrap_settings& how) {
        const auto base = drawn(from, n, r);
        auto other = drawn(from, n, r);
        for (double& v : other) v *= other_scale;
        return difference_interval(base, other, how);
    });
}

/// The plain percentile bootstrap of the mean, to show why it is not used.
double percentile(const source& from, std::size_t n)
{
    return held([&](random_numbers& r, const bootstrap_settings& how) -> std::optional<interval> {
        const auto v = drawn(from, n, r);
        random_numbers pick(how.seed);
        std::vector<double> means(how.resamples);
        for (double& m : means) {
            for (std::size_t i = 0; i < n; ++i) m += v[pick.below(n)];
            m /= static_cast<double>(n);
        }
        std::sort(means.begin(), means.end());
        const std::size_t rank = (means.size() + 1) / 40;
        return interval{means[rank - 1], means[means.size() - rank]};
    });
}

double skewed(random_numbers& r) { return std::exp(0.5 * normal(r)) - std::exp(0.125); }

TEST(coverage, paired_differences_of_few_and_many_processes)
{
    for (const std::size_t n : {5u, 6u, 8u, 10u, 20u, 60u}) {
        const double share = one_arm(normal, n);
        RecordProperty("normal_" + std::to_string(n), std::to_string(share));
        EXPECT_GE(share, 94) << n;
        EXPECT_LE(share, 96) << n;
    }
}

TEST(coverage, two_runs_of_equal_and_unequal_spread)
{
    for (const std::size_t n : {6u, 10u, 20u, 60u}) {
        EXPECT_NEAR(two_arms(normal, n), 95, 1) << n;
        EXPECT_NEAR(two_arms(normal, n, 2), 95, 1.2) << n;
    }
}

// Skewed values (lognormal, sigma 0.5) are covered a little less where processes are few; docs/comparing.md says so.
TEST(coverage, skewed_values)
{
    EXPECT_GE(one_arm(skewed, 5), 92);
    EXPECT_GE(one_arm(skewed, 10), 92.5);
    EXPECT_NEAR(one_arm(skewed, 60), 95, 1);
    EXPECT_NEAR(two_arms(skewed, 10), 95, 1.5);
}

TEST(coverage, the_percentile_interval_falls_short)
{
    EXPECT_LT(percentile(normal, 5), 88);
    EXPECT_LT(percentile(normal, 10), 92);
}

// Small p-values decide where many differences are judged at once. How often they fall to a level where nothing differs, over
// that level, is 1 and two standard errors at most: 1.2 of 0.01, 1.63 of 0.001.
void expect_rare(const std::function<std::optional<mean_estimate>(random_numbers&, const bootstrap_settings&)>& make, std::size_t n)
{
    constexpr int samples = 10'000;
    random_numbers r(2027);
    int hundredths = 0, thousandths = 0;
    for (int i = 0; i < samples; ++i) {
        const auto e = make(r, {.seed = static_cast<std::uint64_t>(i), .resamples = 999});
        const double p = e ? e->p_within(0) : 1;     // of four values now and then no interval is left
        hundredths += p <= 0.01;
        thousandths += p <= 0.001;
    }
    EXPECT_LE(hundredths, 1.2 * samples / 100) << n;
    EXPECT_LE(thousandths, 1.63 * samples / 1000) << n;
}

void expect_rare_between_files(const source& from, std::size_t n)
{
    expect_rare(
        [&](random_numbers& r, const bootstrap_settings& how) {
            const auto base = drawn(from, n, r);
            return estimate_difference(base, drawn(from, n, r), how);
        },
        n);
}

TEST(coverage, small_p_values_are_as_rare_as_they_say)
{
    for (const std::size_t n : {4u, 5u, 6u, 10u}) {
        expect_rare([&](random_numbers& r, const bootstrap_settings& how) { return estimate_mean(drawn(normal, n, r), how); }, n);
        expect_rare_between_files(normal, n);
    }
    expect_rare_between_files(skewed, 6);
}

}  // namespace
}  // namespace vrambench
