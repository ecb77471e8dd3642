// The search against a scan of every point.

#include "bench/fit/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace vrambench::fit {
namespace {

/// "..##.###": which points pass.
struct pattern {
    std::string points;

    bool passes(std::uint64_t i) const { return points.at(i) == '#'; }
    std::uint64_t last() const { return points.size() - 1; }

    std::vector<island> islands() const
    {
        std::vector<island> found;
        for (std::uint64_t i = 0; i < points.size(); ++i) {
            if (!passes(i)) continue;
            if (i > 0 && passes(i - 1)) found.back().to = i;
            else found.push_back({i, i});
        }
        return found;
    }
    std::optional<std::uint64_t> smallest() const
    {
        const auto at = points.find('#');
        return at == std::string::npos ? std::nullopt : std::optional<std::uint64_t>(at);
    }
};

answer search(const pattern& p, const check_rule& rule)
{
    std::vector<int> times(p.points.size());
    const answer a = smallest_passing(
        p.last(),
        [&](std::uint64_t i) {
            EXPECT_EQ(times.at(i)++, 0) << "a point costs a whole run: " << i;
            return p.passes(i);
        },
        rule);
    EXPECT_EQ(a.tried, static_cast<std::uint64_t>(std::count(times.begin(), times.end(), 1)));
    return a;
}

check_rule every_point(const pattern& p)
{
    return [last = p.last()](std::uint64_t) { return checks{1, 0, last}; };
}

void expect_scan(const pattern& p)
{
    const answer a = search(p, every_point(p));
    EXPECT_EQ(a.smallest, p.smallest()) << p.points;
    EXPECT_EQ(a.islands, p.islands()) << p.points;
    const bool one_to_the_end = p.islands().empty() || (p.islands().size() == 1 && p.passes(p.last()));
    EXPECT_EQ(a.monotonic, one_to_the_end) << p.points;
}

TEST(fit_search, equals_a_scan)
{
    for (const char* points : {
             "#", ".", "##", ".#", "#.", "..", "########", "........", ".......#", "....####",                    // monotonic, or nothing
             "#...####", ".#..####", "..#...##", "#.#.#.#.", ".#.#.#.#", "###...##", "..##....", "#.......",      // islands
             "...#....####....########", "#.##.###.####.#####.######", "..........#.........................#",
             "....................#################", "#......................................#", "..###..#.#..##..###..####.#"})
        expect_scan({points});
}

TEST(fit_search, equals_a_scan_of_random_patterns)
{
    std::mt19937 random(7);
    for (int round = 0; round < 2000; ++round) {
        pattern p;
        const auto size = 1 + random() % 60, density = random() % 10;
        for (std::size_t i = 0; i < size; ++i) p.points += random() % 10 < density ? '#' : '.';
        expect_scan(p);
    }
}

/// What `fit` does on small cases: one per cent of less than 200 points is every point, up to 1.3 times what was found.
TEST(fit_search, finds_the_smallest_though_it_looks_no_further_than_needed)
{
    std::mt19937 random(8);
    for (int round = 0; round < 2000; ++round) {
        pattern p;
        const auto size = 1 + random() % 60;
        for (std::size_t i = 0; i < size; ++i) p.points += random() % 3 ? '#' : '.';
        p.points += '#';    // without a limit it completes
        const answer a = search(p, [](std::uint64_t found) { return checks{1, 0, found * 13 / 10}; });
        EXPECT_EQ(a.smallest, p.smallest()) << p.points;
    }
}

/// Wide strides may miss a narrow island, but what is told is true: the ends of the islands are ends.
TEST(fit_search, wide_strides_tell_no_lies)
{
    std::mt19937 random(9);
    for (int round = 0; round < 500; ++round) {
        pattern p;
        bool passing = false;
        while (p.points.size() < 600) {
            if (random() % 25 == 0) passing = !passing;
            p.points += passing ? '#' : '.';
        }
        const answer a = search(p, [](std::uint64_t found) { return checks{1 + found / 100, 0, found * 13 / 10}; });
        if (!a.smallest) continue;
        EXPECT_TRUE(p.passes(*a.smallest));
        EXPECT_TRUE(*a.smallest == 0 || !p.passes(*a.smallest - 1));
        EXPECT_EQ(a.islands.front().from, *a.smallest);
        for (std::size_t i = 1; i < a.islands.size(); ++i) {
            EXPECT_FALSE(p.passes(a.islands[i].from - 1));
            EXPECT_FALSE(p.passes(a.islands[i - 1].to + 1));
            EXPECT_FALSE(a.monotonic);
        }
    }
}

TEST(fit_search, a_few_points_above_are_all_that_is_checked)
{
    pattern p{std::string(1000, '.') + std::string(1000, '#')};
    p.points[1200] = '.';    // one of three points that are looked at
    const answer a = search(p, [](std::uint64_t found) { return checks{found / 10, found, found + 3 * (found / 10)}; });
    EXPECT_EQ(a.smallest, 1000u);
    EXPECT_FALSE(a.monotonic);
    EXPECT_EQ(a.islands.size(), 2u);
    EXPECT_EQ(a.islands[0], (island{1000, 1199}));
    EXPECT_EQ(a.islands[1].from, 1201u);
    EXPECT_LT(a.tried, 50u);
}

TEST(fit_search, a_failing_end_is_looked_behind)
{
    pattern p{std::string(2000, '.')};
    std::fill(p.points.begin() + 500, p.points.begin() + 700, '#');
    const answer a = search(p, [](std::uint64_t found) { return checks{50, 0, found + 400}; });
    EXPECT_EQ(a.smallest, 500u);
    EXPECT_EQ(a.islands, (std::vector<island>{{500, 699}}));
    EXPECT_FALSE(a.monotonic);
    EXPECT_LT(search({std::string(2000, '.')}, every_point(p)).tried, 70u);
}

}  // namespace
}  // namespace vrambench::fit
