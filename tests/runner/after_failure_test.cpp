// What is asked after a pass that ran out of memory, and what is kept of the recoveries of one that did not.

#include "bench/recovery_log.hpp"
#include "bench/repetition_json.hpp"
#include "tests/runner/bench_setup.hpp"
#include "tests/runner/broken_allocators.hpp"
#include "tests/runner/story.hpp"
#include "workloads/registry.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace vrambench::test {

namespace {

/// 64 MiB in blocks of 2 MiB.
repetition run_of(const story& s, const std::string& allocator, std::uint64_t limit = 64 * MiB, const std::string& inject = {})
{
    cell c = cell_of(std::make_shared<story>(s), allocator, patient_device(), limit);
    c.inject = inject;
    return run_repetition(c, {});
}

constexpr const char* policies[] = {"direct", "legacy", "legacy-retry", "async", "async:retry=sync", "async:retry=trim", "async:threshold=0", "vmm"};

}  // namespace

// -- the largest blocks

TEST(after_a_failure, the_largest_blocks_of_a_list)
{
    const story s = story().alloc(0, 10 * MiB).alloc(1, 20 * MiB).free(1).free(0).alloc(2, 40 * MiB);
    const outcome o = run_of(s, "legacy").cold.result;
    ASSERT_EQ(o.cause, "retained");
    EXPECT_EQ(o.largest_cached_block_bytes, 21 * MiB);
    EXPECT_EQ(o.largest_driver_block_bytes, 30 * MiB);    // 12 and 22 MiB are taken
    EXPECT_EQ(o.next_served_bytes, 20 * MiB);
    EXPECT_EQ(o.kept_by_driver_bytes, 0u);
}

TEST(after_a_failure, the_largest_blocks_of_a_stack)
{
    const story s = story().alloc(0, 30 * MiB).free(0).external_alloc(0, 30 * MiB).alloc(1, MiB).alloc(2, 36 * MiB);
    const outcome o = run_of(s, "vmm", 66 * MiB).cold.result;
    ASSERT_EQ(o.what, status::oom);
    EXPECT_EQ(o.largest_cached_block_bytes, 29 * MiB);
    EXPECT_EQ(o.largest_driver_block_bytes, 6 * MiB);
    EXPECT_EQ(o.next_served_bytes, 18 * MiB);
}

