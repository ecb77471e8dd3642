// What is deterministic is the same on the card and on the simulator, at the limit that the card recorded: driver calls,
// bytes, outcome and failing step. And what a card measures beside it makes sense.

#include "tests/card/card.hpp"
#include "workloads/registry.hpp"

#include <iostream>

namespace vrambench::test {

namespace {

constexpr const char* kv_pair = "kv-pair:heads=8,head-dim=128,step=512,to=131072";
constexpr const char* fc_07 = "kv-pair:heads=2,head-dim=256,step=512,to=82944,warm=1MiB/4MiB/8MiB/48MiB+48MiB/64MiB";

/// Policies whose driver calls do not depend on when kernels end. A driver's pool decides by that.
constexpr const char* deterministic[] = {"direct", "legacy", "legacy-retry", "vmm", "ideal"};

void expect_same(const pass_measurement& card, const pass_measurement& sim)
{
    EXPECT_EQ(card.result.what, sim.result.what) << card.result.message << " / " << sim.result.message;
    EXPECT_EQ(card.result.cause, sim.result.cause);
    EXPECT_EQ(card.result.event, sim.result.event);
    EXPECT_EQ(card.result.step, sim.result.step);
    EXPECT_EQ(card.events, sim.events);
    for (std::size_t k = 0; k < driver_call_kinds; ++k) {
        EXPECT_EQ(card.calls[k], sim.calls[k]) << to_string(static_cast<driver_call>(k));
        EXPECT_EQ(card.refused[k], sim.refused[k]) << "refused: " << to_string(static_cast<driver_call>(k));
    }
    EXPECT_EQ(card.peak_live_bytes, sim.peak_live_bytes);
    EXPECT_EQ(card.peak_reserved_bytes, sim.peak_reserved_bytes);
    EXPECT_EQ(card.end_reserved_bytes, sim.end_reserved_bytes);
    EXPECT_EQ(card.cached_blocks, sim.cached_blocks);
    EXPECT_EQ(card.flushes, sim.flushes);
    EXPECT_EQ(card.recoveries, sim.recoveries);
    EXPECT_EQ(card.failures, sim.failures);
    EXPECT_EQ(card.hazard_count, 0u);
}

}  // namespace

class card_figures : public on_card {
protected:
    static void compare(const char* allocator, const char* workload, std::uint64_t limit = 0)
    {
        SCOPED_TRACE(std::string(allocator) + " on " + workload + ", limit " + std::to_string(limit));
        const std::shared_ptr<const trace> t = make_trace(workload, 1);
        const repetition card = run_repetition(card_cell(t, allocator, limit), {});
        const std::uint64_t recorded = limit ? card.cold.free_bytes_at_start : 0;
        const repetition sim = run_repetition(cell_of(t, allocator, "sim:h200", recorded), {});
        expect_same(card.cold, sim.cold);
        ASSERT_EQ(card.steady.has_value(), sim.steady.has_value());
        if (card.steady) expect_same(*card.steady, *sim.steady);
    }
};

TEST_F(card_figures, kv_pair_without_a_limit)
{
    for (const char* a : deterministic) compare(a, kv_pair);
}

TEST_F(card_figures, kv_pair_under_limits)
{
    for (const char* a : {"direct", "legacy", "legacy-retry", "vmm"})
        for (const std::uint64_t limit : {640 * MiB, 1024 * MiB}) compare(a, kv_pair, limit);
}

TEST_F(card_figures, the_published_slots)
{
    for (const char* a : deterministic) compare(a, fc_07);
}

/// Shares are shares, parts make wholes.
TEST_F(card_figures, what_is_measured_makes_sense)
{
    const std::shared_ptr<const trace> t = make_trace("kv-pair:heads=8,head-dim=128,step=512,to=8192", 1);
    const repetition r = run_repetition(card_cell(t, "direct"), {});
    ASSERT_EQ(r.cold.result.what, status::completed) << r.cold.result.message;
    const device_activity& a = r.cold.activity;
    EXPECT_GT(a.busy_ps, 0);
    EXPECT_LE(a.busy_ps, a.span_ps);
    EXPECT_GE(a.empty_queue_ps, 0);
    EXPECT_LE(a.empty_queue_ps, a.span_ps);
    EXPECT_GT(a.stated_kernels, 0);
    EXPECT_GE(a.overrun_kernels, 0);
    EXPECT_LE(a.overrun_kernels, a.stated_kernels);
    EXPECT_EQ(r.cold.unsplit_calls, 0u);
    // direct: every free waits for the kernel before it
    const auto driver = static_cast<int>(path::driver);
    const call_parts& free = r.cold.free_parts[driver];
    EXPECT_GT(free.drain.count(), 0u);
    EXPECT_GT(free.drain.sum(), 0);
    EXPECT_LE(free.drain.sum() + free.idle.sum(), r.cold.free[driver].sum());
}

TEST_F(card_figures, rates_are_measured_or_say_why_not)
{
    const auto dev = open_device(choose_device(card_spec()), {});
    const std::uint64_t before = dev->query_memory().free_bytes;
    const card_rates rates = dev->measure_rates().value();
    EXPECT_GT(rates.bytes_per_second, 10'000'000'000u) << rates.bytes_source;       // any card of these years
    if (rates.flops_per_second == 0) {
        EXPECT_EQ(rates.flops_source.find("not measured"), 0u) << rates.flops_source;
    } else {
        EXPECT_GT(rates.flops_per_second, 1'000'000'000'000u) << rates.flops_source;
    }
    EXPECT_GT(dev->query_memory().free_bytes + 64 * MiB, before);    // what it took is given back, but for the kernels' code
    std::cout << "flops " << rates.flops_per_second << " (" << rates.flops_source << "), bytes " << rates.bytes_per_second << " ("
              << rates.bytes_source << ")\n";
}

TEST_F(card_figures, clocks_are_read_or_the_facts_say_why_not)
{
    const auto dev = open_device(choose_device(card_spec()), {});
    const auto now = dev->condition();
    const std::string fact = dev->info().facts.at("clocks");
    if (now) {
        EXPECT_GT(now->sm_mhz, 0u);
        EXPECT_GT(now->memory_mhz, 0u);
        EXPECT_EQ(fact.find("read with"), 0u) << fact;
    }
    std::cout << fact << '\n';
    if (!now) GTEST_SKIP() << "the card does not tell its clocks: " << fact;
}

}  // namespace vrambench::test
