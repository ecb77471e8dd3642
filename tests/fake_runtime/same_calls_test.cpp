// Every allocator makes the same driver calls, in the same order, over the fake runtimes as over the simulator; and gpu_device
// turns each of them into one call of the vendor's.

#include "allocators/registry.hpp"
#include "bench/runner.hpp"
#include "tests/fake_runtime/fakes.hpp"
#include "tests/fake_runtime/logged_device.hpp"
#include "tests/runner/bench_setup.hpp"
#include "workloads/registry.hpp"

#include <algorithm>

namespace vrambench::test {

namespace {

constexpr const char* allocators[] = {"direct", "legacy", "legacy-retry", "async", "async:threshold=0", "async:retry=sync",
                                      "async:retry=trim", "vmm", "ideal"};
constexpr const char* pair = "kv-pair:heads=8,head-dim=128,step=512,to=8192";
constexpr const char* mixed = "random:events=4000,max=4MiB,live=64MiB,order=lifo,streams=3,share=0.3,sync=step";

struct playing {
    std::vector<std::string> calls;          ///< of the allocator and the trace, from the allocator's making to its end
    std::vector<std::string> of_the_runtime;
    status ended = status::crashed;
    std::uint64_t start_free = 0;
};

/// Cold pass and steady pass. `from_runtime`: the fake's own log, empty for the simulator.
template <class RuntimeLog>
playing play(const std::string& on, const std::string& workload, const std::string& allocator, std::uint64_t limit, run_mode mode,
             RuntimeLog from_runtime)
{
    playing p;
    const std::shared_ptr<const trace> t = make_trace(workload, 1);
    const trace_summary summary = summarise(*t);
    device_options options;
    if (limit) options.vram_limit_bytes = limit;
    logged_device dev(open_device(choose_device(on), options), p.calls);
    dev.set_streams(summary.streams);
    dev.settle();
    p.start_free = dev.query_memory().free_bytes;
    p.calls.clear();
    const std::size_t before = from_runtime().size();
    auto a = make_allocator(choose_allocator(allocator), dev, summary.streams);
    a->prepare(*t, summary);
    for (int pass = 0; pass < 2 && (pass == 0 || p.ended == status::completed); ++pass)
        p.ended = run_pass(*t, summary, dev, *a, mode, {}, p.start_free, {}).result.what;
    a.reset();
    p.of_the_runtime = from_runtime();
    p.of_the_runtime.erase(p.of_the_runtime.begin(), p.of_the_runtime.begin() + static_cast<std::ptrdiff_t>(before));
    return p;
}

/// Without what gpu_device adds for its measurement: launches and waits of its own.
std::vector<std::string> without_measurement(std::vector<std::string> calls)
{
    const auto added = [](const std::string& c) { return c == "launch 0" || c == "sync 0" || c == "memory_info 0"; };
    calls.erase(std::remove_if(calls.begin(), calls.end(), added), calls.end());
    return calls;
}

}  // namespace

class same_calls : public on_fakes {
protected:
    void compare(const char* workload, std::uint64_t limit = 0, run_mode mode = run_mode::eager) const
    {
        for (const char* a : allocators) {
            SCOPED_TRACE(std::string(a) + " on " + workload + ", limit " + std::to_string(limit));
            set("");
            const playing card = play(vendor().device(), workload, a, limit, mode, [this] { return vendor().lines("log"); });
            const playing sim = play("sim:h200", workload, a, limit ? card.start_free : 0, mode, [] { return std::vector<std::string>(); });
            EXPECT_EQ(card.ended, sim.ended);
            EXPECT_FALSE(sim.calls.empty());
            EXPECT_EQ(card.calls, sim.calls);
            EXPECT_EQ(without_measurement(card.of_the_runtime), without_measurement(sim.calls));
        }
    }
};

TEST_P(same_calls, growing_pair) { compare(pair); }
TEST_P(same_calls, growing_pair_out_of_memory) { compare(pair, 40 * MiB); }
TEST_P(same_calls, three_streams) { compare(mixed); }

ON_EVERY_FAKE(same_calls);

}  // namespace vrambench::test
