#include "bench/derive.hpp"

#include "samples.hpp"
#include "spec/units.hpp"

#include <gtest/gtest.h>

namespace vrambench {
namespace {

using namespace testing;

double value(const std::optional<estimate>& e)
{
    if (!e) {
        ADD_FAILURE() << "absent";
        return 0;
    }
    return as_double(e->median);
}

/// Ten tokens in two steps, at most 1,000 bytes alive.
class derived : public ::testing::Test {
protected:
    void add(cell& c, std::int64_t time_ps) { c.repetitions.push_back(sample_repetition(c.repetitions.size(), sample_pass(*work_, time_ps))); }
    pass_metrics cold() const { return derive(cell_, &reference_).cold; }
    pass_numbers numbers() const { return cold().numbers.value(); }

    std::shared_ptr<planned_workload> work_ = sample_workload("w:a=1", 2, 10, 1000);
    cell cell_ = sample_cell(work_, "direct", "direct", "direct", std::nullopt);
    cell reference_ = sample_reference(work_);
};

TEST_F(derived, pairs_times_by_repetition)
{
    // Differences 1000, 2500 and 2000 ns over 10 tokens. Medians taken first would give (6000 - 4000) / 10 by chance; the
    // slowdowns 1.25, 1.5556 and 1.5 have their median in the third.
    for (const std::int64_t t : {5'000'000, 7'000'000, 6'000'000}) add(cell_, t);
    for (const std::int64_t t : {4'000'000, 4'500'000, 4'000'000}) add(reference_, t);
    const pass_numbers n = numbers();
    EXPECT_TRUE(n.per_token);
    EXPECT_EQ(value(n.added_ns), 200);
    EXPECT_EQ(n.added_ns->samples, 3u);
    EXPECT_FALSE(n.added_ns->ci95);
    EXPECT_EQ(value(n.slowdown), 1.5);
    ASSERT_EQ(n.phases.size(), 1u);
    EXPECT_EQ(value(n.phases[0].added_ns), 200);
    EXPECT_EQ(value(n.phases[0].slowdown), 1.5);
}

TEST_F(derived, pairs_only_equal_indices)
{
    for (const std::int64_t t : {5'000'000, 7'000'000}) add(cell_, t);
    for (const std::int64_t t : {4'000'000, 4'000'000, 4'000'000}) add(reference_, t);
    reference_.repetitions[0].disturbed = "clock drop";
    reference_.repetitions[2].index = 9;
    const pass_numbers n = numbers();
    EXPECT_EQ(value(n.added_ns), 300);   // index 1 alone
    EXPECT_EQ(n.added_ns->samples, 1u);
    EXPECT_EQ(value(n.device_idle_ns), 3000);   // both: halves of 5000 and 7000
}

/// The twins of index 0 and 1 would give 100 and 300 ns; the second repetition brought a reference of its own.
TEST_F(derived, prefers_the_reference_of_the_same_process)
{
    for (const std::int64_t t : {5'000'000, 7'000'000}) add(cell_, t);
    for (const std::int64_t t : {4'000'000, 4'000'000}) add(reference_, t);
    const pass_measurement own = sample_pass(*work_, 6'500'000);
    cell_.repetitions[1].reference = {own.time_ps, own.phases, own.activity};
    const pass_numbers n = numbers();
    EXPECT_EQ(value(n.added_ns), 75);      // of 100 and 50
    EXPECT_EQ(value(n.phases[0].added_ns), 75);
    EXPECT_DOUBLE_EQ(value(n.slowdown), (5.0 / 4.0 + 7.0 / 6.5) / 2);
    EXPECT_EQ(value(n.stall_ns), 375);     // halves of 1000 and 500
}

/// The reference's own cell then shows what is left of noise, instead of zero by definition.
TEST_F(derived, holds_the_reference_against_itself)
{
    add(reference_, 4'000'000);
    EXPECT_EQ(value(derive(reference_, &reference_).cold.numbers.value().added_ns), 0);
    const pass_measurement own = sample_pass(*work_, 3'900'000);
    reference_.repetitions[0].reference = {own.time_ps, own.phases, own.activity};
    EXPECT_EQ(value(derive(reference_, &reference_).cold.numbers.value().added_ns), 10);
}

TEST_F(derived, is_negative_where_the_reference_is_slower)
{
    add(cell_, 3'000'000);
    add(reference_, 4'000'000);
    EXPECT_EQ(value(numbers().added_ns), -100);
}

TEST_F(derived, counts_steps_where_there_are_no_tokens)
{
    work_->summary.tokens = 0;
    add(cell_, 5'000'000);
    add(reference_, 4'000'000);
    const pass_numbers n = numbers();
    EXPECT_FALSE(n.per_token);
    EXPECT_EQ(value(n.added_ns), 500);   // 1000 ns over 2 steps
    EXPECT_FALSE(n.phases[0].per_token);
    EXPECT_EQ(value(n.phases[0].added_ns), 500);
    EXPECT_FALSE(n.pp_tokens_per_s);
}

TEST_F(derived, has_no_difference_for_a_trace_without_steps)
{
    work_->summary.tokens = work_->summary.steps = 0;
    add(cell_, 5'000'000);
    add(reference_, 4'000'000);
    const pass_numbers n = numbers();
    EXPECT_FALSE(n.added_ns);
    EXPECT_EQ(value(n.slowdown), 1.25);
}

TEST_F(derived, lacks_only_what_depends_on_the_reference)
{
    add(cell_, 5'000'000);
    const pass_numbers n = derive(cell_, nullptr).cold.numbers.value();
    EXPECT_FALSE(n.added_ns);
    EXPECT_FALSE(n.slowdown);
    EXPECT_FALSE(n.stall_ns);
    EXPECT_FALSE(n.phases[0].added_ns);
    EXPECT_EQ(value(n.device_idle_ns), 2500);
    EXPECT_EQ(n.phases[0].step_ns.count, 1u);
}

TEST_F(derived, gives_the_interval_from_six_repetitions)
{
    for (std::int64_t i = 1; i <= 6; ++i) {
        add(cell_, 1'000'000 * i + 1'000'000);
        add(reference_, 1'000'000);
    }
    const pass_numbers n = numbers();   // differences of 1 ... 6 us over 10 tokens
    EXPECT_EQ(value(n.added_ns), 350);
    ASSERT_TRUE(n.added_ns->ci95);
    EXPECT_EQ(as_double(n.added_ns->ci95->first), 100);
    EXPECT_EQ(as_double(n.added_ns->ci95->second), 600);
}

TEST_F(derived, gives_rates_of_the_phases)
{
    add(cell_, 5'000'000);   // 5 us
    auto& phases = cell_.repetitions[0].cold.phases;
    phases.push_back({"decode", 1, 3, 2'000'000, {}});
    const pass_numbers n = numbers();
    EXPECT_DOUBLE_EQ(value(n.pp_tokens_per_s), 2e6);     // 10 tokens in 5 us
    EXPECT_DOUBLE_EQ(value(n.tg_tokens_per_s), 1.5e6);   // 3 in 2 us
}

TEST_F(derived, sums_rates_over_depths_and_counts_replays_as_decoded)
{
    add(cell_, 5'000'000);
    auto& phases = cell_.repetitions[0].cold.phases;
    phases = {{"prefill@0", 1, 10, 4'000'000, {}},  {"decode@0", 1, 1, 3'000'000, {}}, {"replay@0", 1, 5, 1'000'000, {}},
              {"prefill@512", 1, 2, 2'000'000, {}}, {"replay", 1, 2, 1'000'000, {}},   {"fast-forward", 1, 0, 9'000'000, {}},
              {"decoded", 1, 7, 1'000'000, {}}};
    const pass_numbers n = numbers();
    EXPECT_DOUBLE_EQ(value(n.pp_tokens_per_s), 2e6);     // 12 tokens in 6 us
    EXPECT_DOUBLE_EQ(value(n.tg_tokens_per_s), 1.6e6);   // 8 in 5 us
}

TEST_F(derived, merges_latencies_over_repetitions_by_path)
{
    add(cell_, 1'000'000);
    add(cell_, 1'000'000);
    for (int i = 0; i < 90; ++i) cell_.repetitions[0].cold.alloc[static_cast<int>(path::hit)].add(100);
    for (int i = 0; i < 9; ++i) cell_.repetitions[1].cold.alloc[static_cast<int>(path::hit)].add(120);
    cell_.repetitions[1].cold.alloc[static_cast<int>(path::driver)].add(1'000'001);
    const pass_numbers n = numbers();
    const quantiles& hit = n.alloc[static_cast<int>(path::hit)];
    EXPECT_EQ(hit.count, 99u);
    EXPECT_EQ(hit.p50, 0.1);
    EXPECT_EQ(hit.p99, 0.12);
    EXPECT_EQ(n.any_alloc.count, 100u);
    EXPECT_EQ(n.any_alloc.p90, 0.1);
    EXPECT_EQ(n.any_alloc.p99, 0.12);
    EXPECT_EQ(n.any_alloc.max, 1000.001);   // exact, although its bucket is wide
    EXPECT_EQ(n.any_free.count, 0u);
}

TEST_F(derived, gives_idleness_and_stall)
{
    add(cell_, 8'000'000);
    add(reference_, 4'000'000);
    cell_.repetitions[0].cold.activity = {5'000'000, 2'000'000, 8'000'000};
    reference_.repetitions[0].cold.activity = {3'000'000, 0, 4'000'000};
    const pass_numbers n = numbers();
    EXPECT_EQ(value(n.device_idle_ns), 3000);
    EXPECT_EQ(value(n.stall_ns), 2000);
    EXPECT_EQ(value(n.host_bound), 0.25);
}

TEST_F(derived, subtracts_before_it_rounds)
{
    add(cell_, 2 * 3'000'003);
    add(reference_, 2 * 3'000'001);
    const pass_numbers n = numbers();
    EXPECT_EQ(value(n.stall_ns), 0.002);    // 3000.003 - 3000.001 is more
    EXPECT_EQ(value(n.added_ns), 0.0004);
}

TEST_F(derived, leaves_out_what_the_device_does_not_know)
{
    add(cell_, 8'000'000);
    add(reference_, 4'000'000);
    cell_.repetitions[0].cold.activity = {-1, -1, 8'000'000};
    const pass_numbers n = numbers();
    EXPECT_FALSE(n.device_idle_ns);
    EXPECT_FALSE(n.stall_ns);
    EXPECT_FALSE(n.host_bound);
    EXPECT_EQ(value(n.added_ns), 400);
}

TEST_F(derived, merges_the_parts_of_long_calls)
{
    add(cell_, 1'000'000);
    add(cell_, 1'000'000);
    const auto grow = static_cast<int>(path::grow);
    for (repetition& r : cell_.repetitions) {
        r.cold.free_parts[grow].drain.add(6'000'000);
        r.cold.free_parts[grow].idle.add(0);
    }
    cell_.repetitions[1].cold.free_parts[grow].drain.add(0);
    cell_.repetitions[1].cold.free_parts[grow].idle.add(7'000'001);
    EXPECT_FALSE(numbers().unsplit_calls);
    cell_.repetitions[1].cold.unsplit_calls = 4;
    const pass_numbers n = numbers();
    EXPECT_EQ(n.free_split[grow].drain.each.count, 3u);
    EXPECT_EQ(n.free_split[grow].drain.total, 6000);          // a pass
    EXPECT_EQ(n.free_split[grow].idle.total, 3500.0005);
    EXPECT_EQ(n.any_free_split.idle.each.max, 7000.001);
    EXPECT_EQ(n.any_alloc_split.idle.each.count, 0u);
    EXPECT_EQ(value(n.unsplit_calls), 2);             // the median of 0 and 4
}

TEST_F(derived, gives_the_share_of_kernels_that_overran)
{
    add(cell_, 1'000'000);
    EXPECT_FALSE(numbers().overrun_share);    // the device does not count them
    cell_.repetitions[0].cold.activity.stated_kernels = 200;
    cell_.repetitions[0].cold.activity.overrun_kernels = 3;
    EXPECT_EQ(value(numbers().overrun_share), 0.015);
    cell_.repetitions[0].cold.activity.stated_kernels = 0;
    cell_.repetitions[0].cold.activity.overrun_kernels = 0;
    EXPECT_FALSE(numbers().overrun_share);
}

TEST_F(derived, divides_by_nothing_without_harm)
{
    work_->summary.max_live_bytes = 0;
    add(cell_, 0);
    add(reference_, 0);
    cell_.repetitions[0].cold.peak_device_bytes = 5;
    const pass_numbers n = numbers();
    EXPECT_FALSE(n.slowdown);
    EXPECT_FALSE(n.host_bound);
    EXPECT_FALSE(n.device_bloat);
    EXPECT_FALSE(n.byte_seconds_ratio);
    EXPECT_FALSE(n.pp_tokens_per_s);
}

TEST_F(derived, takes_the_drivers_view_from_memory_repetitions)
{
    add(cell_, 1'000'000);
    cell_.repetitions[0].cold.peak_device_bytes = 1100;
    EXPECT_EQ(value(numbers().device_bloat), 1.1);
    add(cell_, 9'000'000);   // slow, since it asks after every call: no time is taken from it
    cell_.repetitions[1].what = role::memory;
    cell_.repetitions[1].cold.peak_device_bytes = 1500;
    const pass_numbers n = numbers();
    EXPECT_EQ(value(n.peak_device_bytes), 1500);
    EXPECT_EQ(value(n.device_bloat), 1.5);
    EXPECT_EQ(n.peak_reserved_bytes->samples, 1u);
    EXPECT_EQ(value(n.device_idle_ns), 500);
}

TEST_F(derived, keeps_bytes_exact)
{
    add(cell_, 1'000'000);
    const std::uint64_t big = (std::uint64_t{1} << 53) + 1;
    cell_.repetitions[0].cold.peak_reserved_bytes = big;
    EXPECT_EQ(std::get<std::uint64_t>(numbers().peak_reserved_bytes->median), big);
}

TEST_F(derived, gives_medians_of_counts_and_recovery_times)
{
    for (int i = 0; i < 3; ++i) add(cell_, 1'000'000);
    const std::uint64_t flushes[] = {2, 4, 3};
    for (std::size_t i = 0; i < 3; ++i) {
        pass_measurement& p = cell_.repetitions[i].cold;
        p.flushes = flushes[i];
        p.calls[static_cast<std::size_t>(driver_call::sync)] = 10 * flushes[i];
        p.recovery.idle_free = 1'500 * static_cast<std::int64_t>(flushes[i]);
    }
    const pass_numbers n = numbers();
    EXPECT_EQ(std::get<std::uint64_t>(n.recovery.flushes), 3u);
    EXPECT_EQ(std::get<std::uint64_t>(n.calls[static_cast<std::size_t>(driver_call::sync)]), 30u);
    EXPECT_EQ(n.recovery.idle_free, 4.5);
}

TEST_F(derived, has_no_numbers_when_one_repetition_did_not_finish)
{
    add(cell_, 1'000'000);
    cell_.repetitions.push_back(sample_repetition(1, sample_oom("retained")));
    add(cell_, 1'000'000);
    const pass_metrics m = cold();
    EXPECT_EQ(m.attempted, 3u);
    EXPECT_EQ(m.completed, 2u);
    EXPECT_EQ(m.result->what, status::oom);
    EXPECT_FALSE(m.numbers);
    ASSERT_TRUE(m.reached);
    EXPECT_EQ(m.reached->peak_reserved_bytes, 96 * MiB);
    EXPECT_EQ(std::get<std::uint64_t>(m.reached->recovery.flushes), 2u);
    EXPECT_EQ(m.cached_blocks, (std::vector<std::uint64_t>{4 * MiB, 66 * MiB}));
}

TEST_F(derived, reports_the_worst_outcome_as_it_was_met_first)
{
    cell_.repetitions.push_back(sample_repetition(0, sample_oom("live")));
    cell_.repetitions.push_back(sample_repetition(1, sample_oom("retained")));
    cell_.repetitions[0].order = 9;
    cell_.repetitions[1].order = 4;
    EXPECT_EQ(cold().result->cause, "retained");
    add(cell_, 1);
    cell_.repetitions[2].what = role::verify;
    cell_.repetitions[2].cold.result.what = status::corrupted;
    EXPECT_EQ(cold().result->what, status::corrupted);
}

TEST_F(derived, ignores_disturbed_repetitions)
{
    add(cell_, 1'000'000);
    cell_.repetitions.push_back(sample_repetition(1, sample_oom("retained")));
    cell_.repetitions[1].disturbed = "another process";
    const pass_metrics m = cold();
    EXPECT_EQ(m.attempted, 1u);
    EXPECT_EQ(m.result->what, status::completed);
    cell_.repetitions[0].disturbed = "another process";
    EXPECT_FALSE(cold().result);
    EXPECT_FALSE(cold().numbers);
}

TEST_F(derived, knows_nothing_of_a_cell_that_was_not_measured)
{
    const cell_metrics m = derive(cell_, &reference_);
    EXPECT_EQ(m.cold.attempted, 0u);
    EXPECT_FALSE(m.cold.result);
    EXPECT_FALSE(m.steady);
}

TEST_F(derived, keeps_the_steady_pass_apart)
{
    add(cell_, 5'000'000);
    add(reference_, 4'000'000);
    cell_.repetitions[0].steady = sample_pass(*work_, 4'500'000);
    reference_.repetitions[0].steady = sample_pass(*work_, 4'000'000);
    const cell_metrics m = derive(cell_, &reference_);
    EXPECT_EQ(value(m.cold.numbers->added_ns), 100);
    EXPECT_EQ(value(m.steady->numbers->added_ns), 50);
    cell_.repetitions[0].steady = sample_oom("pending");
    const cell_metrics failed = derive(cell_, &reference_);
    EXPECT_EQ(failed.cold.result->what, status::completed);
    EXPECT_EQ(failed.steady->result->cause, "pending");
    EXPECT_FALSE(failed.steady->numbers);
}

TEST_F(derived, sums_hazards_up)
{
    add(cell_, 1'000'000);
    cell_.repetitions[0].cold.hazard_count = 3;
    EXPECT_EQ(cold().hazard_count, 3u);
}

TEST(reference_of_a_cell, runs_under_the_same_conditions)
{
    run_document run;
    const auto work = sample_workload("w:a=1", 2, 10, 1000);
    run.cells.push_back(sample_reference(sample_workload("w:a=2", 2, 10, 1000)));
    run.cells.push_back(sample_reference(work));
    cell c = sample_cell(work, "direct", "direct", "direct", 5 * MiB);
    EXPECT_EQ(reference_of(run, c), &run.cells[1]);
    c.kernel_scale = "2";
    EXPECT_EQ(reference_of(run, c), nullptr);
    c.kernel_scale = "1";
    c.mode = run_mode::graph;
    EXPECT_EQ(reference_of(run, c), nullptr);
    c.mode = run_mode::eager;
    c.kernels = kernel_model::traffic;
    EXPECT_EQ(reference_of(run, c), nullptr);
    c.kernels = kernel_model::hold;
    c.on.spec = "sim:h100";
    EXPECT_EQ(reference_of(run, c), nullptr);
}

TEST(outcome_words, say_what_happened)
{
    outcome o;
    EXPECT_EQ(in_words(o), "completed");
    o.what = status::oom;
    o.cause = "retained";
    o.step = 11;
    EXPECT_EQ(in_words(o), "oom: retained at step 11");
    o = {};
    o.what = status::crashed;
    o.message = "SIGSEGV";
    EXPECT_EQ(in_words(o), "crashed: SIGSEGV");
    o = {};
    o.what = status::starved;
    o.step = 1;
    EXPECT_EQ(in_words(o), "starved at step 1");
}

TEST(outcome_severity, orders_from_completed_to_corrupted)
{
    const status order[] = {status::completed, status::unsupported, status::oom, status::starved, status::timeout, status::crashed,
                            status::corrupted};
    for (int i = 0; i < 7; ++i) EXPECT_EQ(severity(order[i]), i);
}

}  // namespace
}  // namespace vrambench
