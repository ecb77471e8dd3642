#include "bench/costs/cost_probe.hpp"
#include "bench/costs/kernel_chain.hpp"

namespace vrambench::costs {

namespace {

constexpr std::int64_t short_kernel_ps = 1'000'000;

void time_launches(cost_probe& p)
{
    samples launch, sync;
    for (std::uint32_t i = 0; i < 10 * p.repetitions(0); ++i) {
        launch.push_back(p.watch.time([&] { p.dev.launch(0, short_kernel_ps, {}); }));
        if (i % 32 == 31) p.dev.sync_stream(0);
    }
    p.dev.sync_stream(0);
    for (std::uint32_t i = 0; i < 10 * p.repetitions(0); ++i) sync.push_back(p.watch.time([&] { p.dev.sync_stream(0); }));
    p.report.add("launch", launch);
    p.report.add("sync", sync);
}

/// A chain of n kernels of d takes n (d + overhead); one kernel that is waited for takes launch + latency + d + overhead +
/// sync.
void time_kernels(cost_probe& p)
{
    const std::int64_t overhead = std::max<std::int64_t>(per_kernel(p, [] {}) - chain_kernel_ps, 0);
    const std::int64_t one = median_of(p.repetitions(0), [&] { return chain(p, 1, [] {}); });
    const std::int64_t known = p.report.at({"launch"}) + p.report.at({"sync"}) + chain_kernel_ps + overhead;
    p.report.add("kernel_overhead", {overhead});
    p.report.add("launch_latency", {one - known});
}

void time_events_and_queries(cost_probe& p)
{
    samples record, wait, query;
    for (std::uint32_t i = 0; i < 5 * p.repetitions(0); ++i) {
        const std::int64_t recorded = p.watch.time([&] { p.dev.record(0, 0); });
        const std::int64_t waited = p.watch.time([&] { p.dev.wait(0, 1); });
        query.push_back(p.watch.time([&] { p.dev.query_memory(); }));
        if (i == 0) continue;    // makes the event
        record.push_back(recorded);
        wait.push_back(waited);
    }
    p.dev.sync_device();
    p.report.add("record", record);
    p.report.add("wait", wait);
    p.report.add("memory_info", query);
}

void time_graphs(cost_probe& p)
{
    constexpr int kernels = 8;
    p.dev.capture_begin(0);
    for (int i = 0; i < kernels; ++i) p.dev.launch(0, short_kernel_ps, {});
    p.dev.capture_end(0, 0);
    samples times;
    for (std::uint32_t i = 0; i <= p.repetitions(0); ++i) {
        const std::int64_t ps = p.watch.time([&] { p.dev.graph_launch(0, 0); });
        p.dev.sync_stream(0);
        if (i > 0) times.push_back(ps);    // the first one uploads it
    }
    p.report.add("graph_launch", times);
}

/// How many launches a stream holds before one blocks the host: behind a long kernel, the first that takes long itself.
void count_launch_queue(cost_probe& p)
{
    constexpr int most = 16'384;
    constexpr std::int64_t long_kernel_ps = 200'000'000'000, blocked_ps = 10'000'000'000;
    p.dev.launch(0, long_kernel_ps, {});
    std::uint64_t held = 1;
    while (held < most && p.watch.time([&] { p.dev.launch(0, short_kernel_ps, {}); }) < blocked_ps) ++held;
    p.dev.sync_stream(0);
    if (held == most) p.report.notes.push_back("no launch blocked the host up to " + std::to_string(most) + " in the queue");
    p.report.facts["launch_queue"] = held;
}

}  // namespace

void measure_launches(cost_probe& p)
{
    p.attempt("launch and sync", [&] { time_launches(p); });
    p.attempt("kernel_overhead and launch_latency", [&] { time_kernels(p); });
    p.attempt("record, wait and memory_info", [&] { time_events_and_queries(p); });
    p.attempt("graph_launch", [&] { time_graphs(p); });
    p.attempt("launch_queue", [&] { count_launch_queue(p); });
}

}  // namespace vrambench::costs
