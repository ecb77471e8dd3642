// The break-even of a driver's pool, worked out by hand.

#include "bench/decide/break_even.hpp"
#include "results.hpp"

#include <gtest/gtest.h>

namespace vrambench::decide {
namespace {

using namespace vrambench::testing;

std::uint64_t& calls(cell* c, driver_call kind) { return c->repetitions[0].cold.calls[static_cast<std::size_t>(kind)]; }

/// 100 pairs in each of two situations (sample_workload); the second one's pool runs out of memory.
platform with_calls()
{
    run_document run = some_run(true);
    const std::vector<cell*> x = add_situation(
        run, "x", std::nullopt,
        {{"legacy:retry=flush", {1.0}}, {"async:threshold=max", {1.0}}, {"legacy:retry=none", {1.0}}});
    calls(x[0], driver_call::malloc) = 12;
    calls(x[0], driver_call::free) = 5;
    calls(x[0], driver_call::sync) = 43;
    calls(x[1], driver_call::malloc_async) = 100;
    calls(x[1], driver_call::sync) = 40;
    const outcome oom = failed_with(status::oom, "retained");
    add_situation(run, "y", 1000,
                  {{"legacy:retry=flush", {1.0}}, {"async:threshold=max", {}, 1, oom}, {"legacy:retry=none", {}, 1, oom}});
    return platform_from(run);
}

TEST(break_even, thresholds_from_counts)
{
    const platform p = with_calls();
    const std::vector<break_even> all = break_evens({&p, {0, 1, 2}, {0, 1}}, {3, 1});
    ASSERT_EQ(all.size(), 1u) << "the list pool that gives up earlier is no opponent";
    const break_even& b = all[0];
    EXPECT_EQ(b.list, 0u);
    EXPECT_EQ(b.pool, 1u);
    EXPECT_EQ(b.situations, std::vector<std::size_t>{0}) << "where both completed";
    EXPECT_EQ(b.cold.pairs, 300);
    EXPECT_EQ(b.cold.synchronises, 120);
    EXPECT_EQ(b.cold.list_allocations, 36);
    EXPECT_EQ(b.cold.list_frees, 15);
    EXPECT_EQ(b.cold.list_synchronises, 9);
    EXPECT_FALSE(b.has_steady);
    const threshold t = threshold_at(b.cold, 50);    // 60 calls of 50 us over 300 pairs, or over 120 synchronises
    EXPECT_DOUBLE_EQ(t.pair_us, 10);
    EXPECT_DOUBLE_EQ(t.synchronise_us.value(), 25);
}

TEST(break_even, without_synchronises_only_the_pair_decides)
{
    const threshold t = threshold_at({10, 0, 2, 0, 0, 0, 0}, 100);
    EXPECT_DOUBLE_EQ(t.pair_us, 20);
    EXPECT_FALSE(t.synchronise_us);
}

TEST(break_even, a_probe_settles_it)
{
    driver_costs costs{"costs.json", {}};
    const auto us = [](double v) { return static_cast<std::int64_t>(v * 1e6); };
    costs.prices.malloc.growing = sim::cost_curve({{1000, us(10)}, {3000, us(30)}});
    costs.prices.work_unit = us(0.001);
    costs.prices.pool.own = us(0.5);
    costs.prices.pool.free = us(0.4);
    costs.prices.pool.stream_gap = us(1.2);
    const traffic_counts t{100, 10,     5,  0,
                           0,   10'000, 100};    // five blocks of 2,000 bytes: 20 us each; at most 100 to look through
    settled s = settle(t, costs);
    EXPECT_DOUBLE_EQ(s.at.driver_us, 20);
    EXPECT_DOUBLE_EQ(s.at.pair_us, 1);
    EXPECT_DOUBLE_EQ(s.at.synchronise_us.value(), 10);
    EXPECT_NEAR(s.pair_us, 2.0, 1e-9);
    EXPECT_TRUE(s.list_wins());
    costs.prices.pool.stream_gap = 0;
    EXPECT_FALSE(settle(t, costs).list_wins());
}

TEST(break_even, needs_a_list_pool_and_a_drivers_pool)
{
    const platform p = with_calls();
    EXPECT_TRUE(break_evens({&p, {0, 2}, {0, 1}}, {1, 1}).empty());
    EXPECT_TRUE(break_evens({&p, {0, 1}, {1}}, {1}).empty()) << "nothing that both completed";
}

}  // namespace
}  // namespace vrambench::decide
