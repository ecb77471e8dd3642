// Virtual times worked out by hand on a card with round prices (bench_setup.hpp): a launch takes the host 10 ns and begins
// 5 ns later, a synchronisation 7, a record 1, a wait 2, a unit of policy work 1, and so on. Two launches fit the queue.

#include "device/registry.hpp"
#include "tests/runner/bench_setup.hpp"
#include "tests/runner/story.hpp"

#include <gtest/gtest.h>

namespace vrambench::test {

namespace {

constexpr std::int64_t ns = 1000;    // picoseconds

const std::string& round_device()
{
    static const std::string spec = device_of(round_profile());
    return spec;
}

std::unique_ptr<device> open_round(std::uint32_t streams = 1)
{
    auto dev = open_device(choose_device(round_device()), {});
    dev->set_streams(streams);
    return dev;
}

/// Host time that `call` takes.
template <class F> std::int64_t cost(device& dev, F call)
{
    const std::int64_t before = dev.clock().now_ps();
    call();
    return dev.clock().now_ps() - before;
}

}  // namespace

// -- calls

TEST(virtual_time, fixed_prices)
{
    const auto dev = open_round(2);
    EXPECT_EQ(cost(*dev, [&] { dev->launch(0, 0, {}); }), 10 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->record(0, 0); }), 1 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->wait(0, 1); }), 2 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->query_memory(); }), 3 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->charge(6); }), 6 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->sync_device(); }), 7 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->sync_stream(1); }), 7 * ns);
}

TEST(virtual_time, malloc_costs_by_size_and_situation)
{
    const auto dev = open_round();
    device_ptr p = 0;
    EXPECT_EQ(cost(*dev, [&] { p = dev->malloc(1024); }), 150 * ns);             // more than ever before
    EXPECT_EQ(cost(*dev, [&] { dev->free(p); }), 30 * ns);
    EXPECT_EQ(cost(*dev, [&] { p = dev->malloc(1024); }), 100 * ns);             // what was just given back
    dev->free(p);
    EXPECT_EQ(cost(*dev, [&] { p = dev->malloc(1536); }), 150 * ns + ns / 2);    // between two points
    dev->free(p);
    EXPECT_EQ(cost(*dev, [&] { p = dev->malloc(512); }), 100 * ns);              // below the first: constant
    dev->free(p);
    EXPECT_EQ(cost(*dev, [&] { p = dev->malloc(5120); }), 154 * ns);             // beyond the last: its slope
    dev->free(p);
    dev->launch(0, 10'000 * ns, {});
    EXPECT_EQ(cost(*dev, [&] { p = dev->malloc(1024); }), 1100 * ns);            // a kernel runs
    dev->sync_device();
    EXPECT_EQ(cost(*dev, [&] { dev->malloc(5120); }), 154 * ns);                 // idle again, and 1024 more than ever before
}

TEST(virtual_time, a_refused_malloc_costs_as_much)
{
    const auto dev = open_round();
    EXPECT_EQ(cost(*dev, [&] { EXPECT_EQ(dev->malloc(128 * MiB), 0u); }), 150 * ns + (128 * 1024 - 1) * ns);
    EXPECT_EQ(dev->refused_calls()[static_cast<std::size_t>(driver_call::malloc)], 1u);
}

TEST(virtual_time, free_waits_for_every_stream_then_costs)
{
    const auto dev = open_round(2);
    const device_ptr p = dev->malloc(2048);                                      // 151
    const std::int64_t t = dev->clock().now_ps();
    dev->launch(0, 1000 * ns, {});                                               // 15 ... 1015
    dev->launch(1, 3000 * ns, {});                                               // 25 ... 3025
    dev->free(p);
    EXPECT_EQ(dev->clock().now_ps() - t, (3025 + 31) * ns);
}

TEST(virtual_time, virtual_memory_calls)
{
    const auto dev = open_round();
    device_ptr p = 0;
    vmm_handle h = 0;
    EXPECT_EQ(cost(*dev, [&] { p = dev->reserve(MiB); }), 100 * ns);
    EXPECT_EQ(cost(*dev, [&] { h = dev->create(64 * KiB); }), 60 * ns);          // growing
    EXPECT_EQ(cost(*dev, [&] { dev->map(p, 64 * KiB, h); }), 8 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->release(h); }), 4 * ns);                     // still mapped
    EXPECT_EQ(cost(*dev, [&] { dev->set_access(p, 64 * KiB); }), 9 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->unmap(p, 64 * KiB); }), (11 + 12) * ns);     // and the memory goes
    EXPECT_EQ(cost(*dev, [&] { h = dev->create(64 * KiB); }), 40 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->release(h); }), 12 * ns);
}

