// The search against a scan of every point.

#include "bench/fit/forecast.hpp"
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

// -- how long it will go on

/// What is told before each point, from first to last.
std::vector<std::uint64_t> told_by(const pattern& p, const check_rule& rule)
{
    std::vector<std::uint64_t> told;
    expected_points expected(p.last(), rule);
    const auto passes = [&](std::uint64_t point) {
        told.push_back(expected.left());
        expected.tried(point, p.passes(point));
        return p.passes(point);
    };
    smallest_passing(p.last(), passes, rule);
    return told;
}

TEST(fit_search, foretells_how_many_points_are_left)
{
    for (const std::size_t first : {0u, 1u, 3u, 100u, 900u, 999u}) {
        const pattern p{std::string(first, '.') + std::string(1000 - first, '#')};
        const auto told = told_by(p, [](std::uint64_t found) { return checks{10, 0, found + 300}; });
        bool settled = false;
        for (std::size_t i = 0; i < told.size(); ++i) {
            const std::uint64_t left = told.size() - i;
            settled = settled || i > 12;    // both ends, and ten halves of a thousand
            EXPECT_LE(told[i], settled ? left + 2 : 3 * left) << first << ", point " << i << " of " << told.size();
            EXPECT_GE(told[i] + 2, settled ? left : left / 3) << first << ", point " << i << " of " << told.size();
        }
    }
}

TEST(fit_search, foretells_the_points_of_a_range_that_fails)
{
    const auto told = told_by({std::string(2000, '.')}, [](std::uint64_t found) { return checks{50, 0, found + 400}; });
    for (std::size_t i = 1; i < told.size(); ++i) EXPECT_NEAR(static_cast<double>(told[i]), static_cast<double>(told.size() - i), 2) << i;
}

TEST(fit_search, foretells_at_least_the_point_that_is_about_to_be_tried)
{
    const pattern p{"...##.#.#..##.#.#.###..#.####"};    // islands are not foreseen
    for (const std::uint64_t left : told_by(p, every_point(p))) EXPECT_GE(left, 1u);
}

TEST(outlook, says_nothing_until_something_is_known)
{
    outlook o({100, 100}, 1);
    EXPECT_FALSE(o.seconds_left());
    o.ran(0, 2);
    EXPECT_FALSE(o.seconds_left()) << "nobody knows how many runs it needs";
    o.expect(0, 9);
    EXPECT_EQ(o.seconds_left(), 9 * 2.0 + 20) << "the other needs as much";
}

TEST(outlook, follows_what_was_really_needed)
{
    outlook o({100, 300}, 1);
    o.ran(0, 2), o.expect(0, 9);
    EXPECT_EQ(o.seconds_left(), 18 + 60.0) << "three times the events";
    o.ran(0, 4);
    EXPECT_EQ(o.seconds_left(), 8 * 3.0 + 3 * 30) << "3 s a run";
    o.expect(0, 2);
    EXPECT_EQ(o.seconds_left(), 2 * 3.0 + 3 * 12);
    o.ended(0);
    EXPECT_EQ(o.seconds_left(), 3 * 6.0);
    o.expect(1, 5), o.ran(1, 1);
    EXPECT_EQ(o.seconds_left(), 4.0) << "its own runs tell more";
    o.ended(1);
    EXPECT_EQ(o.seconds_left(), 0.0);
}

TEST(outlook, searches_beside_each_other_share_the_time)
{
    outlook o({1, 1, 1, 1}, 3);
    o.ran(0, 1), o.expect(0, 11);
    EXPECT_EQ(o.seconds_left(), (11 + 3 * 12) / 3.0);
    for (const std::size_t search : {1u, 2u, 3u}) o.ended(search);
    EXPECT_EQ(o.seconds_left(), 11.0) << "one alone has nobody to share with";
}

}  // namespace
}  // namespace vrambench::fit
