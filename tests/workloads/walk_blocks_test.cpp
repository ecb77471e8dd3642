// What holds for the blocks of every walk, whatever the model, era, cache and target.

#include "tests/workloads/walk_tools.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace vrambench::engine {
namespace {

/// Blocks are freed last in, first out, ids are depths, nothing outlives an operation's walk, and kernels read only what was
/// written, name a block once, and use every block.
void check(const walk& w, const std::string& what)
{
    struct block {
        bool written = false, used = false;
    };
    std::vector<block> live;
    for (const auto& x : events_of(w)) {
        switch (x.e.kind) {
        case event_kind::alloc:
            ASSERT_EQ(x.e.id, live.size()) << what;
            ASSERT_GT(x.e.bytes, 0u) << what;
            live.push_back({});
            break;
        case event_kind::free:
            ASSERT_EQ(x.e.id + 1, live.size()) << what;
            ASSERT_TRUE(live.back().used) << what << ": a block that no kernel uses";
            live.pop_back();
            break;
        case event_kind::kernel:
            ASSERT_GE(x.e.nanoseconds, 1) << what;
            for (const auto id : x.reads) {
                ASSERT_LT(id, live.size()) << what;
                ASSERT_TRUE(live[id].written) << what << ": a block is read before it is written";
                ASSERT_EQ(std::count(x.writes.begin(), x.writes.end(), id), 0) << what;
                live[id].used = true;
            }
            for (const auto id : x.writes) {
                ASSERT_LT(id, live.size()) << what;
                live[id].written = live[id].used = true;
            }
            break;
        default: ASSERT_EQ(x.e.kind, event_kind::sync_stream) << what;
        }
    }
    EXPECT_TRUE(live.empty()) << what;
}

TEST(WalkBlocks, AreSoundEverywhere)
{
    std::size_t walks = 0;
    for (const auto& [model, model_json] : built_in_models())
        for (const auto& [target, target_json] : built_in_targets())
            for (const era when : {era::pool_fa_early, era::pool_fa_late, era::reserved_fa})
                for (const tensor_type cache : {tensor_type::f16, tensor_type::q8_0, tensor_type::bf16})
                    for (const std::uint64_t sequences : {1u, 4u}) {
                        const walk_maker maker(session_of({.model = model, .when = when, .cache = cache, .target = target,
                                                           .sequences = sequences}));
                        for (const std::uint64_t tokens : {1u, 2u, 8u, 9u, 128u, 512u, 2048u})
                            for (const std::uint64_t rows : {std::uint64_t{0}, sequences}) {
                                check(maker.make({.tokens = tokens, .n_kv = 4096, .rows = rows}),
                                      model + " on " + target + ", " + std::to_string(tokens) + " tokens");
                                ++walks;
                                if (HasFatalFailure()) return;
                            }
                    }
    EXPECT_EQ(walks, 6u * 8 * 3 * 3 * 2 * 7 * 2);
}

/// Targets on which experts are multiplied one by one, and dense products go through BLAS.
TEST(WalkBlocks, AreSoundOnOlderCards)
{
    for (const char* target : {"nvidia/7.0/80/112000000000000/900000000000", "nvidia/6.1/30/12000000000000/480000000000"})
        for (const auto& [model, json] : built_in_models())
            for (const tensor_type type : {tensor_type::q4_k, tensor_type::q2_k, tensor_type::f16, tensor_type::bf16, tensor_type::f32})
                for (const std::uint64_t tokens : {1u, 4u, 100u, 512u}) {
                    session s = session_of({.model = model, .layers = 4, .target = target});
                    s.model.types.experts = s.model.types.ffn = s.model.types.attention = s.model.types.per_head = type;
                    check(walk_maker(s).make({.tokens = tokens, .n_kv = 4096, .rows = 1}),
                          model + " on " + target + ", " + std::to_string(tokens) + " tokens");
                    if (HasFatalFailure()) return;
                }
}

TEST(WalkBlocks, AreSoundWithoutFlashAttention)
{
    for (const era when : {era::pool_fa_early, era::pool_fa_late, era::reserved_fa})
        for (const std::uint64_t tokens : {1u, 4u, 17u, 512u})
            check(walk_maker(session_of({.when = when, .cache = tensor_type::f16, .flash = false}))
                      .make({.tokens = tokens, .n_kv = 4096, .rows = 1}),
                  std::to_string(tokens) + " tokens");
}

std::vector<std::uint64_t> sizes(const event_batch& b)
{
    std::vector<std::uint64_t> out;
    for (const event& e : b.events)
        if (e.kind == event_kind::alloc) out.push_back(e.bytes);
    return out;
}

/// A layer of each kind: the one that is kept whole, the last one with its single row, and lm_head.
TEST(WalkBlocks, SizesAreThoseOfEachDistinctLayer)
{
    const walk w = walk_maker(session_of({})).make({.tokens = 512, .n_kv = 512, .rows = 1});
    const event_batch s = sizes_of(w);
    const std::uint64_t y = 2'377'728, fx = 8'650'752, kv = 1'048'576;
    EXPECT_EQ(sizes(s), (std::vector<std::uint64_t>{
                            y, fx, y, fx, y, fx, kv, kv, y, fx, y, fx, y, fx, 8'275'968, fx,
                            y, fx, y, fx, y, fx, kv, kv, y, fx, 4608, 16'128, 4608}));
    EXPECT_TRUE(s.operands.empty());
    for (const event& e : s.events) EXPECT_TRUE(e.kind == event_kind::alloc || e.kind == event_kind::free);
}

/// Sizes that attention asks for, layer by layer.
std::vector<std::uint64_t> copies(const std::string& model, std::uint64_t n_kv)
{
    session s = session_of({.model = model});
    s.ops = traced_ops::attention_copies;
    std::vector<std::uint64_t> out;
    for (const auto& x : events_of(walk_maker(s).make({.tokens = 512, .n_kv = n_kv, .rows = 0})))
        if (x.e.kind == event_kind::alloc) out.push_back(x.e.bytes);
    return out;
}

TEST(WalkBlocks, SlidingLayersSeeTheirOwnCache)
{
    const auto gemma = copies("gemma-3-27b", 131'072);
    ASSERT_EQ(gemma.size(), 2u * 62);
    EXPECT_EQ(std::count(gemma.begin(), gemma.end(), 536'870'912u), 20);    // 10 global layers
    EXPECT_EQ(std::count(gemma.begin(), gemma.end(), 6'291'456u), 104);     // 52 of 1,536 cells
    const auto oss = copies("gpt-oss-20b", 131'072);
    EXPECT_EQ(oss[0], 786'432u);         // even layers slide
    EXPECT_EQ(oss[2], 134'217'728u);
}

TEST(WalkBlocks, CompressedAttentionCopiesKOnly)
{
    EXPECT_EQ(copies("deepseek-v3", 4096), std::vector<std::uint64_t>(61, 4'718'592));
}

TEST(WalkBlocks, OnlyAttention)
{
    session s = session_of({});
    s.ops = traced_ops::attention;
    const walk w = walk_maker(s).make(one_token);
    EXPECT_EQ(count_of(w, event_kind::alloc), 64u);     // dst_tmp and its meta in 32 layers
    EXPECT_EQ(count_of(w, event_kind::kernel), 64u);    // attention and combine
}

TEST(WalkBlocks, ReservedBytes)
{
    EXPECT_EQ(reserved_bytes(session_of({.when = era::reserved_fa})), 536'870'912u);
    EXPECT_EQ(reserved_bytes(session_of({.when = era::reserved_fa, .cache = tensor_type::f16})), 0u);
    EXPECT_EQ(reserved_bytes(session_of({})), 0u);
    EXPECT_EQ(reserved_bytes(session_of({.model = "gemma-3-27b", .when = era::reserved_fa})), 2 * 536'870'912u);
}

}  // namespace
}  // namespace vrambench::engine