// -- kernels

TEST(virtual_time, the_host_waits_for_room_in_the_launch_queue)
{
    const auto dev = open_round(2);
    const auto launch = [&](stream_id s) { return cost(*dev, [&] { dev->launch(s, 1000 * ns, {}); }); };
    EXPECT_EQ(launch(0), 10 * ns);                  //   15 ... 1015
    EXPECT_EQ(launch(0), 10 * ns);                  // 1015 ... 2015
    EXPECT_EQ(launch(1), 10 * ns);                  // another stream's queue: 35 ... 1035
    EXPECT_EQ(launch(0), (1015 - 30 + 10) * ns);    // until the first has ended; 2015 ... 3015
    EXPECT_EQ(dev->clock().now_ps(), 1025 * ns);
    EXPECT_EQ(dev->busy_until_ps(), 3015 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->sync_stream(1); }), (1035 - 1025 + 7) * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->sync_device(); }), (3015 - 1042 + 7) * ns);
}

TEST(virtual_time, streams_overlap_and_wait_for_events)
{
    const auto dev = open_round(3);
    dev->reset_activity();
    dev->launch(0, 1000 * ns, {});    // host 10; 15 ... 1015
    dev->record(0, 0);                // 11
    dev->wait(0, 1);                  // 13
    dev->launch(1, 500 * ns, {});     // 23; ready at 28, waits: 1015 ... 1515
    dev->launch(2, 300 * ns, {});     // 33; 38 ... 338, under the first
    dev->sync_device();
    EXPECT_EQ(dev->clock().now_ps(), 1522 * ns);
    const device_activity a = dev->activity();
    EXPECT_EQ(a.span_ps, 1522 * ns);
    EXPECT_EQ(a.busy_ps, 1500 * ns);                           // the union, not the sum
    EXPECT_EQ(a.empty_queue_ps, (1522 - (1015 - 28)) * ns);    // a launch waited from 28 to 1015
}

TEST(virtual_time, gaps_are_idle)
{
    const auto dev = open_round(2);
    dev->launch(0, 100 * ns, {});     // before the reset: does not count
    dev->sync_device();
    dev->reset_activity();            // host 122
    const std::int64_t t = dev->clock().now_ps();
    dev->launch(0, 100 * ns, {});     //  15 ... 115 from here
    dev->charge(200);                 // 210
    dev->launch(1, 100 * ns, {});     // 220; 225 ... 325
    dev->sync_device();               // 332
    EXPECT_EQ(dev->clock().now_ps() - t, 332 * ns);
    const device_activity a = dev->activity();
    EXPECT_EQ(a.span_ps - a.busy_ps, 132 * ns);
    EXPECT_EQ(a.empty_queue_ps, 332 * ns);
}

TEST(virtual_time, a_replayed_graph_is_one_call)
{
    const auto dev = open_round();
    dev->capture_begin(0);
    EXPECT_EQ(cost(*dev, [&] { dev->launch(0, 100 * ns, {}); }), 10 * ns);
    EXPECT_EQ(cost(*dev, [&] { dev->launch(0, 200 * ns, {}); }), 10 * ns);
    dev->capture_end(0, 0);
    EXPECT_EQ(dev->busy_until_ps(), 0);
    EXPECT_EQ(cost(*dev, [&] { dev->graph_launch(0, 0); }), 20 * ns);    // 45 ... 145 ... 345
    EXPECT_EQ(dev->busy_until_ps(), 345 * ns);
}

// -- passes

namespace {

/// Two steps: a block of 1000 bytes is allocated and written for 1000 ns in the first, freed in the second.
story two_steps() { return story().step(0, 3).alloc(0, 1000).kernel(0, 1000, {}, {0}).step(1, 2).free(0); }

std::int64_t sum(const std::array<histogram, path_kinds>& paths)
{
    std::int64_t all = 0;
    for (const auto& h : paths) all += h.sum();
    return all;
}

}  // namespace

