#include "workloads/random_numbers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

namespace vrambench {
namespace {

TEST(RandomNumbers, PublishedSequence)
{
    // splitmix64 from seed 1234567, as in Rosetta Code and the reference implementation.
    random_numbers r(1234567);
    for (const std::uint64_t expected : {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
            4593380528125082431u,
                                         16408922859458223821u})
        EXPECT_EQ(r.next(), expected);
}

TEST(RandomNumbers, BelowIsUniformAndInRange)
{
    random_numbers r(1);
    std::array<int, 10> counts{};
    for (int i = 0; i < 100'000; ++i) ++counts[r.below(10)];
    for (const int c : counts) EXPECT_NEAR(c, 10'000, 500);
    EXPECT_EQ(r.below(1), 0u);
}

TEST(Chance, Probabilities)
{
    random_numbers r(1);
    const auto share = [&](double p) {
        const chance c(p);
        int n = 0;
        for (int i = 0; i < 100'000; ++i) n += c(r);
        return n;
    };
    EXPECT_EQ(share(0), 0);
    EXPECT_EQ(share(1), 100'000);
    EXPECT_NEAR(share(0.25), 25'000, 700);
}

TEST(LogUniform, OctavesAreEquallyLikely)
{
    random_numbers r(1);
    const log_uniform sizes(256, 65536);
    std::map<int, int> octaves;
    for (int i = 0; i < 160'000; ++i) {
        const std::uint64_t s = sizes(r);
        ASSERT_GE(s, 256u);
        ASSERT_LE(s, 65536u);
        ++octaves[std::bit_width(s) - 1];
    }
    for (int o = 8; o < 16; ++o) EXPECT_NEAR(octaves[o], 20'000, 700) << o;
    EXPECT_LT(octaves[16], 10);   // the one value 65536 is no octave of its own
}

TEST(LogUniform, StaysInAnyRange)
{
    random_numbers r(2);
    for (int i = 0; i < 2'000; ++i) {
        std::uint64_t low = 1 + (r.next() >> (14 + r.below(50))), high = 1 + (r.next() >> (14 + r.below(50)));
        if (low > high) std::swap(low, high);
        const log_uniform sizes(low, high);
        for (int n = 0; n < 20; ++n) {
            const std::uint64_t s = sizes(r);
            ASSERT_TRUE(s >= low && s <= high) << low << " " << s << " " << high;
        }
    }
    EXPECT_EQ(log_uniform(7, 7)(r), 7u);
    EXPECT_EQ(log_uniform(1, 1)(r), 1u);
}

/// Against the logarithm of the C library, to which results owe nothing.
TEST(Exponential, IsMinusTheLogarithm)
{
    random_numbers r(1), same(1);
    const exponential gap(1'000'000);
    for (int i = 0; i < 10'000; ++i) {
        const double u = std::ldexp(static_cast<double>(same.next() | 1), -64);
        ASSERT_NEAR(static_cast<double>(gap(r)), -1e6 * std::log(u), 1.01);
    }
    EXPECT_EQ(exponential::minus_log2(std::uint64_t{1} << 63), std::uint64_t{1} << 32);    // a half: one bit
    EXPECT_EQ(exponential::minus_log2(1), std::uint64_t{64} << 32);
    EXPECT_EQ(exponential::minus_log2(0xb504f333f9de6485u) >> 1, std::uint64_t{1} << 30);    // 1 / sqrt(2): half a bit
    EXPECT_EQ(exponential(0)(r), 0u);
}

TEST(Exponential, MeanAndTail)
{
    random_numbers r(2);
    const exponential gap(1000);
    std::uint64_t sum = 0, above = 0, above_twice = 0;
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t x = gap(r);
        sum += x;
        above += x >= 1000 ? 1 : 0;
        above_twice += x >= 2000 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(sum) / 1e5, 1000, 15);
    EXPECT_NEAR(static_cast<double>(above), 36'788, 700);          // 1 / e
    EXPECT_NEAR(static_cast<double>(above_twice), 13'534, 500);    // 1 / e^2
}

}  // namespace
}  // namespace vrambench
