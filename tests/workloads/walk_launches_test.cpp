// Launches of a walk as recorded on an H200 (docs/workloads/launches.md): totals, and their places in a layer. The recorded
// runs themselves are compared by scripts/compare-recording; here stand what they do not hold and what must not slip.

#include "tests/workloads/walk_tools.hpp"

#include <gtest/gtest.h>

namespace vrambench::engine {
namespace {

std::uint64_t launches(const session_choice& c, const walk_shape& shape)
{
    return count_of(walk_maker(session_of(c)).make(shape), event_kind::kernel);
}

std::uint64_t allocations(const session_choice& c, const walk_shape& shape)
{
    return count_of(walk_maker(session_of(c)).make(shape), event_kind::alloc);
}

struct recorded {
    const char* what;
    session_choice run;
    std::uint64_t prompt, prompt_outputs, token;
};

TEST(WalkLaunches, RecordedTotals)
{
    using enum tensor_type;
    const std::string qwen = "qwen3-30b-a3b";
    const recorded rows[] = {
        {"8B f16, snapshot", {.when = era::reserved_fa, .cache = f16}, 853, 864, 615},
        {"8B q8_0, snapshot", {.when = era::reserved_fa}, 1077, 1088, 775},
        {"8B f16, April", {.cache = f16}, 948, 959, 615},
        {"8B q8_0, April", {}, 1172, 1183, 839},
        {"Qwen3 x 4 f16, snapshot", {.model = qwen, .when = era::reserved_fa, .cache = f16, .layers = 4}, 134, 150, 103},
        {"Qwen3 x 4 q8_0, snapshot", {.model = qwen, .when = era::reserved_fa, .layers = 4}, 162, 178, 123},
        {"Qwen3 x 4 q8_0, April", {.model = qwen, .layers = 4}, 183, 199, 139},
        {"8B x 4 -fa off, snapshot", {.when = era::reserved_fa, .cache = f16, .flash = false, .layers = 4}, 128, 139, 86},
    };
    for (const recorded& r : rows) {
        EXPECT_EQ(launches(r.run, prompt_512), r.prompt) << r.what;
        EXPECT_EQ(launches(r.run, prompt_512_outputs), r.prompt_outputs) << r.what;
        EXPECT_EQ(launches(r.run, one_token), r.token) << r.what;
    }
}

TEST(WalkLaunches, RecordedAllocations)
{
    using enum tensor_type;
    const std::string qwen = "qwen3-30b-a3b";
    const recorded rows[] = {
        {"8B q8_0, snapshot", {.when = era::reserved_fa}, 347, 350, 257},
        {"8B f16, snapshot", {.when = era::reserved_fa, .cache = f16}, 347, 350, 257},
        {"8B q8_0, April", {}, 506, 509, 257},
        {"8B f16, April", {.cache = f16}, 442, 445, 257},
        {"Qwen3 x 4 q8_0, snapshot", {.model = qwen, .when = era::reserved_fa, .layers = 4}, 64, 67, 33},
        {"Qwen3 x 4 f16, snapshot", {.model = qwen, .when = era::reserved_fa, .cache = f16, .layers = 4}, 64, 67, 29},
        {"Qwen3 x 4 q8_0, April", {.model = qwen, .layers = 4}, 85, 88, 33},
        {"Qwen3, snapshot", {.model = qwen, .when = era::reserved_fa}, 900, 903, 385},
        {"Qwen3, April", {.model = qwen}, 1185, 1188, 385},
        {"8B x 4 -fa off, snapshot", {.when = era::reserved_fa, .cache = f16, .flash = false, .layers = 4}, 67, 70, 25},
    };
    for (const recorded& r : rows) {
        EXPECT_EQ(allocations(r.run, prompt_512), r.prompt) << r.what;
        EXPECT_EQ(allocations(r.run, prompt_512_outputs), r.prompt_outputs) << r.what;
        EXPECT_EQ(allocations(r.run, one_token), r.token) << r.what;
    }
}

/// The calculated tables give every layer its whole feed-forward part, and no lm_head to prompts.
TEST(WalkLaunches, WithoutTheLastLayerCut)
{
    const walk_shape whole{.tokens = 512, .n_kv = 16'384, .rows = 0, .cut = false};
    walk_shape token = one_token;
    token.cut = false;
    EXPECT_EQ(allocations({.when = era::pool_fa_late}, whole), 416u);
    EXPECT_EQ(allocations({.when = era::reserved_fa}, whole), 352u);
    EXPECT_EQ(allocations({.model = "qwen3-30b-a3b", .when = era::reserved_fa}, whole), 912u);
    EXPECT_EQ(allocations({.model = "qwen3-30b-a3b", .when = era::pool_fa_late}, whole), 1008u);
    EXPECT_EQ(allocations({.model = "qwen3-30b-a3b", .when = era::reserved_fa, .cache = tensor_type::f16}, token), 337u);
    EXPECT_EQ(allocations({.when = era::pool_fa_late}, token), 257u);
}

TEST(WalkLaunches, PlacesInAPrompt)
{
    EXPECT_EQ(story_of(walk_maker(session_of({.layers = 1})).make({.tokens = 512, .n_kv = 512, .rows = 1})),
              "+1 A2377728 +1 A8650752 +2 F8650752 +0 F2377728 "                                  // Q
              "+2 A2377728 +1 A8650752 +2 F8650752 +0 F2377728 "                                  // V
              "+1 A2377728 +1 A8650752 +2 F8650752 +0 F2377728 "                                  // K
              "+5 A1048576 +1 A1048576 +2 F1048576 +0 F1048576 "                                  // attention
              "+1 A2377728 +1 A8650752 +2 F8650752 +0 F2377728 "                                  // wo
              "+4 A4608 +2 F4608 +0 A16128 +2 F16128 +1 A4608 +2 F4608");                         // one row
}

TEST(WalkLaunches, PlacesInAToken)
{
    EXPECT_EQ(story_of(walk_maker(session_of({.when = era::reserved_fa, .cache = tensor_type::f16, .layers = 2})).make(one_token)),
              "+1 A4608 +2 F4608 +1 A4608 +2 F4608 +0 A4608 +2 F4608 +3 A196608 +0 A3072 +2 F3072 +0 F196608 "
              "+0 A4608 +2 F4608 +1 A4608 +2 F4608 +0 A16128 +2 F16128 "
              "+1 A4608 +2 F4608 +1 A4608 +2 F4608 +0 A4608 +2 F4608 +2 A196608 +0 A3072 +2 F3072 +0 F196608 "
              "+0 A4608 +2 F4608 +4 A4608 +2 F4608 +0 A16128 +2 F16128 +1 A4608 +2 F4608");
}

}  // namespace
}  // namespace vrambench::engine