/// The list pool asks for 1280 bytes (150.25 ns while growing) after 256 slots: the kernel is launched at 416.25, runs
/// from 421.25 to 1421.25 and is waited for at the end.
TEST(virtual_time, cold_pass_of_the_list_pool)
{
    const story s = two_steps();
    workbench w(s, round_device(), maker_of("legacy"));
    const pass_measurement m = w.run();
    ASSERT_EQ(m.result.what, status::completed) << m.result.message;
    EXPECT_EQ(m.time_ps, 1'428'250);
    EXPECT_EQ(m.alloc[static_cast<int>(path::grow)].sum(), 406'250);
    EXPECT_EQ(sum(m.alloc), 406'250);
    EXPECT_EQ(m.free[static_cast<int>(path::hit)].sum(), 1 * ns);    // the first slot is empty
    ASSERT_EQ(m.phases.size(), 2u);
    EXPECT_EQ(m.phases[0].name, "prefill");
    EXPECT_EQ(m.phases[0].time_ps, 416'250);
    EXPECT_EQ(m.phases[0].tokens, 3u);
    EXPECT_EQ(m.phases[1].time_ps, 1'012'000);                       // to the end of the device's work, 1428.25
    EXPECT_EQ(m.phases[1].tokens, 2u);
    EXPECT_EQ(m.activity.busy_ps, 1000 * ns);
    EXPECT_EQ(m.activity.span_ps, m.time_ps);
    EXPECT_EQ(m.activity.empty_queue_ps, m.time_ps);
    EXPECT_EQ(m.live_byte_ps, 1000.0 * 11'000);                      // from 406.25 to 417.25
    EXPECT_EQ(m.reserved_byte_ps, 1280.0 * 1'022'000);               // from 406.25 on
}

/// The block is there, and does not fit exactly: 256 slots are looked at.
TEST(virtual_time, steady_pass_of_the_list_pool)
{
    const story s = two_steps();
    workbench w(s, round_device(), maker_of("legacy"));
    w.run();
    const pass_measurement m = w.run();
    EXPECT_EQ(m.time_ps, 1278 * ns);
    EXPECT_EQ(m.alloc[static_cast<int>(path::hit)].sum(), 256 * ns);
    EXPECT_EQ(m.alloc[static_cast<int>(path::grow)].count(), 0u);
    EXPECT_EQ(m.live_byte_ps, 1000.0 * 11'000);
    EXPECT_EQ(m.reserved_byte_ps, 1280.0 * 1'278'000);
}

TEST(virtual_time, the_reference_takes_no_time_of_its_own)
{
    const story s = two_steps();
    workbench w(s, round_device(), maker_of("ideal"));
    for (int pass = 0; pass < 2; ++pass) {
        const pass_measurement m = w.run();
        EXPECT_EQ(m.time_ps, (10 + 5 + 1000 + 7) * ns);
        EXPECT_EQ(sum(m.alloc), 0);
        EXPECT_EQ(sum(m.free), 0);
    }
}

/// Weights come before the first step and go after the last: neither is the traffic's time, whatever the driver takes for it.
TEST(virtual_time, what_surrounds_the_work_takes_no_time)
{
    story s;
    s.external_alloc(0, 4096).external_alloc(1, 4096);
    s.step(0, 1).alloc(0, 1000).writes(0).free(0);
    s.external_free(1).external_alloc(2, 4096);    // in the midst of it: its time is the step's
    s.step(1, 1).alloc(0, 1000).writes(0).free(0);
    const std::int64_t without_end = workbench(s, round_device(), maker_of("ideal")).run().time_ps;
    s.external_free(2).external_free(0);
    workbench w(s, round_device(), maker_of("ideal"));
    const pass_measurement m = w.run();
    ASSERT_EQ(m.result.what, status::completed) << m.result.message;
    EXPECT_EQ(m.time_ps, without_end);
    EXPECT_EQ(m.phases[0].time_ps + m.phases[1].time_ps, m.time_ps);
    EXPECT_EQ(m.activity.span_ps, m.time_ps);
    EXPECT_EQ(m.phases[1].time_ps, (10 + 5 + 100'000 + 7) * ns);
    EXPECT_EQ(m.events, 14u);
}

/// direct: malloc growing 150, the kernel from 165 to 1165, and a free that waits for it and costs 30.
TEST(virtual_time, one_allocation_a_block_waits_in_its_free)
{
    const story s = two_steps();
    workbench w(s, round_device(), maker_of("direct"));
    const pass_measurement m = w.run();
    EXPECT_EQ(m.alloc[static_cast<int>(path::driver)].sum(), 150 * ns);
    EXPECT_EQ(m.free[static_cast<int>(path::driver)].sum(), (1165 - 160 + 30) * ns);
    EXPECT_EQ(m.time_ps, (1165 + 30 + 7) * ns);
    EXPECT_EQ(m.live_byte_ps, 1000.0 * (1195 - 150) * ns);
    EXPECT_EQ(m.reserved_byte_ps, 1000.0 * (1195 - 150) * ns);
}

/// vmm: create 60 (growing), reserve 100, map 8, release 4, access 9 and a unit of work.
TEST(virtual_time, growth_of_the_stack)
{
    const story s = two_steps();
    workbench w(s, round_device(), maker_of("vmm"));
    const pass_measurement m = w.run();
    EXPECT_EQ(m.alloc[static_cast<int>(path::grow)].sum(), (60 + 100 + 8 + 4 + 9 + 1) * ns);
    EXPECT_EQ(m.free[static_cast<int>(path::hit)].sum(), 1 * ns);
    EXPECT_EQ(m.reserved_byte_ps, 65536.0 * (m.time_ps - 182 * ns));
    EXPECT_EQ(w.run().alloc[static_cast<int>(path::hit)].sum(), 1 * ns);
}

/// 42 MiB cached under a kernel of a millisecond, 52.5 MiB wanted of 64: the first attempt is refused, the flush drains the
/// kernel, frees and asks again.
TEST(virtual_time, recovery_is_split_into_drain_and_idle)
{
    const story s = story().alloc(0, 40 * MiB).kernel(0, 1'000'000, {}, {0}).free(0).alloc(1, 50 * MiB).free(1);
    workbench w(s, round_device(), maker_of("legacy-retry"));
    const pass_measurement m = w.run();
    ASSERT_EQ(m.result.what, status::completed) << m.result.message;
    // 43157 + 256 for the first block, launched at 43423: the kernel ends at 1043428. Freed (1 slot) at 43424. Refused at
    // the loaded price of 1100 + 53759: 98283.
    EXPECT_EQ(m.recovery.drain_sync, (1'043'428 - 98'283) * ns);
    EXPECT_EQ(m.recovery.idle_sync, 7 * ns);
    EXPECT_EQ(m.recovery.drain_free, 0);
    EXPECT_EQ(m.recovery.idle_free, (30 + 43'007) * ns);
    EXPECT_EQ(m.recovery.drain_allocate, 0);
    EXPECT_EQ(m.recovery.idle_allocate, (150 + 53'759) * ns);
    EXPECT_EQ(m.recovery.bytes_given_back, 42 * MiB);
    EXPECT_EQ(m.recoveries, 1u);
    EXPECT_EQ(m.flushes, 1u);
    EXPECT_EQ(m.flushed_bytes, 42 * MiB);
    EXPECT_EQ(m.alloc[static_cast<int>(path::flush_retry)].sum(),
              (54'859 + 945'145 + 7 + 43'037 + 53'909 + 2 * 256) * ns);    // both attempts look at every slot
    EXPECT_EQ(m.peak_device_bytes, 52 * MiB + MiB / 2);
    EXPECT_EQ(m.refused[static_cast<std::size_t>(driver_call::malloc)], 1u);
}

// -- the parts of long calls

TEST(virtual_time, what_ran_within_a_stretch)
{
    const auto dev = open_round(2);
    dev->launch(0, 1000 * ns, {});                  //   15 ... 1015
    dev->launch(1, 100 * ns, {});                   //   25 ... 125
    dev->record(0, 0);
    dev->wait(0, 1);
    dev->launch(1, 500 * ns, {});                   // 1015 ... 1515, behind the other stream
    dev->sync_device();
    EXPECT_EQ(dev->busy_within_ps(0, 2000 * ns), 1500 * ns);
    EXPECT_EQ(dev->busy_within_ps(0, 20 * ns), 5 * ns);
    EXPECT_EQ(dev->busy_within_ps(500 * ns, 1100 * ns), 600 * ns);
    EXPECT_EQ(dev->busy_within_ps(1515 * ns, 2000 * ns), 0);
}

TEST(virtual_time, what_a_graph_ran_within_a_stretch)
{
    const auto dev = open_round();
    dev->capture_begin(0);
    dev->launch(0, 100 * ns, {});                   // host 10
    dev->launch(0, 200 * ns, {});                   // host 20
    dev->capture_end(0, 0);
    dev->graph_launch(0, 0);                        // host 40: 45 ... 345
    EXPECT_EQ(dev->busy_within_ps(40 * ns, 1000 * ns), 300 * ns);
    EXPECT_EQ(dev->busy_within_ps(200 * ns, 300 * ns), 100 * ns);
}

/// direct: the free begins when the launch ends, 5 ns before the kernel begins, and costs 30 after it.
TEST(virtual_time, a_long_free_is_split_into_drain_and_idle)
{
    const story s = story().alloc(0, 1000).kernel(0, 100'000, {}, {0}).free(0).alloc(1, 1000).kernel(0, 1000, {}, {1}).free(1);
    workbench w(s, round_device(), maker_of("direct"));
    const pass_measurement m = w.run();
    const call_parts& free = m.free_parts[static_cast<int>(path::driver)];
    EXPECT_EQ(free.drain.count(), 1u);              // the second waits 1035 ns: too short to be split
    EXPECT_EQ(free.drain.sum(), 100'000 * ns);
    EXPECT_EQ(free.idle.sum(), (5 + 30) * ns);
    EXPECT_EQ(m.unsplit_calls, 0u);
    EXPECT_EQ(m.alloc_parts[static_cast<int>(path::driver)].drain.count(), 0u);
}

/// The recovery of the test above as one call: it began 4 ns before the kernel.
TEST(virtual_time, a_recovery_is_one_long_call)
{
    const story s = story().alloc(0, 40 * MiB).kernel(0, 1'000'000, {}, {0}).free(0).alloc(1, 50 * MiB).free(1);
    workbench w(s, round_device(), maker_of("legacy-retry"));
    const pass_measurement m = w.run();
    const auto retried = static_cast<int>(path::flush_retry);
    EXPECT_EQ(m.alloc_parts[retried].drain.sum(), 1'000'000 * ns);
    EXPECT_EQ(m.alloc_parts[retried].idle.sum(), m.alloc[retried].sum() - 1'000'000 * ns);
}

TEST(virtual_time, kernels_by_roofline_scale_and_traffic)
{
    const auto time = [](const story& s, const kernel_settings& k) {
        workbench w(s, round_device(), maker_of("ideal"));
        return w.run(run_mode::eager, k).activity.busy_ps;
    };
    const story by_flops = story().roofline(0, 1'000'000, 500), by_bytes = story().roofline(0, 1'000'000, 3000);
    EXPECT_EQ(time(by_flops, {}), 1000 * ns);             // 10^12 a second
    EXPECT_EQ(time(by_bytes, {}), 3000 * ns);             // 10^9 a second
    EXPECT_EQ(time(by_bytes, {kernel_model::hold, 2.0}), 6000 * ns);
    const story stated = story().alloc(0, 400).alloc(1, 600).kernel(0, 50, {0}, {1}).free(1).free(0);
    EXPECT_EQ(time(stated, {}), 50 * ns);
    EXPECT_EQ(time(stated, {kernel_model::hold, 0.5}), 25 * ns);
    EXPECT_EQ(time(stated, {kernel_model::traffic, 1.0}), 1000 * ns);
}

/// Eager replays launch every kernel; a graph is one call that holds one place of the queue.
TEST(virtual_time, replays_eager_and_as_a_graph)
{
    const story s = story().alloc(0, 1000).graph_begin(0).kernel(0, 100, {}, {0}).kernel(0, 200, {0}, {}).graph_end(0)
        .graph_launch(0).graph_launch(0).free(0);
    workbench eager(s, round_device(), maker_of("ideal")), graph(s, round_device(), maker_of("ideal"));
    // Host 10 and 20; 15 ... 115 ... 315; the third waits for the first: 125, 315 ... 415; the fourth for the second: 325.
    EXPECT_EQ(eager.run(run_mode::eager).time_ps, (615 + 7) * ns);
    // Capture costs the host 20; replays at 40 and 60; 45 ... 345 ... 645.
    const pass_measurement m = graph.run(run_mode::graph);
    EXPECT_EQ(m.time_ps, (645 + 7) * ns);
    EXPECT_EQ(m.calls[static_cast<std::size_t>(driver_call::graph_launch)], 2u);
    EXPECT_EQ(m.calls[static_cast<std::size_t>(driver_call::launch)], 0u);
}

}  // namespace vrambench::test
