// When graphs are walked, captured and replayed, which micro-batches have output rows, and how often the host waits.

#include "workloads/engine/schedule.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vrambench::engine {
namespace {

std::vector<step_plan> steps_of(schedule_settings s)
{
    std::vector<step_plan> out;
    schedule plan(std::move(s));
    while (const auto step = plan.next()) out.push_back(*step);
    EXPECT_FALSE(plan.next());
    return out;
}

/// "DCRR": direct, capture, replay, sizes ('s') of each step.
std::string modes_of(const std::vector<step_plan>& steps)
{
    std::string out;
    for (const auto& s : steps) out += "DCRs"[static_cast<int>(s.mode)];
    return out;
}

TEST(Schedule, OutputRowsEndEachBatch)
{
    const auto steps = steps_of({.slices = {{.prompt = 5000}}, .graphs = false});
    std::vector<std::uint64_t> tokens, rows, n_kv;
    for (const auto& s : steps) {
        tokens.push_back(s.tokens), rows.push_back(s.shape.rows), n_kv.push_back(s.shape.n_kv);
        EXPECT_FALSE(s.decode);
    }
    EXPECT_EQ(tokens, (std::vector<std::uint64_t>{512, 512, 512, 512, 512, 512, 512, 512, 512, 392}));
    EXPECT_EQ(rows, (std::vector<std::uint64_t>{0, 0, 0, 1, 0, 0, 0, 1, 0, 1}));
    EXPECT_EQ(n_kv, (std::vector<std::uint64_t>{512, 1024, 1536, 2048, 2560, 3072, 3584, 4096, 4608, 5120}));
}

/// Recorded: tokens 0, 1, 256 and 257 of 300 walk.
TEST(Schedule, FourWalksIn300Tokens)
{
    const auto steps = steps_of({.slices = {{.depth = 16'384, .tokens = 300}}});
    const std::string modes = modes_of(steps).substr(32);
    EXPECT_EQ(modes, "DC" + std::string(254, 'R') + "DC" + std::string(42, 'R'));
    EXPECT_EQ(steps[32].shape.n_kv, 16'640u);
    EXPECT_EQ(steps.back().shape.n_kv, 16'896u);
}

/// Recorded: 512 tokens never match, 128 are direct and captured, 64 replayed twice more.
TEST(Schedule, SmallMicroBatchesAreCaptured)
{
    const auto modes = [](std::uint64_t ubatch) {
        return modes_of(steps_of({.slices = {{.prompt = 1024}}, .ubatch = ubatch, .batch = 4096, .cut = false}));
    };
    EXPECT_EQ(modes(512), "DD");
    EXPECT_EQ(modes(256), "DDDD");
    EXPECT_EQ(modes(128), "DCDCDCDC");
    EXPECT_EQ(modes(64), "DCRRDCRRDCRRDCRR");
}

/// One with output rows is another graph.
TEST(Schedule, OutputRowsAreAnotherShape)
{
    EXPECT_EQ(modes_of(steps_of({.slices = {{.prompt = 512}}, .ubatch = 64, .batch = 512})), "DCRRDCRD");
}

TEST(Schedule, GraphsOffWalksEveryStep)
{
    EXPECT_EQ(modes_of(steps_of({.slices = {{.tokens = 5}}, .graphs = false})), "DDDDD");
}

struct sync_row {
    sync_rule rule;
    std::uint64_t inputs;
    std::vector<std::uint32_t> syncs;    ///< of three micro-batches, the batch's last, the prompt's last and a token
};

TEST(Schedule, Synchronisations)
{
    const sync_row rows[] = {{sync_rule::engine, 6, {12, 12, 12, 13, 14, 14}},
                             {sync_rule::engine, 8, {16, 16, 16, 17, 18, 18}},
                             {sync_rule::token, 6, {1, 1, 1, 1, 1, 1}},
                             {sync_rule::batch, 6, {0, 0, 0, 1, 1, 1}},
                             {sync_rule::none, 6, {0, 0, 0, 0, 0, 0}}};
    for (const auto& row : rows) {
        std::vector<std::uint32_t> syncs;
        for (const auto& s : steps_of({.slices = {{.prompt = 2560, .tokens = 1}}, .sync = row.rule, .inputs = row.inputs}))
            syncs.push_back(s.syncs_before + s.syncs_after);
        EXPECT_EQ(syncs, row.syncs);
    }
}

TEST(Schedule, SequencesShareABatch)
{
    const auto steps = steps_of({.slices = {{.prompt = 300, .tokens = 2}}, .ubatch = 512, .batch = 1024, .sequences = 4});
    ASSERT_EQ(steps.size(), 5u);
    EXPECT_EQ(steps[0].shape, (walk_shape{.tokens = 128, .n_kv = 256, .rows = 0}));
    EXPECT_EQ(steps[1].shape, (walk_shape{.tokens = 128, .n_kv = 256, .rows = 4}));
    EXPECT_EQ(steps[2].shape, (walk_shape{.tokens = 44, .n_kv = 512, .rows = 4}));
    EXPECT_EQ(steps[3].shape, (walk_shape{.tokens = 1, .n_kv = 512, .rows = 4}));
    std::uint64_t tokens = 0;
    for (const auto& s : steps) tokens += s.tokens;
    EXPECT_EQ(tokens, 4u * 302);
}

TEST(Schedule, SlicesFastForwardToTheirDepth)
{
    const auto steps = steps_of({.slices = {{.depth = 1024, .prompt = 512, .tokens = 1}, {.depth = 4096, .prompt = 512, .tokens = 2}}});
    EXPECT_EQ(modes_of(steps), "ssDDsssssDDC");
    for (const auto& s : steps) EXPECT_EQ(s.mode == walk_mode::sizes, s.tokens == 0);
    EXPECT_EQ(steps[4].slice, 1u);
    EXPECT_EQ(steps[4].shape.n_kv, 2304u);    // 1537 + 512 tokens
    EXPECT_EQ(steps[8].shape, (walk_shape{.tokens = 511, .n_kv = 4096, .rows = 1}));
}

/// The host waits once before each micro-batch of them, whenever it waits at all, and not as often as where tokens are measured.
TEST(Schedule, FastForwardWaitsOnceAMicroBatch)
{
    for (const sync_rule rule : {sync_rule::engine, sync_rule::token, sync_rule::batch, sync_rule::none}) {
        const auto steps = steps_of({.slices = {{.depth = 4096, .prompt = 512, .tokens = 1}}, .sync = rule});
        ASSERT_EQ(modes_of(steps).substr(0, 8), "ssssssss");
        for (std::size_t i = 0; i < 8; ++i) {
            EXPECT_EQ(steps[i].syncs_before, rule == sync_rule::none ? 0u : 1u) << i;
            EXPECT_EQ(steps[i].syncs_after, 0u) << i;
        }
    }
}

}  // namespace
}  // namespace vrambench::engine