/// The device is idle by then: what was pending is not, and a raw allocation that does not fit empties the pool.
TEST(after_a_failure, the_largest_blocks_of_a_pool)
{
    const story s = story().alloc(0, 30 * MiB).kernel(0, 1'000'000'000, {}, {0}).free(0).alloc(1, 70 * MiB).free(1);
    const outcome o = run_of(s, "async", 98 * MiB).cold.result;
    ASSERT_EQ(o.cause, "pending");
    EXPECT_EQ(o.largest_cached_block_bytes, 96 * MiB);
    EXPECT_EQ(o.largest_driver_block_bytes, 98 * MiB);
    EXPECT_EQ(o.next_served_bytes, 35 * MiB);
}

/// To look for a block makes a pool grow: what it took for that it gives back.
TEST(after_a_failure, a_pool_that_is_asked_is_no_larger_afterwards)
{
    const auto dev = open_device(choose_device(patient_device()), {});
    dev->set_streams(1);
    const auto pool = make_allocator(choose_allocator("async"), *dev, 1);
    const allocation a = pool->allocate(40 * MiB, 128, 0), b = pool->allocate(20 * MiB, 128, 0);
    pool->deallocate(a.pointer, a.granted_bytes, 0);
    const std::uint64_t reserved = pool->stats().reserved;
    EXPECT_EQ(pool->largest_unused_block(0), 40 * MiB);
    EXPECT_EQ(pool->stats().reserved, reserved);
    pool->deallocate(b.pointer, b.granted_bytes, 0);
}

/// Two small blocks share one physical block, the third has one for itself, which bytes do not tell.
TEST(after_a_failure, what_would_be_retained_is_tried)
{
    story s;
    for (std::uint32_t i = 0; i < 3; ++i) s.alloc(i, 970 * 1024);
    s.free(2).alloc(3, 60 * MiB + MiB / 2);
    const outcome o = run_of(s, "legacy").cold.result;
    EXPECT_EQ(o.driver_free_bytes, 62 * MiB);
    EXPECT_EQ(o.cause, "retained");
    EXPECT_EQ(run_of(s, "legacy-retry").cold.result.what, status::completed);
}

/// By bytes the pool has enough: 24 MiB are free and 21 unused, but on both sides of a live block, in a chunk that cannot go back.
TEST(after_a_failure, what_would_not_be_retained_is_tried)
{
    const story s = story().alloc(0, 11 * MiB).alloc(1, 10 * MiB).kernel(0, 1'000'000'000, {}, {0}).free(0).alloc(2, 12 * MiB);
    for (const char* policy : {"async", "async:retry=sync", "async:retry=trim"}) {
        const outcome o = run_of(s, policy, 56 * MiB).cold.result;
        EXPECT_EQ(o.what, status::oom) << policy;
        EXPECT_EQ(o.cause, "fragmented") << policy;
    }
}

/// What lies beside a live block in the pool's chunk cannot go back, so it starved nobody.
TEST(after_a_failure, starving_is_tried)
{
    const auto beside = [](bool live) {
        story s;
        s.alloc(0, 10 * MiB).alloc(1, 10 * MiB);
        return live ? s.free(0).external_alloc(0, 40 * MiB) : s.free(1).free(0).external_alloc(0, 40 * MiB);
    };
    EXPECT_EQ(run_of(beside(true), "async", 56 * MiB).cold.result.what, status::oom);
    EXPECT_EQ(run_of(beside(false), "async", 56 * MiB).cold.result.what, status::starved);
    EXPECT_EQ(run_of(beside(true), "async", 56 * MiB).cold.result.cause, "external");
}

TEST(after_a_failure, faults_on_purpose_are_suspended)
{
    const story s = story().alloc(0, 10 * MiB).alloc(1, 20 * MiB).free(1).free(0);
    for (const char* rule : {"oom@every:2", "malloc:oom@2"}) {
        const outcome o = run_of(s, "direct", 64 * MiB, rule).cold.result;
        ASSERT_EQ(o.cause, "injected");
        EXPECT_EQ(o.largest_cached_block_bytes, 0u);
        EXPECT_EQ(o.largest_driver_block_bytes, 54 * MiB);
        EXPECT_EQ(o.next_served_bytes, 10 * MiB);
    }
}

TEST(after_a_failure, what_completes_is_asked_nothing)
{
    const outcome o = run_of(story().alloc(0, MiB).free(0), "legacy").cold.result;
    EXPECT_FALSE(o.largest_cached_block_bytes || o.largest_driver_block_bytes || o.next_served_bytes || o.kept_by_driver_bytes);
}

TEST(after_a_failure, none_of_it_counts_as_the_passs_own)
{
    const story s = story().alloc(0, 30 * MiB).alloc(1, 40 * MiB);
    const repetition r = run_of(s, "direct");
    EXPECT_EQ(r.cold.calls[static_cast<std::size_t>(driver_call::malloc)], 1u);
    EXPECT_EQ(r.cold.refused[static_cast<std::size_t>(driver_call::malloc)], 1u);
    EXPECT_EQ(r.cold.failures, 1u);
    EXPECT_EQ(r.cold.peak_device_bytes, 30 * MiB);
    EXPECT_EQ(r.cold.peak_reserved_bytes, 30 * MiB);
}

// -- the allocator works on, and all memory comes back

TEST(after_a_failure, every_policy_serves_the_next_smaller_request_and_keeps_nothing)
{
    const story live = story().alloc(0, 40 * MiB).alloc(1, 80 * MiB).free(1).free(0);
    const story starved = story().alloc(0, 30 * MiB).free(0).external_alloc(0, 90 * MiB).external_free(0);
    for (const char* policy : policies) {
        const outcome a = run_of(live, policy, 98 * MiB).cold.result;
        ASSERT_EQ(a.what, status::oom) << policy;
        EXPECT_GT(a.next_served_bytes.value_or(0), 0u) << policy;
        EXPECT_EQ(a.kept_by_driver_bytes, 0u) << policy;
        const outcome b = run_of(starved, policy, 98 * MiB).cold.result;
        if (b.what == status::completed) continue;    // nothing was held back
        EXPECT_EQ(b.what, status::starved) << policy;
        EXPECT_GT(b.next_served_bytes.value_or(0), 0u) << policy;
        EXPECT_EQ(b.kept_by_driver_bytes, 0u) << policy;
    }
}

/// A driver that keeps memory after a refusal shows in the outcome, and the repetition is used.
TEST(after_a_failure, what_does_not_come_back_is_a_finding)
{
    class keeps final : public wrapped {
    public:
        using wrapped::wrapped;
        allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override
        {
            const allocation a = wrapped::allocate(bytes, alignment, stream);
            if (!a.pointer && !std::exchange(kept_, true)) device_.malloc(6 * MiB);
            return a;
        }

    private:
        bool kept_ = false;
    };
    const auto make = [](device& dev, std::uint32_t) -> std::unique_ptr<allocator> {
        return std::make_unique<keeps>(make_allocator(choose_allocator("direct"), dev, 1), dev);
    };
    const auto s = std::make_shared<story>(story().alloc(0, 30 * MiB).alloc(1, 40 * MiB).free(1).free(0));
    const repetition r = run_repetition(cell_of(s, "direct", patient_device(), 64 * MiB), make, {});
    EXPECT_EQ(r.cold.result.what, status::oom);
    EXPECT_EQ(r.cold.result.kept_by_driver_bytes, 6 * MiB);
    EXPECT_FALSE(r.disturbed);
}

// -- recoveries

TEST(recoveries, are_kept_with_what_came_of_them)
{
    // 21 MiB in 22; 43 in 44 do not fit beside it: a flush. The third step misses once more, the fourth hits.
    const story s = story().step().alloc(0, 20 * MiB).free(0).step().label("rescued").alloc(1, 41 * MiB).free(1).step().alloc(2, 10 * MiB)
                        .alloc(3, 12 * MiB).free(3).free(2).step().alloc(4, 11 * MiB).free(4);
    const pass_measurement m = run_of(s, "legacy-retry").cold;
    ASSERT_EQ(m.result.what, status::completed);
    ASSERT_EQ(m.recoveries, 1u);
    ASSERT_EQ(m.first_recoveries.size(), 1u);
    const recovery_record& r = m.first_recoveries.front();
    EXPECT_EQ(r.event, s.at("rescued"));
    EXPECT_EQ(r.step, 2u);
    EXPECT_EQ(r.by, recovery_action::flush);
    EXPECT_EQ(r.times.bytes_given_back, 21 * MiB);
    EXPECT_EQ(r.times.idle_free, m.recovery.idle_free);
    EXPECT_EQ(r.times.idle_sync, m.recovery.idle_sync);
    EXPECT_EQ(r.times.idle_allocate, m.recovery.idle_allocate);
    EXPECT_EQ(r.calls_after, 3u);
    EXPECT_EQ(r.misses_after, 1u);    // 10 MiB hits the 43; 12 needs a block of its own, which then serves the 11
    const auto grow = static_cast<std::size_t>(path::grow);
    EXPECT_EQ(m.alloc[grow].count(), 2u);
    EXPECT_GT(r.misses_ps, 0);
    EXPECT_LT(r.misses_ps, m.alloc[grow].sum());    // the first block of all is not its doing
    EXPECT_EQ(r.steps_before, 1u);
    EXPECT_EQ(r.steps_after, 2u);
    const std::int64_t all = r.steps_before_ps + r.steps_after_ps;
    EXPECT_LT(all, m.phases.front().time_ps);    // the step of the recovery is in neither
    EXPECT_GT(all, 0);
}

TEST(recoveries, say_which_action_worked)
{
    const story s = story().alloc(0, 30 * MiB).kernel(0, 1'000'000, {}, {0}).free(0).alloc(1, 70 * MiB).free(1);
    for (const auto& [policy, by] : {std::pair{"async:retry=sync", recovery_action::sync}, std::pair{"async:retry=trim", recovery_action::trim}}) {
        const pass_measurement m = run_of(s, policy, 98 * MiB).cold;
        ASSERT_EQ(m.first_recoveries.size(), 1u) << policy;
        EXPECT_EQ(m.first_recoveries.front().by, by);
        EXPECT_EQ(m.first_recoveries.front().times.drain_sync, m.recovery.drain_sync);
        EXPECT_GT(m.recovery.drain_sync, 0);
    }
}

TEST(recoveries, of_each_streams_pool)
{
    const story s = story(2).alloc(0, 20 * MiB, 1).free(0, 1).alloc(1, 30 * MiB, 1).free(1, 1).alloc(2, MiB, 0).free(2, 0);
    const pass_measurement m = run_of(s, "legacy-retry", 48 * MiB).cold;
    ASSERT_EQ(m.result.what, status::completed);
    ASSERT_EQ(m.first_recoveries.size(), 1u);
    EXPECT_EQ(m.first_recoveries.front().event, 2u);
}

TEST(recoveries, only_the_first_are_kept_and_all_are_counted)
{
    const auto t = std::shared_ptr<const trace>(make_trace("kv-pair:heads=8,head-dim=128,step=512,to=32768", 1));
    const pass_measurement m = run_repetition(cell_of(t, "async:retry=sync", "sim:h200", 160 * MiB), {}).cold;
    EXPECT_EQ(m.recoveries, 18u);
    ASSERT_EQ(m.first_recoveries.size(), recovery_log::kept);
    for (std::size_t i = 1; i < m.first_recoveries.size(); ++i) EXPECT_GT(m.first_recoveries[i].event, m.first_recoveries[i - 1].event);
}

TEST(recoveries, survive_a_file)
{
    const auto t = std::shared_ptr<const trace>(make_trace("kv-pair:heads=8,head-dim=128,step=512,to=32768", 1));
    const repetition whole = run_repetition(cell_of(t, "legacy-retry", "sim:h200", 160 * MiB), {});
    const repetition failed = run_repetition(cell_of(t, "legacy", "sim:h200", 160 * MiB), {});
    ASSERT_FALSE(whole.cold.first_recoveries.empty());
    ASSERT_TRUE(failed.cold.result.largest_cached_block_bytes);
    for (const repetition& r : {whole, failed}) {
        const nlohmann::json written = repetition_json(r);
        EXPECT_EQ(nlohmann::json(repetition_json(repetitions_from(written).front())), written);
    }
}

// -- the log alone

namespace {

const recovery_trace a_flush{{0, 1, 1}, {1, 3, 0}, {3, 6, 0}, 50, recovery_action::flush};

}  // namespace

TEST(recovery_log, watches_up_to_256_calls_and_not_beyond_the_next_recovery)
{
    const auto dev = open_device(choose_device(patient_device()), {});
    recovery_log log;
    EXPECT_FALSE(log.concerns(path::hit));
    EXPECT_FALSE(log.concerns(path::grow));
    ASSERT_TRUE(log.concerns(path::flush_retry));
    log.noted(path::flush_retry, 6, 10, 1, &a_flush);
    for (std::uint64_t n = 0; n < 300 && log.concerns(path::grow); ++n) log.noted(path::grow, 2, 11 + n, 1, nullptr);
    EXPECT_FALSE(log.concerns(path::grow));
    log.noted(path::flush_retry, 6, 400, 2, &a_flush);
    for (int n = 0; n < 3; ++n) log.noted(n ? path::driver : path::hit, 5, 401, 2, nullptr);
    log.noted(path::flush_retry, 6, 500, 3, &a_flush);
    const auto all = log.resolve(*dev);
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].calls_after, 256u);
    EXPECT_EQ(all[0].misses_after, 256u);
    EXPECT_EQ(all[0].misses_ps, 512);
    EXPECT_EQ(all[1].calls_after, 3u);
    EXPECT_EQ(all[1].misses_after, 2u);
    EXPECT_EQ(all[1].misses_ps, 10);
    EXPECT_EQ(all[2].calls_after, 0u);
    EXPECT_EQ(all[0].times.drain_sync, 1);
    EXPECT_EQ(all[0].times.idle_sync, 0);
    EXPECT_EQ(all[0].times.idle_free, 2);
    EXPECT_EQ(all[0].times.idle_allocate, 3);
    EXPECT_EQ(all[0].times.bytes_given_back, 50u);
}

