// Scores, the choice and its resamples on cases that can be worked out by hand.

#include "bench/decide/choice.hpp"
#include "bench/decide/stability.hpp"
#include "results.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace vrambench::decide {
namespace {

using namespace vrambench::testing;

contest all_of(const platform& p)
{
    contest c{&p, {}, {}};
    c.candidates.resize(p.allocators.size());
    c.situations.resize(p.situations.size());
    std::iota(c.candidates.begin(), c.candidates.end(), 0);
    std::iota(c.situations.begin(), c.situations.end(), 0);
    return c;
}

std::vector<scores> scores_of(const platform& p)
{
    const contest c = all_of(p);
    return score(c, slowdowns_of(c), weights_of(c));
}

/// A wins x by 10 and 20 %, B wins y by 50 %, where C runs out of memory; y weighs three times as much.
platform hand_made()
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt,
                  {{"a", {1.0, 1.0, 1.0}, 2}, {"b", {1.1, 1.1, 1.1}, 1}, {"c", {1.2, 1.2, 1.2}, 1}});
    add_situation(
        run, "y", std::nullopt,
        {{"a", {1.5, 1.5, 1.5}, 2}, {"b", {1.0, 1.0, 1.0}, 3}, {"c", {}, 1, failed_with(status::oom, "retained")}});
    platform p = platform_from(run);
    p.situations[1].weight = 3;
    return p;
}

TEST(scores, regret_added_time_bloat_and_what_was_not_finished)
{
    const platform p = hand_made();
    const std::vector<scores> s = scores_of(p);
    EXPECT_NEAR(s[0].mean_regret, (1 * 0 + 3 * 0.5) / 4, 1e-12);
    EXPECT_NEAR(s[0].max_regret, 0.5, 1e-12);
    EXPECT_EQ(s[0].worst_situation, 1u);
    EXPECT_NEAR(s[0].added, (1 * 0 + 3 * 0.5) / 4, 1e-12);
    EXPECT_NEAR(s[0].bloat, 2, 1e-12);
    EXPECT_EQ(s[0].unfinished, 0);
    EXPECT_NEAR(s[1].mean_regret, 1 * 0.1 / 4, 1e-12);
    EXPECT_NEAR(s[1].bloat, (1 * 1 + 3 * 3) / 4.0, 1e-12);
    EXPECT_EQ(s[2].unfinished, 0.75);
    EXPECT_NEAR(s[2].mean_regret, 0.2, 1e-12) << "over what it finished";
}

TEST(scores, a_time_is_the_median_of_its_processes)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"a", {1.4, 1.0, 1.2, 1.1}}, {"b", {1.0, 1.0, 1.0}}});
    EXPECT_NEAR(scores_of(platform_from(run))[0].mean_regret, 0.15, 1e-12);
}

TEST(scores, no_time_counts_where_no_real_card_answered)
{
    run_document run = some_run(true);
    for (cell* c : add_situation(run, "x", std::nullopt, {{"a", {2.0}}, {"b", {1.0}}})) {
        c->repetitions[0].cold.recoveries = 1;
        c->repetitions[0].cold.recovery.idle_free = 5'000'000'000;
    }
    const std::vector<scores> s = scores_of(platform_from(run));
    EXPECT_FALSE(s[0].timed);
    EXPECT_TRUE(std::isnan(s[0].mean_regret));
    EXPECT_EQ(s[0].idle_ns, 0);
}

scores with(double unfinished, double regret, double bloat, double idle_ns)
{
    scores s;
    s.unfinished = unfinished;
    s.mean_regret = regret;
    s.bloat = bloat;
    s.idle_ns = idle_ns;
    return s;
}

using places = std::vector<std::size_t>;

TEST(choice, finishing_comes_before_time_before_memory_before_recoveries)
{
    EXPECT_EQ(choose({with(0.1, 0, 1, 0), with(0, 0.5, 20, 9e6)}, {}), places{1});
    EXPECT_EQ(choose({with(0, 0.03, 1, 0), with(0, 0.01, 20, 9e6)}, {}), places{1});
    EXPECT_EQ(choose({with(0, 0.01, 1.0, 9e6), with(0, 0.005, 1.2, 0)}, {}), places{0});
    EXPECT_EQ(choose({with(0, 0.01, 1.0, 9e6), with(0, 0.005, 1.04, 0)}, {}), places{1});
}

TEST(choice, equal_within_the_margins_is_no_choice_and_who_is_beside_is_left_out)
{
    const std::vector<scores> s{with(0, 0, 1, 0), with(0, 0.009, 1.04, 90'000), with(0, 0.2, 1, 0)};
    EXPECT_EQ(choose(s, {}), (places{0, 1}));
    EXPECT_EQ(choose(s, {}, {0}), places{1});
    EXPECT_EQ(choose(s, {}, {0, 1}), places{2});
    EXPECT_EQ(choose({}, {}), places{});
}

TEST(choice, what_has_no_time_stands_behind_what_has_one)
{
    EXPECT_EQ(choose({with(0, not_known, 1, 0), with(0, 0.5, 9, 0)}, {}), places{1});
}

/// Drawing two of two situations gives xx, xy, yx, yy: a wins the first only, b all others.
TEST(resamples, the_share_of_a_choice_that_hangs_on_one_workload)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"a", {1.0, 1.0, 1.0}}, {"b", {1.1, 1.1, 1.1}}});
    add_situation(run, "y", std::nullopt, {{"a", {2.0, 2.0, 2.0}}, {"b", {1.0, 1.0, 1.0}}});
    const platform p = platform_from(run);
    const stability s = resample(all_of(p), {}, 4000, 1);
    EXPECT_NEAR(s.alone[0], 0.25, 0.03);
    EXPECT_NEAR(s.alone[1], 0.75, 0.03);
    EXPECT_NEAR(s.alone[0] + s.alone[1], 1, 1e-9);
}

/// One situation, three processes, drawn with replacement: b is dearer where its median is, with 20 of 27 draws (two or
/// three slow ones of three with two slow: (2/3)^3 + 3 (2/3)^2 (1/3)). a never changes.
TEST(resamples, the_share_of_a_choice_that_hangs_on_processes)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"a", {1.0, 1.0, 1.0}, 1.2}, {"b", {1.0, 1.5, 1.5}, 1}});
    const platform p = platform_from(run);
    const stability s = resample(all_of(p), {}, 4000, 7);
    EXPECT_NEAR(s.alone[0], 20.0 / 27, 0.03);
    EXPECT_NEAR(s.alone[1], 7.0 / 27, 0.03);
}

TEST(resamples, rounds_stay_together)
{
    run_document run = some_run();    // noise that both share: b is 5 % dearer in every round
    add_situation(run, "x", std::nullopt, {{"a", {1.0, 2.0, 3.0}}, {"b", {1.05, 2.1, 3.15}}});
    const platform p = platform_from(run);
    EXPECT_EQ(resample(all_of(p), {}, 500, 3).alone[0], 1) << "independent draws would sometimes turn them round";
}

TEST(resamples, are_the_same_for_a_seed)
{
    const platform p = hand_made();
    const stability a = resample(all_of(p), {}, 300, 5), b = resample(all_of(p), {}, 300, 5),
                    c = resample(all_of(p), {}, 300, 6);
    EXPECT_EQ(a.alone, b.alone);
    EXPECT_EQ(a.regret95, b.regret95);
    EXPECT_NE(a.alone, c.alone);
}

}  // namespace
}  // namespace vrambench::decide
