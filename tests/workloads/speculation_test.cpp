// Rounds of speculative decoding: what the draft and the target process, and what counts.

#include "workloads/engine/speculation.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vrambench::engine {
namespace {

/// "draft walks | target walk = tokens" of each round; a walk is tokens@n_kv.
std::string story_of(const speculation_settings& s)
{
    const auto text = [](const step_plan& p) { return std::to_string(p.shape.tokens) + "@" + std::to_string(p.shape.n_kv); };
    std::string out;
    speculation plan(s);
    for (speculation_round r; plan.next(r);) {
        for (const auto& d : r.draft) out += text(d) + " ";
        out += "| " + text(r.target) + " = " + std::to_string(r.tokens) + "; ";
    }
    return out;
}

/// Nothing counts but the target's own token. 254 tokens are cached: token 255 and its two proposals end at 257.
TEST(Speculation, AllRefused)
{
    EXPECT_EQ(story_of({.depth = 254, .tokens = 3, .proposals = 2, .acceptance = 0}),
              "1@256 1@256 | 3@512 = 1; 1@256 1@512 | 3@512 = 1; 1@512 1@512 | 3@512 = 1; ");
}

/// The last proposal is new to the draft in the next round. The last round is finished beyond the 5 tokens.
TEST(Speculation, AllAccepted)
{
    EXPECT_EQ(story_of({.depth = 510, .tokens = 5, .proposals = 3, .acceptance = 1}),
              "1@512 1@512 1@768 | 4@768 = 4; 2@768 1@768 1@768 | 4@768 = 4; ");
}

TEST(Speculation, RowsAndSynchronisations)
{
    speculation plan({.tokens = 100, .target_inputs = 8, .draft_inputs = 6});
    speculation_round r;
    while (plan.next(r)) {
        EXPECT_EQ(r.target.shape.rows, 5u);
        EXPECT_EQ(r.target.syncs_before + r.target.syncs_after, 18u);
        ASSERT_EQ(r.draft.size(), 4u);
        for (const auto& d : r.draft) {
            EXPECT_EQ(d.shape.rows, 1u);
            EXPECT_EQ(d.syncs_before + d.syncs_after, 14u);
        }
    }
}

/// The two contexts keep a graph each, so neither disturbs the other's.
TEST(Speculation, GraphsOfBothContexts)
{
    std::string modes;
    speculation plan({.tokens = 4, .proposals = 2, .acceptance = 0});
    for (speculation_round r; plan.next(r); modes += ' ') {
        for (const auto& d : r.draft) modes += "DCR"[static_cast<int>(d.mode)];
        modes += "DCR"[static_cast<int>(r.target.mode)];
    }
    EXPECT_EQ(modes, "DCD RRC RRR RRR ");
}

/// Of k proposals with probability p each, p + p^2 + ... + p^k count on average: with 0.7 and 4, 1.7731; and one more.
TEST(Speculation, AcceptedTokensOnAverage)
{
    speculation plan({.tokens = 300'000, .proposals = 4, .acceptance = 0.7, .seed = 5});
    std::uint64_t rounds = 0, tokens = 0;
    for (speculation_round r; plan.next(r); ++rounds) tokens += r.tokens;
    EXPECT_NEAR(static_cast<double>(tokens) / static_cast<double>(rounds), 2.7731, 0.02);
}

}  // namespace
}  // namespace vrambench::engine
