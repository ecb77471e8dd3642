// The fattn workloads as a user names them: keys, canonical form, events of a trace.

#include "tests/workloads/trace_tools.hpp"

#include "workloads/registry.hpp"

namespace vrambench::test {
namespace {

std::unique_ptr<trace> fattn(const std::string& spec) { return make_trace("fattn-" + spec, 1); }

std::string param(const trace& t, const std::string& key)
{
    for (const auto& [k, v] : t.header().params)
        if (k == key) return v;
    return "?";
}

TEST(Fattn, CanonicalSpecMakesTheSameTrace)
{
    for (const char* spec : {"prefill:to=3000", "decode:depth=300,tokens=20", "session:to=700,tokens=3,kv=f16,era=reserved-fa",
                             "session:depth=1024+4096,prompt=512,tokens=4,graphs=off,weights=on", "prefill:depth=600,to=700",
                             "session:model=qwen3-30b-a3b,sequences=4,to=600,tokens=2,layers=3,sync=batch"}) {
        const auto t = fattn(spec);
        const auto again = make_trace(t->header().spec, 9, "mi300x");
        EXPECT_EQ(again->header().spec, t->header().spec);
        EXPECT_EQ(events_of(*again), events_of(*t)) << spec;
        EXPECT_TRUE(summarise(*t).lifo);
    }
}

TEST(Fattn, TargetAutoIsTheDeviceOfTheRun)
{
    EXPECT_EQ(param(*fattn("prefill:to=512"), "target"), "h200");
    const auto t = make_trace("fattn-prefill:to=512", 1, "nvidia/9.0/114/790000000000000/4300000000000");
    EXPECT_EQ(param(*t, "target"), "nvidia/9.0/114/790000000000000/4300000000000");
    EXPECT_EQ(make_trace(t->header().spec, 1)->header().spec, t->header().spec);
    EXPECT_EQ(param(*make_trace("fattn-prefill:to=512,target=rtx-4090", 1, "h200"), "target"), "rtx-4090");
}

TEST(Fattn, ContextKeysAgree)
{
    const auto keys = [](const std::string& spec) {
        const auto t = fattn(spec);
        return param(*t, "depth") + " " + param(*t, "prompt") + " " + param(*t, "to");
    };
    EXPECT_EQ(keys("prefill"), "0 32768 32768");
    EXPECT_EQ(keys("prefill:to=512"), "0 512 512");
    EXPECT_EQ(keys("prefill:prompt=512"), "0 512 512");
    EXPECT_EQ(keys("prefill:depth=4096"), "4096 1024 5120");
    EXPECT_EQ(keys("prefill:depth=4096,to=4500"), "4096 404 4500");
    EXPECT_EQ(keys("prefill:depth=4096,prompt=512,to=4608"), "4096 512 4608");
    EXPECT_EQ(keys("session:depth=4096+32768"), "4096+32768 1024 33792");
}

TEST(Fattn, PhasesNameTheirDepthWhereThereAreSeveral)
{
    using names = std::vector<std::string>;
    EXPECT_EQ(fattn("session:to=512,tokens=1")->header().phases, (names{"prefill", "decode", "replay"}));
    EXPECT_EQ(fattn("session:to=512,tokens=1,graphs=off")->header().phases, (names{"prefill", "decode"}));
    EXPECT_EQ(fattn("decode:depth=512")->header().phases, (names{"decode", "replay", "fast-forward"}));
    EXPECT_EQ(fattn("session:depth=512+4096,prompt=256,tokens=1")->header().phases,
              (names{"prefill@512", "decode@512", "replay@512", "prefill@4096", "decode@4096", "replay@4096", "fast-forward"}));
}

/// Steps and tokens of each phase: "decode 4 4, replay 296 296".
std::string phases_of(const trace& t)
{
    std::vector<std::pair<std::uint64_t, std::uint64_t>> sums(t.header().phases.size());
    for (const auto& f : events_of(t))
        if (f.e.kind == event_kind::step) ++sums[f.e.phase].first, sums[f.e.phase].second += f.e.tokens;
    std::string out;
    for (std::size_t i = 0; i < sums.size(); ++i)
        out += (i == 0 ? "" : ", ") + t.header().phases[i] + " " + std::to_string(sums[i].first) + " " +
               std::to_string(sums[i].second);
    return out;
}

/// Recorded: 4 walks in 300 tokens. Each depth starts anew, since its n_kv does.
TEST(Fattn, ReplayedTokensHaveAPhase)
{
    EXPECT_EQ(phases_of(*fattn("decode:depth=16384,tokens=300,layers=1")), "decode 4 4, replay 296 296, fast-forward 32 0");
    EXPECT_EQ(phases_of(*fattn("decode:depth=16384,tokens=300,layers=1,graphs=off")), "decode 300 300, fast-forward 32 0");
    EXPECT_EQ(phases_of(*fattn("session:to=64,ubatch=16,tokens=6,sequences=2,layers=1")), "prefill 8 128, decode 2 4, replay 4 8");
    EXPECT_EQ(phases_of(*fattn("decode:depth=512+1024,tokens=5,layers=1")),
              "decode@512 2 2, replay@512 3 3, decode@1024 2 2, replay@1024 3 3, fast-forward 2 0");
}

TEST(Fattn, OnlyMeasuredTokensCount)
{
    const trace_summary s = summarise(*fattn("session:depth=4096,prompt=1024,tokens=10"));
    EXPECT_EQ(s.tokens, 1034u);
    EXPECT_EQ(s.steps, 8u + 2 + 10);
    std::uint32_t steps = 0, syncs = 0;
    for (const auto& f : events_of(*fattn("decode:depth=4096,tokens=1"))) {
        if (f.e.kind == event_kind::step && f.e.tokens == 1) break;
        steps += f.e.kind == event_kind::step;
        syncs += f.e.kind == event_kind::sync_stream;
        EXPECT_TRUE(f.e.kind == event_kind::step || f.e.kind == event_kind::sync_stream || f.e.kind == event_kind::alloc ||
                    f.e.kind == event_kind::free);
    }
    EXPECT_EQ(steps, 8u) << "micro-batches of 512";
    EXPECT_EQ(syncs, steps);
}

TEST(Fattn, GraphsOn)
{
    const trace_summary s = summarise(*fattn("decode:depth=16384,tokens=300,ops=all"));
    EXPECT_TRUE(s.graphs);
    EXPECT_EQ(s.graph_ids, 1u);
    EXPECT_EQ(s.launches, 300u * 839);    // a replay executes what was captured
    const auto context = summarise(*fattn("decode:depth=16384,tokens=1")).alloc_calls - 257;
    EXPECT_EQ(s.alloc_calls, context + 4 * 257);
}

/// Experts that the matrix kernel of an older card does not take: the host waits inside the walk, so nothing is captured.
TEST(Fattn, WalksThatSynchroniseAreNotCaptured)
{
    const auto t = fattn("prefill:model=qwen3-30b-a3b,layers=1,ubatch=64,to=256,sync=none,last-layer-cut=off,"
                         "target=nvidia/7.0/80/112000000000000/900000000000");
    const trace_summary s = summarise(*t);
    EXPECT_FALSE(s.graphs);
    std::uint64_t syncs = 0;
    for (const auto& f : events_of(*t)) syncs += f.e.kind == event_kind::sync_stream ? 1 : 0;
    EXPECT_EQ(syncs, 4u * 3 * 2);    // four micro-batches, three products, twice each
    EXPECT_EQ(phases_of(*fattn("decode:model=qwen3-30b-a3b,layers=1,depth=0,tokens=9,sequences=64,last-layer-cut=off,"
                               "target=nvidia/7.0/80/112000000000000/900000000000")),
              "decode 9 576, replay 0 0");
    EXPECT_TRUE(summarise(*fattn("prefill:model=qwen3-30b-a3b,layers=1,ubatch=64,to=256")).graphs);
}

TEST(Fattn, ExternalMemory)
{
    const auto externals = [](const std::string& spec) {
        std::vector<std::string> out;
        const auto t = fattn(spec);
        for (const auto& f : events_of(*t))
            if (f.e.kind == event_kind::external_alloc)
                out.push_back(t->header().tags[f.e.tag] + " " + std::to_string(f.e.bytes));
        const trace_summary s = summarise(*t);
        EXPECT_EQ(s.external_ids, out.size());
        EXPECT_EQ(s.end_live_blocks, 0u);
        return out;
    };
    using list = std::vector<std::string>;
    EXPECT_EQ(externals("session:to=512,tokens=1"), list{});
    EXPECT_EQ(externals("session:to=512,tokens=256,era=reserved-fa"), list{"reserved K_f16 and V_f16 3145728"});
    EXPECT_EQ(externals("session:to=512,tokens=256,era=reserved-fa,kv=f16"), list{});
    // 768 cells x 8 heads x 128 values x 2 x 32 layers at 34 bytes for 32 values
    const auto all = externals("session:to=512,tokens=256,era=reserved-fa,weights=on");
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[1], "KV cache " + std::to_string(768ull * 8 * 128 * 2 * 32 * 34 / 32));
}

TEST(Fattn, EndsWithNothingAlive)
{
    const auto t = fattn("session:to=512,tokens=2,era=reserved-fa,weights=on");
    std::vector<std::uint32_t> alive;
    for (const auto& f : events_of(*t)) {
        if (f.e.kind == event_kind::external_alloc) alive.push_back(f.e.id);
        if (f.e.kind == event_kind::external_free) {
            ASSERT_FALSE(alive.empty());
            EXPECT_EQ(f.e.id, alive.back());
            alive.pop_back();
        }
    }
    EXPECT_TRUE(alive.empty());
}

TEST(Fattn, ALongContextIsANoteAndNoError)
{
    EXPECT_TRUE(fattn("session:to=4096,tokens=1")->header().notes.empty());
    EXPECT_EQ(fattn("session:to=131072,tokens=1")->header().notes,
              std::vector<std::string>{"fattn-session: 131073 tokens are more than the 131072 that llama-3.1-8b was trained for"});
}

TEST(Fattn, BadInput)
{
    std::string many_depths;
    for (int i = 1; i <= 64; ++i) many_depths += "+" + std::to_string(i);
    const std::pair<std::string, const char*> rows[] = {
        {"prefill:ubatch=4096", "fattn-prefill: ubatch=4096 exceeds batch=2048"},
        {"prefill:sequences=3", "fattn-prefill: sequences=3 must divide ubatch=512 and batch=2048, which hold tokens of all "
                                "sequences"},
        {"prefill:depth=200,to=100", "fattn-prefill: to=100 must be above depth=200: the tokens between them are the prompt"},
        {"prefill:depth=50,prompt=60,to=100", "fattn-prefill: to=100 contradicts depth=50 and prompt=60: to is the last depth "
                                              "plus the prompt, leave one of them out"},
        {"prefill:depth=1+9000,to=9500", "fattn-prefill: several depths need prompt= instead of to= (tokens that are processed "
                                         "at each)"},
        {"session:depth=4096+5000", "fattn-session: depth=4096+5000: 5000 is below the end of the slice before it (5632)"},
        {"decode:tokens=1,depth=0" + many_depths,
         "fattn-decode: depth: more than 64 depths, spread them over several runs"},
        {"decode:depth=4096+x", "fattn-decode: depth: 'x' is not a whole number"},
        {"prefill:to=3000000000", "fattn-prefill: to=3000000000: 1 x 3000000000 cells exceed the 2^31 of a cache"},
        {"decode:depth=1073741824,sequences=2", "fattn-decode: depth=1073741824: 2 x 1073742336 cells exceed the 2^31 of a cache"},
        {"prefill:kv=q8_0,fa=off", "fattn-prefill: kv=q8_0 needs fa=on: the engine has no product with a quantised V cache"},
        {"prefill:ops=fa-temp,kv=f16", "fattn-prefill: ops=fa-temp: there are no f16 copies of K and V in the pool; they need "
                                       "fa=on, a cache other than f16 and era=pool-fa-early or pool-fa-late"},
        {"prefill:kv=q5_0", "fattn-prefill: kv: 'q5_0' is not one of f16, q8_0, q4_0, bf16, did you mean 'q8_0'?"},
    };
    for (const auto& [spec, message] : rows) EXPECT_EQ(error_of([&] { fattn(spec); }), message) << spec;
}

/// A trace of any length is made in batches of bounded size, walks longer than one included.
TEST(Fattn, WalksLongerThanABatch)
{
    const auto t = fattn("session:to=512,tokens=1,layers=200");
    EXPECT_GT(events_of(*t).size(), 2 * batch_events);
    EXPECT_EQ(summarise(*t).max_live_blocks, 2u);
}

}  // namespace
}  // namespace vrambench::test
