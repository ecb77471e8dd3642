// server, turns and speculative as a user names them: keys, canonical form, events of a trace.

#include "tests/workloads/trace_tools.hpp"

#include "workloads/registry.hpp"

#include <set>

namespace vrambench::test {
namespace {

const char* const specs[] = {
    "server:requests=5,layers=2", "server:requests=9,layers=1,gap-ms=0,sequences=3,context=8192,graphs=off,weights=on",
    "server:model=gemma-3-27b,requests=3,layers=6,kv=f16", "turns:turns=3,layers=2", "turns:turns=3,layers=1,cache=clear,seed=4",
    "turns:turns=2,layers=2,model=qwen3-30b-a3b,graphs=off,weights=on", "speculative:layers=2,tokens=60",
    "speculative:layers=1,model=qwen3-30b-a3b,draft=llama-3.1-8b,tokens=40,era=reserved-fa,weights=on,depth=1000"};

TEST(Sessions, CanonicalSpecMakesTheSameTrace)
{
    for (const char* spec : specs) {
        const auto t = make_trace(spec, 3);
        const auto again = make_trace(t->header().spec, 9, "mi300x");
        EXPECT_EQ(again->header().spec, t->header().spec);
        EXPECT_EQ(again->header().seed, t->header().seed);
        EXPECT_EQ(events_of(*again), events_of(*t)) << spec;
    }
}

TEST(Sessions, BalancedLifoAndDense)
{
    for (const char* spec : specs) {
        const auto t = make_trace(spec, 3);
        const trace_summary s = summarise(*t);
        EXPECT_TRUE(s.lifo) << spec;
        EXPECT_EQ(s.end_live_blocks, 0u) << spec;
        EXPECT_EQ(s.alloc_calls, s.free_calls) << spec;
        EXPECT_EQ(s.block_ids, s.max_live_blocks) << spec;
        EXPECT_EQ(s.streams, std::string(spec).starts_with("speculative") ? 2u : 1u) << spec;
        EXPECT_EQ(s.graphs, std::string(spec).find("graphs=off") == std::string::npos) << spec;
    }
}

TEST(Sessions, SeedsMakeDifferentTraces)
{
    for (const char* spec : {"server:requests=5,layers=1", "turns:turns=2,layers=1", "speculative:layers=1,tokens=60"}) {
        std::set<std::uint64_t> hashes;
        for (std::uint64_t seed = 1; seed <= 5; ++seed) hashes.insert(hash_of(events_of(*make_trace(spec, seed))));
        EXPECT_EQ(hashes.size(), 5u) << spec;
    }
}

struct step_sums {
    std::vector<std::uint64_t> steps, tokens;    ///< by phase
};
step_sums sums_of(const trace& t)
{
    step_sums sums{std::vector<std::uint64_t>(t.header().phases.size()), std::vector<std::uint64_t>(t.header().phases.size())};
    for (const auto& f : events_of(t))
        if (f.e.kind == event_kind::step) ++sums.steps[f.e.phase], sums.tokens[f.e.phase] += f.e.tokens;
    return sums;
}
using counts = std::vector<std::uint64_t>;

/// Four prompts of 16 in one micro-batch; six tokens each, the first two steps walk.
TEST(Server, PhasesHoldTheirTokens)
{
    const auto t = make_trace("server:requests=4,gap-ms=0,layers=1,prompt-min=16,prompt-max=16,answer-min=6,answer-max=6", 1);
    EXPECT_EQ(t->header().phases, (std::vector<std::string>{"prefill", "decode", "replay"}));
    const step_sums sums = sums_of(*t);
    EXPECT_EQ(sums.steps, (counts{1, 2, 4}));
    EXPECT_EQ(sums.tokens, (counts{64, 8, 16}));
}

/// The sequences share one cache: weights=on sizes it by context=, not by context x sequences; sliding layers hold a window
/// for each sequence. 32,768 cells x 8 heads x 128 values x 2 x 32 layers at 34 bytes for 32 values.
TEST(Server, OneCacheForAllSequences)
{
    const auto cache_of = [](const char* spec) {
        const auto t = make_trace(spec, 1);
        for (const auto& f : events_of(*t, 10))
            if (f.e.kind == event_kind::external_alloc && t->header().tags[f.e.tag] == "KV cache") return f.e.bytes;
        return std::uint64_t{0};
    };
    EXPECT_EQ(cache_of("server:weights=on,requests=1"), 32'768ull * 8 * 128 * 2 * 32 * 34 / 32);
    // 10 global layers, 52 of 4 x 1024 + 512 cells, 16 heads x 128 f16 values
    EXPECT_EQ(cache_of("server:model=gemma-3-27b,kv=f16,weights=on,requests=1,sequences=4"),
              2ull * 2 * 2048 * (10 * 32'768 + 52 * 4608));
}

/// The largest block is that of a session to the end of all turns, or of a single turn: f16 copies of K and V for 8,192 cells,
/// or, where the cache is cleared, what a prompt of 1,000 tokens needs at any depth.
TEST(Turns, CacheGrowsOrIsCleared)
{
    const auto most = [](const std::string& spec) { return summarise(*make_trace(spec, 1)).max_block_bytes; };
    const std::string turns = "turns:layers=1,turns=8,prompt-min=1000,prompt-max=1000,answer-min=24,answer-max=24,cache=";
    EXPECT_EQ(most(turns + "grow"), 8192 * 2048u);
    EXPECT_EQ(most(turns + "clear"), most("fattn-session:layers=1,to=1000,tokens=24"));
    EXPECT_LT(most(turns + "clear"), most(turns + "grow"));
}

/// 512 tokens a turn end with a bucket of 256 cells, so all of a turn's walks are new but for the replays in it.
TEST(Turns, EachEndsWithAnIdleStep)
{
    const auto t = make_trace("turns:layers=1,turns=3,prompt-min=500,prompt-max=500,answer-min=12,answer-max=12", 1);
    EXPECT_EQ(t->header().phases, (std::vector<std::string>{"prefill", "decode", "replay", "idle"}));
    const step_sums sums = sums_of(*t);
    EXPECT_EQ(sums.steps, (counts{3, 6, 30, 3}));
    EXPECT_EQ(sums.tokens, (counts{1500, 6, 30, 0}));
    const auto events = events_of(*t);
    std::string idle;
    for (std::size_t i = 0; i < events.size(); ++i)
        if (events[i].e.kind == event_kind::step && events[i].e.phase == 3)
            idle += events[i + 1].e.kind == event_kind::sync_device ? (i + 2 == events.size() ? "last" : "sync ") : "?";
    EXPECT_EQ(idle, "sync sync last");
}

/// Idle for longer than the engine keeps a graph: the same shape is walked again. Prompts of 1 token, answers of 4, one bucket.
TEST(Turns, GraphsAreDroppedWhileIdle)
{
    const auto t = make_trace("turns:layers=1,turns=3,prompt-min=1,prompt-max=1,answer-min=4,answer-max=4", 1);
    // direct as a prompt, captured and replayed three times as tokens, in each turn
    EXPECT_EQ(sums_of(*t).steps, (counts{3, 3, 9, 3}));
}

/// The first turns are the same whatever their number, so what is reserved after turn k is what turns=k ends with.
TEST(Turns, ShorterSessionsAreBeginnings)
{
    const auto longer = make_trace("turns:layers=1,turns=4", 7), shorter = make_trace("turns:layers=1,turns=3", 7);
    const auto all = events_of(*longer), first = events_of(*shorter);
    ASSERT_LT(first.size(), all.size());
    EXPECT_TRUE(std::equal(first.begin(), first.end(), all.begin()));
}

/// Every event of the draft is on its own stream and carries its own names; the host waits for a stream before the other goes on.
TEST(Speculative, TwoContextsTakeTurns)
{
    const auto t = make_trace("speculative:layers=1,tokens=40", 1);
    const auto& tags = t->header().tags;
    bool waited = true;
    std::uint16_t stream = 0;
    std::uint64_t switches = 0;
    for (const auto& f : events_of(*t)) {
        const bool work = f.e.kind == event_kind::alloc || f.e.kind == event_kind::kernel || f.e.kind == event_kind::graph_launch;
        const bool named = work && f.e.kind != event_kind::graph_launch;
        EXPECT_TRUE(!named || tags[f.e.tag].starts_with("draft ") == (f.e.stream == 1)) << tags[f.e.tag];
        EXPECT_TRUE(!work || named || f.e.id == f.e.stream);
        if (work && f.e.stream != stream) {
            EXPECT_TRUE(waited);
            stream = f.e.stream;
            ++switches;
        }
        if (work) waited = false;
        if (f.e.kind == event_kind::sync_stream && f.e.stream == stream) waited = true;
    }
    EXPECT_GT(switches, 20u);
}

/// Each model processes the prompt; a round counts the tokens that it adds to the answer.
TEST(Speculative, Tokens)
{
    const auto t = make_trace("speculative:layers=1,prompt=1024,tokens=40,acceptance=1,graphs=off", 1);
    const step_sums sums = sums_of(*t);
    EXPECT_EQ(t->header().phases, (std::vector<std::string>{"prefill", "decode", "replay", "draft-prefill", "fast-forward"}));
    EXPECT_EQ(sums.steps, (counts{2, 8, 0, 2, 0}));
    EXPECT_EQ(sums.tokens, (counts{1024, 40, 0, 1024, 0}));
}

TEST(Speculative, ExternalMemoryOfBoth)
{
    const auto t = make_trace("speculative:tokens=8,weights=on,era=reserved-fa,layers=1", 1);
    std::string names;
    for (const auto& f : events_of(*t))
        if (f.e.kind == event_kind::external_alloc) names += t->header().tags[f.e.tag] + "; ";
    EXPECT_EQ(names, "weights; KV cache; reserved K_f16 and V_f16; draft weights; draft KV cache; draft reserved K_f16 and V_f16; ");
}

TEST(Sessions, BadInput)
{
    const std::pair<const char*, const char*> rows[] = {
        {"server:sequences=200,batch=100,ubatch=100",
         "server: sequences=200 exceeds batch=100, which must hold a token of each"},
        {"server:context=4096", "server: prompt-max + answer-max = 5120 exceeds context=4096, the cells of the cache: no such "
                                "request could be answered"},
        {"server:prompt-min=100,prompt-max=50", "server: prompt-min=100 exceeds prompt-max=50"},
        {"server:sequences=257", "server: sequences: '257' is too large (at most 256)"},
        {"server:ubatch=4096", "server: ubatch=4096 exceeds batch=2048"},
        {"turns:answer-min=2000", "turns: answer-min=2000 exceeds answer-max=1024"},
        {"turns:turns=100000,prompt-min=100000,prompt-max=100000,answer-min=1,answer-max=1",
         "turns: turns=100000: 10000100000 tokens exceed the 2^31 cells of a cache; fewer or shorter turns, or cache=clear"},
        {"turns:cache=keep", "turns: cache: 'keep' is not one of grow, clear"},
        {"speculative:draft=llama-3.1-1b",
         "draft: unknown model 'llama-3.1-1b', did you mean 'llama-3.1-8b'? (one of llama-3.1-8b, llama-3.1-70b, qwen3-30b-a3b, "
         "gemma-3-27b, deepseek-v3, gpt-oss-20b, or @FILE.json)"},
        {"speculative:fa=off", "speculative: kv=q8_0 needs fa=on: the engine has no product with a quantised V cache"},
        {"speculative:depth=2147483648",
         "speculative: depth, prompt, tokens and proposals are 2147488260 together, more than the 2^31 cells of a cache"},
        {"speculative:acceptance=1.5", "speculative: acceptance: '1.5' is not within 0 to 1"},
    };
    for (const auto& [spec, message] : rows) EXPECT_EQ(error_of([&] { make_trace(spec, 1); }), message) << spec;
}

}  // namespace
}  // namespace vrambench::test
