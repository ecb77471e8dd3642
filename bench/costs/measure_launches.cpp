#include "bench/costs/cost_probe.hpp"

namespace vrambench::costs {

namespace {

constexpr std::int64_t short_kernel_ps = 1'000'000;
constexpr std::int64_t chain_kernel_ps = 20'000'000;    // longer than its launch, so that the device sets the pace

/// Median of a few runs of `f`.
template <class F> std::int64_t median_of(std::uint32_t n, F f)
{
    samples times(n);
    for (auto& t : times) t = f();
    return median(std::move(times));
}

/// From the first launch to the end of the synchronisation behind the last of `n` kernels; `between` comes before each.
template <class F> std::int64_t chain(cost_probe& p, int n, F between)
{
    p.dev.sync_stream(0);
    return p.watch.time([&] {
        for (int i = 0; i < n; ++i) {
            between();
            p.dev.launch(0, chain_kernel_ps, {});
        }
        p.dev.sync_stream(0);
    });
}

/// Device time per kernel of a long chain.
template <class F> std::int64_t per_kernel(cost_probe& p, F between)
{
    constexpr int few = 100, many = 300;
    const std::uint32_t n = p.quick ? 3 : 9;
    const std::int64_t shorter = median_of(n, [&] { return chain(p, few, between); });
    const std::int64_t longer = median_of(n, [&] { return chain(p, many, between); });
    return (longer - shorter) / (many - few);
}

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

/// What a freed block of a pool delays the next kernel of its stream by, on the device.
void time_stream_gap(cost_probe& p)
{
    if (!p.dev.info().has_pools) return;
    const pool_id pool = p.dev.create_pool({});
    p.dev.free_async(p.dev.malloc_async(1 << 20, pool, 0), 0);
    const auto pair = [&] { p.dev.free_async(p.dev.malloc_async(1 << 20, pool, 0), 0); };
    const std::int64_t without = per_kernel(p, [] {});
    const std::int64_t with = per_kernel(p, pair);
    p.report.add("pool.stream_gap", {with - without});
    p.dev.sync_device();
    p.dev.destroy_pool(pool);
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
    try {
        p.dev.capture_begin(0);
        for (int i = 0; i < kernels; ++i) p.dev.launch(0, short_kernel_ps, {});
        p.dev.capture_end(0, 0);
    } catch (const std::exception& e) {
        p.report.notes.push_back(std::string("graph_launch was not measured: ") + e.what());
        return;
    }
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
    time_launches(p);
    time_kernels(p);
    time_stream_gap(p);
    time_events_and_queries(p);
    time_graphs(p);
    count_launch_queue(p);
}

}  // namespace vrambench::costs
