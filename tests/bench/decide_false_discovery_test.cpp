// p-values of differences, and what becomes of them where many are judged at once.

#include "bench/decide/bootstrap.hpp"
#include "bench/decide/equivalence.hpp"
#include "bench/decide/false_discovery.hpp"
#include "bench/decide/student.hpp"
#include "bench/decide/verdict.hpp"
#include "workloads/random_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numbers>
#include <utility>

namespace vrambench {
namespace {

using values = std::vector<double>;
using ::testing::HasSubstr;

double uniform(random_numbers& r) { return static_cast<double>((r.next() >> 11) + 1) * 0x1p-53; }
double normal(random_numbers& r) { return std::sqrt(-2 * std::log(uniform(r))) * std::cos(2 * std::numbers::pi * uniform(r)); }

values drawn(std::size_t n, random_numbers& r, double around = 0, double by = 1)
{
    values v(n);
    for (double& x : v) x = around + by * normal(r);
    return v;
}

// Fisher and Yates, "Statistical Tables", table III; broken degrees of freedom by summing the density (a Python program of its own).
TEST(student, published_table)
{
    EXPECT_NEAR(student_two_sided(12.7062, 1), 0.05, 1e-6);
    EXPECT_NEAR(student_two_sided(2.776445, 4), 0.05, 1e-6);
    EXPECT_NEAR(student_two_sided(8.610302, 4), 0.001, 1e-8);
    EXPECT_NEAR(student_two_sided(2.000298, 60), 0.05, 1e-6);
    EXPECT_NEAR(student_two_sided(1.959964, 1e9), 0.05, 1e-5);
    EXPECT_NEAR(student_two_sided(1.5, 4.5), 0.2002190857, 1e-8);
    EXPECT_NEAR(student_two_sided(3.25, 7.3), 0.0132628204, 1e-8);
    EXPECT_NEAR(student_two_sided(0.3, 2.5), 0.7873423715, 1e-8);
    EXPECT_NEAR(student_two_sided(40, 3), 3.43806808e-05, 1e-11);
    EXPECT_EQ(student_two_sided(0, 3), 1);
}

TEST(student, reach_is_the_inverse)
{
    EXPECT_NEAR(student_reach(0.05, 4), 2.7764450959, 1e-8);
    EXPECT_NEAR(student_reach(0.05, 3.7), 2.867520698, 1e-8);
    EXPECT_NEAR(student_reach(0.0005, 4), 10.306254606, 1e-7);
    for (const double freedom : {1.0, 2.6, 59.0, 4000.0})
        for (const double p : {0.9, 0.05, 1e-6}) EXPECT_NEAR(student_two_sided(student_reach(p, freedom), freedom) / p, 1, 1e-8) << freedom;
}

// All 6^6 resamples, weighted, give the probabilities exactly (the Python program of bootstrap.interval_is_the_one_that_all_resamples_give);
// the tail is Student's with 5 degrees, since these values' upper quantile of t, 1.60, is below his 2.57.
TEST(p_value, is_the_one_that_all_resamples_give)
{
    const auto six = estimate_mean(values{3.1, 2.7, 4.4, 3.9, 8.2, 3.3}, {.seed = 7, .resamples = 399'999});
    ASSERT_TRUE(six);
    EXPECT_NEAR(six->p_within(4), 0.6295, 0.005);
    EXPECT_NEAR(six->p_within(3.5), 0.2419, 0.004);
    EXPECT_EQ(six->p_within(2.8), 0.05);     // the interval ends at 2.944
    EXPECT_NEAR(six->p_within(2), 0.0402846, 1e-6);
    EXPECT_NEAR(six->p_within(1), 0.0107000, 1e-6);
    EXPECT_EQ(six->p_within(5), 1);
}

// On the side where the resamples spread more than Student's t (-6.52), their quantile stretches the tail.
TEST(p_value, a_tail_is_as_long_as_the_resamples_have_it)
{
    const auto mirrored = estimate_mean(values{-3.1, -2.7, -4.4, -3.9, -8.2, -3.3}, {.seed = 7, .resamples = 399'999});
    const auto moved = estimate_mean(values{-16.9, -17.3, -15.6, -16.1, -11.8, -16.7}, {.seed = 7, .resamples = 399'999});
    ASSERT_TRUE(mirrored && moved);
    EXPECT_NEAR(mirrored->p_within(2), 0.0402846, 1e-6);
    const double errors = 15.7333333 / 0.82408198, stretched = errors * student_reach(0.05, 5) / 6.5218649;
    EXPECT_NEAR(moved->p_within(0) / student_two_sided(stretched, 5), 1, 0.1);         // a quantile of a random number generator
    EXPECT_GT(moved->p_within(0), 50 * student_two_sided(errors, 5));
}

TEST(p_value, never_contradicts_the_interval_and_is_never_nothing)
{
    random_numbers r(3);
    int beyond = 0;
    for (int i = 0; i < 600; ++i) {
        const std::size_t n = 4 + r.below(8);
        const values base = drawn(n, r), other = drawn(n + r.below(3), r, 3 * normal(r), 0.2 + uniform(r));
        const bootstrap_settings how{.seed = r.next(), .resamples = i % 2 ? 1999u : 999u};
        const auto e = i % 3 ? estimate_difference(base, other, how) : estimate_mean(other, how);
        ASSERT_TRUE(e);
        double last = 0;
        values margins{0, 0.1, 1, std::abs(e->ci95().low), std::abs(e->ci95().high), 20};
        std::sort(margins.begin(), margins.end());
        for (const double margin : margins) {
            const judgement j = judge(e->ci95(), margin);
            const bool is_beyond = j == judgement::above || j == judgement::below;
            const double p = e->p_within(margin);
            EXPECT_EQ(p <= 0.05, is_beyond) << i << ", margin " << margin << ", p " << p;
            EXPECT_GE(p, mean_estimate::least_p);
            EXPECT_LE(p, 1);
            EXPECT_GE(p, std::exchange(last, p)) << "a wider margin is more easily kept";
            beyond += is_beyond;
        }
    }
    EXPECT_GT(beyond, 300);
    EXPECT_EQ(estimate_mean(values{1e9, 1e9 + 1, 1e9 + 2, 1e9 + 1, 1e9})->p_within(0), mean_estimate::least_p);
    EXPECT_THROW((void)estimate_mean(values{3, 3})->p_within(1), std::logic_error);
}

// Benjamini and Hochberg (1995), section 3.2: the p-values of Neuhaus and others (1992). Four are found at 5 % (Bonferroni:
// three); adjusted as p * 15 / rank, by hand.
TEST(false_discovery, published_case)
{
    const values p{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0};
    const values expected{0.0015,        0.003,  0.0095, 0.035625, 0.0603,        0.0298 * 15 / 7, 0.0298 * 15 / 7, 0.0645,
                          0.0765,        0.486,  0.4262 * 15 / 11, 0.714875, 0.6528 * 15 / 13, 0.7590 * 15 / 14, 1.0};
    const values adjusted = adjusted_for_all(p);
    for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(adjusted[i], expected[i], 1e-12) << i;
    EXPECT_EQ(std::count_if(adjusted.begin(), adjusted.end(), [](double a) { return a <= false_discovery_rate; }), 4);
    EXPECT_DOUBLE_EQ(level_among(4, 15), 0.05 * 4 / 15);       // and the fourth, 0.0095, is below this, the fifth above its own
}

TEST(false_discovery, order_does_not_matter_and_adjusted_ones_keep_the_order_of_p)
{
    random_numbers r(9);
    for (int i = 0; i < 200; ++i) {
        values p(1 + r.below(40));
        for (double& x : p) x = std::pow(uniform(r), 3);
        p.push_back(p.front());
        const values adjusted = adjusted_for_all(p);
        values backwards(p.rbegin(), p.rend());
        backwards = adjusted_for_all(backwards);
        EXPECT_EQ(adjusted.front(), adjusted.back());
        for (std::size_t a = 0; a < p.size(); ++a) {
            EXPECT_EQ(adjusted[a], backwards[p.size() - 1 - a]);
            EXPECT_GE(adjusted[a], p[a]);
            EXPECT_LE(adjusted[a], 1);
            for (std::size_t b = 0; b < p.size(); ++b) EXPECT_LE(p[a] < p[b] ? adjusted[a] : 0, adjusted[b]);
        }
    }
    EXPECT_EQ(adjusted_for_all(values{0.03}), (values{0.03}));
    EXPECT_TRUE(adjusted_for_all({}).empty());
}

/// Differences of one comparison: added times whose margin is `margin` nanoseconds.
class family {
public:
    void add(const values& base, const values& other, bool paired, double margin, std::uint64_t seed)
    {
        verdicts_.push_back(judge_metric(&keep(base), &keep(other), vrambench::margin{margin, margin::unit::absolute},
                                         {.rounds_are_shared = paired, .seed = seed}));
    }

    std::deque<metric_verdict>& judged()
    {
        std::vector<metric_verdict*> all;
        for (metric_verdict& v : verdicts_) all.push_back(&v);
        judge_together(all);
        return verdicts_;
    }

    bool any_found() const
    {
        return std::any_of(verdicts_.begin(), verdicts_.end(),
                           [](const metric_verdict& v) { return v.what == verdict::better || v.what == verdict::worse; });
    }

private:
    series& keep(const values& v)
    {
        series& s = kept_.emplace_back(series{"added_ns_per_token", "decode", {}, 0});
        for (const double x : v) s.samples.push_back({s.samples.size(), x});
        return s;
    }

    std::deque<series> kept_;
    std::deque<metric_verdict> verdicts_;
};

// Nothing differs anywhere, the margin is nothing, which is the hardest case: at most one comparison in twenty finds anything
// (0.05 and two standard errors of 300 comparisons: 0.075). One by one nearly every comparison does.
void expect_few_false_alarms(bool paired, std::size_t processes)
{
    constexpr int comparisons = 300, differences = 40;
    random_numbers r(2026 + processes);
    int alone = 0, together = 0;
    for (int i = 0; i < comparisons; ++i) {
        family f;
        for (int k = 0; k < differences; ++k) f.add(drawn(processes, r), drawn(processes, r), paired, 0, r.next());
        alone += f.any_found();
        f.judged();
        together += f.any_found();
    }
    EXPECT_LE(together, comparisons * 0.075) << processes;
    EXPECT_GT(alone, comparisons * 0.7) << processes;
}

TEST(false_discovery, one_comparison_in_twenty_at_most_finds_what_is_not_there)
{
    expect_few_false_alarms(true, 5);
    expect_few_false_alarms(true, 10);
    expect_few_false_alarms(false, 6);
}

// As `direct` beside a hundred cells in which nothing changed: ten times the noise in five processes.
TEST(false_discovery, a_planted_difference_is_found_among_many_that_are_none)
{
    for (const bool paired : {true, false}) {
        random_numbers r(17);
        family f;
        for (int k = 0; k < 100; ++k) f.add(drawn(5, r, 300), drawn(5, r, 300), paired, 1, r.next());
        f.add(drawn(5, r, 300), drawn(5, r, 315), paired, 1, r.next());
        const auto& judged = f.judged();
        EXPECT_EQ(judged.back().what, verdict::worse) << judged.back().note;
        EXPECT_GT(judged.back().test->p_adjusted, judged.back().test->p);
        EXPECT_EQ(std::count_if(judged.begin(), judged.end(), [](const auto& v) { return v.what == verdict::worse; }), 1);
    }
}

// Where much differs, little is asked of each: the share of false ones is held, not their number.
TEST(false_discovery, many_true_ones_help_each_other)
{
    random_numbers r(21);
    family f;
    const auto slight = [&] { f.add({100, 103, 98, 101, 97}, {106, 109, 103, 106, 104}, false, 1, 5); };
    slight();
    EXPECT_EQ(f.judged()[0].what, verdict::worse);
    for (int k = 0; k < 30; ++k) f.add(drawn(5, r, 300), drawn(5, r, 300), false, 100, r.next());
    const metric_verdict alone = f.judged()[0];
    EXPECT_EQ(alone.what, verdict::not_enough_evidence);
    for (int k = 0; k < 30; ++k) slight();
    EXPECT_EQ(f.judged()[0].what, verdict::worse);
    EXPECT_LT(*f.judged()[0].resolution, *alone.resolution);
    EXPECT_EQ(f.judged()[0].note, "");
}

TEST(false_discovery, what_is_not_found_says_why_and_what_would_do)
{
    random_numbers r(21);
    family f;
    f.add({100, 103, 98, 101, 97}, {106, 109, 103, 106, 104}, false, 1, 5);
    for (int k = 0; k < 30; ++k) f.add(drawn(5, r, 300), drawn(5, r, 300), false, 100, r.next());
    const metric_verdict v = f.judged()[0];
    ASSERT_EQ(v.what, verdict::not_enough_evidence);
    EXPECT_LE(v.test->p, 0.05);
    EXPECT_DOUBLE_EQ(v.test->p_adjusted, 31 * v.test->p);
    EXPECT_THAT(v.note, HasSubstr(" among 31 differences"));
    EXPECT_GT(*v.processes_wanted, 5);
    EXPECT_LT(*v.processes_wanted, 20);
    EXPECT_GT(*v.resolution, *v.difference);                          // what was not found is said to be too small to be
    EXPECT_EQ(f.judged()[1].what, verdict::same);
}

TEST(false_discovery, what_does_not_vary_is_no_test)
{
    family f;
    f.add({100, 100, 100, 100}, {200, 200, 200, 200}, false, 1, 1);
    f.add({100, 103, 98, 101}, {200, 197, 201, 203}, false, 1, 1);
    const auto& judged = f.judged();
    EXPECT_FALSE(judged[0].test);
    EXPECT_EQ(judged[0].what, verdict::worse);
    ASSERT_TRUE(judged[1].test);
    EXPECT_DOUBLE_EQ(judged[1].test->p_adjusted, judged[1].test->p);  // a family of itself
}

}  // namespace
}  // namespace vrambench