TEST(recovery_log, compares_eight_steps_on_either_side)
{
    const auto dev = open_device(choose_device(patient_device()), {});
    recovery_log log;
    for (std::int64_t n = 1; n <= 11; ++n) log.step_ended(n);
    log.noted(path::flush_retry, 6, 10, 12, &a_flush);
    log.step_ended(1000);
    for (std::int64_t n = 1; n <= 5; ++n) log.step_ended(100);
    log.noted(path::flush_retry, 6, 20, 18, &a_flush);
    for (std::int64_t n = 1; n <= 7; ++n) log.step_ended(10);
    const auto all = log.resolve(*dev);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].steps_before, 8u);
    EXPECT_EQ(all[0].steps_before_ps, 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11);
    EXPECT_EQ(all[0].steps_after, 8u);
    EXPECT_EQ(all[0].steps_after_ps, 5 * 100 + 3 * 10);
    EXPECT_EQ(all[1].steps_before, 8u);
    EXPECT_EQ(all[1].steps_before_ps, 10 + 11 + 1000 + 5 * 100);
    EXPECT_EQ(all[1].steps_after, 6u);
    EXPECT_EQ(all[1].steps_after_ps, 60);
}

TEST(recovery_log, keeps_sixteen)
{
    const auto dev = open_device(choose_device(patient_device()), {});
    recovery_log log;
    for (std::uint64_t n = 0; n < 20; ++n) log.noted(path::flush_retry, 6, n, 1, &a_flush);
    EXPECT_FALSE(log.concerns(path::grow));    // what follows is none of theirs
    EXPECT_EQ(log.resolve(*dev).size(), recovery_log::kept);
    EXPECT_EQ(log.resolve(*dev).back().event, 15u);
}

}  // namespace vrambench::test
