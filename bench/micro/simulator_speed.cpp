// How many trace events a second the whole simulator executes on one core: generator, runner with its meters, allocator,
// device; without the hazard checker (`off`) and with it (`full`). The goals are 10 and 3 million a second.

#include "bench/plan.hpp"
#include "bench/runner.hpp"
#include "workloads/registry.hpp"

#include <benchmark/benchmark.h>

namespace vrambench::micro {
namespace {

cell cell_of(const char* allocator, const char* workload, verify_level verify)
{
    cell c;
    c.on = choose_device("sim:h200");
    c.allocator = choose_allocator(allocator);
    auto w = std::make_shared<planned_workload>();
    w->recipe = make_trace(workload, 1);
    w->summary = summarise(*w->recipe);
    c.workload = std::move(w);
    c.verify = verify;
    return c;
}

void events(benchmark::State& state, const char* allocator, const char* workload, verify_level verify)
{
    const cell c = cell_of(allocator, workload, verify);
    std::uint64_t executed = 0;
    for (auto _ : state) {
        const repetition r = run_repetition(c, {});
        if (!r.steady) state.SkipWithError(r.cold.result.message.c_str());
        executed += r.cold.events + (r.steady ? r.steady->events : 0);
    }
    state.counters["events"] = benchmark::Counter(static_cast<double>(executed), benchmark::Counter::kIsRate);
}

constexpr const char* kv_pair = "kv-pair:heads=8,head-dim=128,step=64,to=131072,kernel-ns=5000";
constexpr const char* lifo = "random:events=500000,order=lifo";

BENCHMARK_CAPTURE(events, legacy_kv_pair_off, "legacy", kv_pair, verify_level::off)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events, legacy_random_off, "legacy", lifo, verify_level::off)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events, vmm_kv_pair_off, "vmm", kv_pair, verify_level::off)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events, vmm_random_off, "vmm", lifo, verify_level::off)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events, legacy_kv_pair_full, "legacy", kv_pair, verify_level::full)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events, legacy_random_full, "legacy", lifo, verify_level::full)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events, vmm_kv_pair_full, "vmm", kv_pair, verify_level::full)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(events, vmm_random_full, "vmm", lifo, verify_level::full)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vrambench::micro
