// vrambench_micro: what the allocators' own code costs on the host, beside the driver. Google Benchmark runs it; the
// simulator's price of a unit of policy work comes from here.
//
// With --goals it measures instead what the project promises about itself: the list pool's hit within 10 % of the bare
// scan (medians of 31 alternated runs), vmm and ideal under 10 ns a pair.

#include "bench/histogram.hpp"
#include "bench/micro/subjects.hpp"
#include "device/host_clock.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
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
BENCHMARK_CAPTURE(pair_of, vmm, "vmm");
BENCHMARK_CAPTURE(pair_of, ideal, "ideal");
BENCHMARK_CAPTURE(pair_of, async, "async");
BENCHMARK_CAPTURE(pair_of, async_retry, "async:retry=sync");
BENCHMARK_CAPTURE(pair_of, direct, "direct");

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

// -- goals

constexpr int runs = 31;

double nanoseconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double, std::nano>(d).count(); }

double median(std::array<double, runs> v)
{
    std::nth_element(v.begin(), v.begin() + runs / 2, v.end());
    return v[runs / 2];
}

/// The hit alone against the bare scan. A hit takes its block out of the table, so a few pools in the same state take
/// turns: one hit each under the clock, then the frees without it. The bare scans go over as many tables between as many
/// readings of the clock, whose own cost is taken off both.
class hit_comparison {
public:
    explicit hit_comparison(int cached)
    {
        for (int i = 0; i < pools; ++i) pools_.push_back(std::make_unique<warm_list_pool>(cached));
    }

    /// Nanoseconds a call over one run.
    double hits()
    {
        return run([&](int i) { blocks_[i] = pools_[i]->pool().allocate(pools_[i]->request(), 128, 0); },
                   [&](int i) { pools_[i]->pool().deallocate(blocks_[i].pointer, blocks_[i].granted_bytes, 0); });
    }
    double bare_scans()
    {
        return run([&](int i) { benchmark::DoNotOptimize(bare_scan(pools_[i]->table(), pools_[i]->request())); }, [](int) {});
    }
    double clock_alone()
    {
        return run([&](int i) { benchmark::DoNotOptimize(pools_[i].get()); }, [](int) {});
    }

private:
    static constexpr int pools = 4;        // their tables fit the first-level cache together
    static constexpr int rounds = 5'000;

    template <class Timed, class Untimed> double run(Timed timed, Untimed untimed)
    {
        std::chrono::steady_clock::duration sum{};
        for (int r = 0; r < rounds; ++r) {
            const auto begin = std::chrono::steady_clock::now();
            for (int i = 0; i < pools; ++i) timed(i);
            sum += std::chrono::steady_clock::now() - begin;
            for (int i = 0; i < pools; ++i) untimed(i);
        }
        return nanoseconds(sum) / (rounds * pools);
    }

    std::vector<std::unique_ptr<warm_list_pool>> pools_;
    std::array<allocation, pools> blocks_{};
};

/// In turns, so that a change of the clock rate meets both.
void compare_hit(int cached)
{
    hit_comparison c(cached);
    c.hits(), c.bare_scans();
    std::array<double, runs> hit, bare, clock;
    for (int i = 0; i < runs; ++i) {
        clock[i] = c.clock_alone();
        bare[i] = c.bare_scans();
        hit[i] = c.hits();
    }
    const double h = median(hit) - median(clock), b = median(bare) - median(clock);
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
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
