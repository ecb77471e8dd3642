#include "bench/histogram.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace vrambench {
namespace {

using bin_list = std::vector<std::pair<std::int64_t, std::uint64_t>>;

histogram of_one(std::int64_t value)
{
    histogram h;
    h.add(value);
    return h;
}

TEST(histogram, is_empty_at_first)
{
    const histogram h;
    EXPECT_EQ(h.count(), 0u);
    EXPECT_EQ(h.quantile(0.5), 0);
    EXPECT_EQ(h.max(), 0);
    EXPECT_TRUE(h.bins().empty());
}

TEST(histogram, keeps_small_values_exactly)
{
    // Below 128 every value has a bucket of its own.
    for (std::int64_t v = 0; v < 128; ++v) EXPECT_EQ(of_one(v).bins(), (bin_list{{v, 1}}));
}

TEST(histogram, middles_by_hand)
{
    // From 128 buckets are 2 wide, from 1024 they are 16 wide: 1024 ... 1039 have their middle at 1024 + 7.
    EXPECT_EQ(of_one(129).bins(), (bin_list{{128, 1}}));
    EXPECT_EQ(of_one(1024).bins(), (bin_list{{1031, 1}}));
    EXPECT_EQ(of_one(1039).bins(), (bin_list{{1031, 1}}));
    EXPECT_EQ(of_one(1040).bins(), (bin_list{{1047, 1}}));
}

TEST(histogram, stays_within_its_stated_error)
{
    for (std::int64_t v = 1; v < std::numeric_limits<std::int64_t>::max() / 3; v += v / 37 + 1) {
        const std::int64_t middle = of_one(v).bins().front().first;
        const double error = static_cast<double>(middle > v ? middle - v : v - middle) / static_cast<double>(v);
        ASSERT_LE(error, histogram::relative_error) << v;
    }
}

TEST(histogram, takes_the_nearest_rank)
{
    histogram h;
    for (std::int64_t v = 1; v <= 100; ++v) h.add(v);
    EXPECT_EQ(h.quantile(0.50), 50);
    EXPECT_EQ(h.quantile(0.07), 7);   // 0.07 * 100 is above 7 in binary
    EXPECT_EQ(h.quantile(0.99), 99);
    EXPECT_EQ(h.quantile(0.999), 100);
    EXPECT_EQ(h.quantile(1.0), 100);
    EXPECT_EQ(h.quantile(0.001), 1);
}

TEST(histogram, never_answers_more_than_the_largest_value)
{
    const histogram h = of_one(1025);   // its bucket's middle is 1031
    EXPECT_EQ(h.quantile(0.5), 1025);
    EXPECT_EQ(h.max(), 1025);
}

TEST(histogram, counts_negative_values_as_zero)
{
    const histogram h = of_one(-5);
    EXPECT_EQ(h.bins(), (bin_list{{0, 1}}));
    EXPECT_EQ(h.sum(), 0);
}

TEST(histogram, merges_without_loss)
{
    histogram both, low, high;
    for (std::int64_t v = 0; v < 1000; v += 3) low.add(v), both.add(v);
    for (std::int64_t v = 1'000'000; v < 2'000'000; v += 777) high.add(v), both.add(v);
    low.merge(high);
    EXPECT_EQ(low.bins(), both.bins());
    EXPECT_EQ(low.count(), both.count());
    EXPECT_EQ(low.sum(), both.sum());
    EXPECT_EQ(low.max(), both.max());
    high.merge(histogram{});
    EXPECT_EQ(high.max(), both.max());
}

TEST(histogram, comes_back_from_its_bins)
{
    histogram h;
    for (std::int64_t v = 1; v < std::numeric_limits<std::int64_t>::max() / 10; v += v / 5 + 1) h.add(v);
    const histogram again = histogram::from_bins(h.bins());
    EXPECT_EQ(again.bins(), h.bins());
    EXPECT_EQ(again.count(), h.count());
    EXPECT_EQ(again.max(), h.bins().back().first);
    const histogram exact = histogram::from_bins(h.bins(), h.sum(), h.max());
    EXPECT_EQ(exact.sum(), h.sum());
    EXPECT_EQ(exact.max(), h.max());
}

TEST(histogram, takes_a_billion_counts_at_once)
{
    const histogram h = histogram::from_bins({{10, 3'000'000'000}, {20, 0}, {30, 1'000'000'000}});
    EXPECT_EQ(h.count(), 4'000'000'000u);
    EXPECT_EQ(h.sum(), 60'000'000'000);
    EXPECT_EQ(h.quantile(0.75), 10);
    EXPECT_EQ(h.quantile(0.76), 30);
}

TEST(histogram, survives_the_largest_value)
{
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    histogram h = of_one(most);
    EXPECT_EQ(h.max(), most);
    h.merge(of_one(most));
    EXPECT_EQ(h.sum(), most);   // saturated
    EXPECT_EQ(histogram::from_bins(h.bins()).count(), 2u);
}

TEST(histogram, knows_which_sums_its_buckets_can_have)
{
    // Buckets of 1024 ... 1039 and 2048 ... 2079; 1030 + 2050 are in them.
    const bin_list bins{{1031, 1}, {2063, 1}};
    const auto possible = [&](std::int64_t sum, std::int64_t max) { return histogram::from_bins(bins, sum, max).is_possible(); };
    EXPECT_TRUE(possible(1030 + 2050, 2050));
    EXPECT_TRUE(possible(1024 + 2079, 2079));
    EXPECT_FALSE(possible(1023 + 2079, 2079));    // the other one would be too small
    EXPECT_FALSE(possible(1040 + 2050, 2050));
    EXPECT_FALSE(possible(1030 + 2047, 2047));    // that is not in the last bucket
    EXPECT_FALSE(possible(1030 + 2080, 2080));
    EXPECT_TRUE(histogram().is_possible());
}

TEST(histogram, counts_from_a_value_as_far_as_it_can_tell)
{
    histogram h;
    for (const std::int64_t v : {100, 1030, 2050}) h.add(v);
    using bounds = std::pair<std::uint64_t, std::uint64_t>;
    EXPECT_EQ(h.count_from(100), (bounds{3, 3}));
    EXPECT_EQ(h.count_from(1024), (bounds{2, 2}));
    EXPECT_EQ(h.count_from(1030), (bounds{1, 2}));    // 1024 ... 1039 share a bucket
    EXPECT_EQ(h.count_from(3000), (bounds{0, 0}));
}

}  // namespace
}  // namespace vrambench
