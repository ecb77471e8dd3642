// vrambench_micro: what the allocators' own code costs on the host, beside the driver. Google Benchmark runs it; the
// simulator's price of a unit of policy work comes from here.
//
// With --goals it measures instead what the project promises about itself: the list pool's hit within 10 % of the bare
// scan (medians of 31 alternated runs), vmm and ideal under 10 ns a pair. With --cost-of-measuring it measures what the
// runner's own measuring adds to a pass (cost_of_measuring.hpp).

#include "bench/histogram.hpp"
#include "bench/micro/cost_of_measuring.hpp"
#include "bench/micro/subjects.hpp"
#include "bench/recovery_log.hpp"
#include "device/host_clock.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <vector>

namespace vrambench::micro {
namespace {

// -- benchmarks

void legacy_hit(benchmark::State& state)
{
    warm_list_pool p(static_cast<int>(state.range(0)));
    for (auto _ : state) p.pair();
}
BENCHMARK(legacy_hit)->ArgName("cached")->Arg(1)->Arg(16)->Arg(255);

void bare_best_fit_scan(benchmark::State& state)
{
    warm_list_pool p(static_cast<int>(state.range(0)));
    for (auto _ : state) benchmark::DoNotOptimize(bare_scan(p.table(), p.request()));
}
BENCHMARK(bare_best_fit_scan)->ArgName("cached")->Arg(1)->Arg(16)->Arg(255);

/// The table is full, so that the block of the miss goes back to the driver and the next miss is one again.
void legacy_miss(benchmark::State& state)
{
    warm_list_pool p(256);
    for (auto _ : state) {
        const allocation a = p.pool().allocate(p.too_large(), 128, 0);
        p.pool().deallocate(a.pointer, a.granted_bytes, 0);
    }
}
BENCHMARK(legacy_miss);

void pair_of(benchmark::State& state, const char* spec)
{
    warm_allocator a(spec, std::uint64_t{1} << 20);
    for (auto _ : state) a.pair();
}
BENCHMARK_CAPTURE(pair_of, legacy, "legacy");
BENCHMARK_CAPTURE(pair_of, vmm, "vmm");
BENCHMARK_CAPTURE(pair_of, ideal, "ideal");
BENCHMARK_CAPTURE(pair_of, async, "async");
BENCHMARK_CAPTURE(pair_of, async_retry, "async:retry=sync");
BENCHMARK_CAPTURE(pair_of, direct, "direct");

/// Without --inject there is no adaptor at all. With it a hit that asks no driver costs what it did; the others pay one
/// more virtual call.
void pair_with_faults(benchmark::State& state, const char* spec)
{
    warm_allocator a(spec, std::uint64_t{1} << 20, true);
    for (auto _ : state) a.pair();
}
BENCHMARK_CAPTURE(pair_with_faults, legacy, "legacy");
BENCHMARK_CAPTURE(pair_with_faults, vmm, "vmm");
BENCHMARK_CAPTURE(pair_with_faults, async, "async");
BENCHMARK_CAPTURE(pair_with_faults, direct, "direct");

/// What timing a call adds to the runner's loop: two readings of the clock and an entry in a histogram.
void timed_call(benchmark::State& state, const host_clock& clock)
{
    histogram h;
    for (auto _ : state) {
        const std::int64_t begin = clock.now_ps();
        h.add(clock.now_ps() - begin);
    }
    benchmark::DoNotOptimize(h.count());
}
void timed_call_counter(benchmark::State& state) { timed_call(state, host_clock::counter()); }
void timed_call_steady(benchmark::State& state) { timed_call(state, host_clock()); }
void timed_call_virtual(benchmark::State& state)
{
    std::int64_t now = 0;
    timed_call(state, host_clock(&now, 400));
}
BENCHMARK(timed_call_counter);
BENCHMARK(timed_call_steady);
BENCHMARK(timed_call_virtual);

/// What the log of recoveries asks after every allocation of a pass in which nothing fails; a call is one item.
void recovery_log_unused(benchmark::State& state)
{
    recovery_log log;
    std::array<path, 1024> served;
    for (std::size_t i = 0; i < served.size(); ++i) served[i] = i % 7 == 0 ? path::grow : path::hit;
    for (auto _ : state)
        for (const path how : served) {
            if (log.concerns(how)) [[unlikely]]
                log.noted(how, 0, 0, 0, nullptr);
            benchmark::ClobberMemory();
        }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(served.size()));
}
BENCHMARK(recovery_log_unused);

// -- goals

constexpr int runs = 31;

double nanoseconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double, std::nano>(d).count(); }

double median(std::array<double, runs> v)
{
    std::nth_element(v.begin(), v.begin() + runs / 2, v.end());
    return v[runs / 2];
}

/// Nanoseconds that `timed` takes a call over one run, the clock's readings around it included; `untimed` restores the
/// state after each call.
template <class Timed, class Untimed> double run_of(Timed timed, Untimed untimed)
{
    constexpr int calls = 20'000;
    std::chrono::steady_clock::duration sum{};
    for (int i = 0; i < calls; ++i) {
        const auto begin = std::chrono::steady_clock::now();
        timed();
        sum += std::chrono::steady_clock::now() - begin;
        untimed();
    }
    return nanoseconds(sum) / calls;
}

/// The hit alone against the bare scan, in turns, so that a change of the machine's speed meets both. A hit takes its block
/// out of the table, and the free that puts it back searches for an empty slot: it is not under the clock.
void compare_hit(int cached)
{
    warm_list_pool p(cached);
    allocation a;
    const auto nothing = [] {};
    const auto hit = [&] {
        return run_of([&] { a = p.pool().allocate(p.request(), 128, 0); },
                      [&] { p.pool().deallocate(a.pointer, a.granted_bytes, 0); });
    };
    const auto bare = [&] { return run_of([&] { benchmark::DoNotOptimize(bare_scan(p.table(), p.request())); }, nothing); };
    const auto clock = [&] { return run_of(nothing, nothing); };
    std::array<double, runs> hits, bares, clocks;
    for (int i = 0; i < runs; ++i) clocks[i] = clock(), bares[i] = bare(), hits[i] = hit();
    const double h = median(hits) - median(clocks), b = median(bares) - median(clocks);
    std::printf("legacy, %3d cached: hit %6.1f ns, bare scan %6.1f ns, ratio %.3f (goal: at most 1.10)\n", cached, h, b, h / b);
}

void measure_pair(const char* spec)
{
    constexpr int calls = 20'000;
    warm_allocator a(spec, std::uint64_t{1} << 20);
    std::array<double, runs> t;
    for (auto& x : t) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < calls; ++i) a.pair();
        x = nanoseconds(std::chrono::steady_clock::now() - begin) / calls;
    }
    std::printf("%-6s pair: %6.1f ns (goal: under 10)\n", spec, median(t));
}

void measure_goals()
{
    for (const int cached : {1, 16, 255}) compare_hit(cached);
    measure_pair("vmm");
    measure_pair("ideal");
}

}  // namespace
}  // namespace vrambench::micro

int main(int argc, char** argv)
{
    if (argc == 2 && std::strcmp(argv[1], "--goals") == 0) {
        vrambench::micro::measure_goals();
        return 0;
    }
    if (argc > 1 && std::strcmp(argv[1], "--cost-of-measuring") == 0) return vrambench::micro::cost_of_measuring(argc, argv);
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
