// When a cell needs no more repetitions.

#include "bench/settled.hpp"

#include "samples.hpp"

#include <gtest/gtest.h>

namespace vrambench {
namespace {

using namespace testing;

/// legacy and its reference on a card, `n` rounds: ideal takes 1,000 ns a time, legacy `added_permille` more, by turns.
class two_cells : public ::testing::Test {
protected:
    void rounds(std::size_t n, const std::vector<std::int64_t>& added_permille)
    {
        run_.cells.clear();
        const auto workload = sample_workload("w", 4, 100, 1 << 20);
        for (const bool reference : {false, true}) {
            cell c = sample_reference(workload);
            c.reference = reference;
            c.on.simulated = false;
            if (!reference) c.allocator.name = "legacy";
            for (std::size_t i = 0; i < n; ++i) {
                const std::int64_t more = reference ? 0 : added_permille[i % added_permille.size()];
                c.repetitions.push_back(sample_repetition(i, sample_pass(*workload, 1'000'000 + 1'000 * more)));
            }
            run_.cells.push_back(std::move(c));
        }
    }
    cell& legacy() { return run_.cells[0]; }
    cell& ideal() { return run_.cells[1]; }
    bool is_settled(double precision) { return settled(run_, legacy(), {precision}).has_value(); }

    run_document run_;
};

TEST_F(two_cells, needs_six_repetitions_for_an_interval)
{
    rounds(5, {20});
    EXPECT_FALSE(is_settled(0.01));
    rounds(6, {20});
    EXPECT_TRUE(is_settled(0.01));
}

TEST_F(two_cells, half_width_is_a_share_of_ideals_time)
{
    rounds(6, {20, 40});    // added 2 % and 4 % of ideal's time: the interval is as wide as both, its half 1 %
    EXPECT_TRUE(is_settled(0.0101));
    EXPECT_FALSE(is_settled(0.0099));
}

TEST_F(two_cells, a_slow_steady_pass_counts_too)
{
    rounds(6, {20});
    for (std::size_t i = 0; i < 6; ++i) {
        legacy().repetitions[i].steady = sample_pass(*legacy().workload, i % 2 ? 2'000'000 : 1'000'000);
        ideal().repetitions[i].steady = sample_pass(*legacy().workload, 1'000'000);
    }
    EXPECT_FALSE(is_settled(0.1));
    for (repetition& r : legacy().repetitions) r.steady->time_ps = 1'000'000, r.steady->phases = r.cold.phases;
    EXPECT_TRUE(is_settled(0.1));
}

TEST_F(two_cells, disturbed_repetitions_and_other_roles_do_not_count)
{
    rounds(6, {20});
    legacy().repetitions[2].disturbed = "another process";
    EXPECT_FALSE(is_settled(0.01));
    rounds(6, {20});
    legacy().repetitions[2].what = role::verify;
    EXPECT_FALSE(is_settled(0.01));
}

TEST_F(two_cells, without_a_reference_nothing_is_known)
{
    rounds(9, {20});
    run_.cells.pop_back();
    EXPECT_FALSE(is_settled(0.5));
}

TEST_F(two_cells, endings_must_agree)
{
    rounds(6, {20});
    const auto fail = [&](std::size_t i) { legacy().repetitions[i].cold.result.what = status::oom; };
    fail(3);
    EXPECT_FALSE(is_settled(0.5));
    for (std::size_t i = 0; i < 6; ++i) fail(i);
    EXPECT_TRUE(is_settled(0.5));
    legacy().repetitions.pop_back();
    EXPECT_FALSE(is_settled(0.5));    // five of five prove less
    legacy().repetitions.resize(1);
    legacy().repetitions[0].cold.result.what = status::unsupported;
    EXPECT_TRUE(is_settled(0.5));     // it will not be supported the next time
}

TEST_F(two_cells, a_simulator_says_the_same_again)
{
    rounds(1, {20});
    legacy().on.simulated = ideal().on.simulated = true;
    EXPECT_TRUE(is_settled(0.0001));
}

TEST_F(two_cells, a_reference_goes_on_for_those_that_it_serves)
{
    rounds(6, {20, 60});
    EXPECT_FALSE(settled(run_, ideal(), {0.01}));
    EXPECT_TRUE(settled(run_, ideal(), {0.03}));
    ideal().repetitions.pop_back();    // one pair is still missing
    EXPECT_FALSE(settled(run_, ideal(), {0.03}));
}

TEST_F(two_cells, losers_are_dropped_when_another_is_better_in_everything)
{
    rounds(6, {20, 60});
    cell better = legacy();
    better.allocator.name = better.id = "vmm";
    for (repetition& r : better.repetitions) r.cold = sample_pass(*better.workload, 1'010'000);
    for (cell* c : {&legacy(), &better})
        for (repetition& r : c->repetitions) r.cold.peak_device_bytes = 2 << 20;
    run_.cells.push_back(better);
    EXPECT_FALSE(settled(run_, legacy(), {0.001, false}));
    EXPECT_EQ(settled(run_, legacy(), {0.001, true}), "dominated");
    EXPECT_EQ(settled(run_, run_.cells[2], {0.001, true}), "precision");
    EXPECT_TRUE(settled(run_, ideal(), {0.001, true}));    // nobody needs it any more

    for (repetition& r : run_.cells[2].repetitions) r.cold.peak_device_bytes = 3 << 20;    // faster, for more memory
    EXPECT_FALSE(settled(run_, legacy(), {0.001, true}));
    for (repetition& r : run_.cells[2].repetitions) r.cold = sample_pass(*better.workload, 1'040'000);    // within the interval
    EXPECT_FALSE(settled(run_, legacy(), {0.001, true}));
}

TEST_F(two_cells, so_does_an_ideal_that_was_asked_for)
{
    rounds(6, {20, 60});
    ideal().reference = false;
    EXPECT_FALSE(settled(run_, ideal(), {0.01}));
    EXPECT_TRUE(settled(run_, ideal(), {0.03}));
}

}  // namespace
}  // namespace vrambench
