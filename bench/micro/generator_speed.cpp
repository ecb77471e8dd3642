// How many events a second a workload generates on one core, with nobody to execute them. The goal is 20 million a second. A
// prompt makes a new walk for each micro-batch, a decoded token copies the last one.

#include "workloads/registry.hpp"

#include <benchmark/benchmark.h>

namespace vrambench::micro {
namespace {

void generated(benchmark::State& state, const char* workload)
{
    const auto recipe = make_trace(workload, 1);
    event_batch batch;
    std::uint64_t events = 0;
    for (auto _ : state) {
        const auto source = recipe->open();
        while (source->fill(batch)) {
            benchmark::DoNotOptimize(batch.events.data());
            events += batch.events.size();
        }
    }
    state.counters["events"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(generated, prefill_8b, "fattn-prefill:model=llama-3.1-8b,kv=q8_0,to=131072")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generated, decode_8b, "fattn-decode:model=llama-3.1-8b,kv=q8_0,depth=0,tokens=2000,graphs=off")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generated, prefill_moe, "fattn-prefill:model=qwen3-30b-a3b,kv=q8_0,to=131072")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generated, prefill_sliding, "fattn-prefill:model=gemma-3-27b,kv=q8_0,to=131072")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generated, prefill_4_layers, "fattn-prefill:model=llama-3.1-8b,kv=q8_0,to=131072,layers=4")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generated, server, "server:requests=100")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generated, server_256, "server:requests=1000,sequences=256,context=262144,gap-ms=10")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generated, turns, "turns:turns=20")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(generated, speculative, "speculative:prompt=32768,tokens=4096")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vrambench::micro
