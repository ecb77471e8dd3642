// Continuous batching: what a batch holds, which cells its tokens take, who waits.

#include "workloads/engine/server_schedule.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vrambench::engine {
namespace {

std::vector<step_plan> steps_of(const server_settings& s, std::uint64_t ns_of_a_step = 1'000'000)
{
    std::vector<step_plan> out;
    server_schedule plan(s);
    for (std::uint64_t elapsed = 0; const auto step = plan.next(elapsed); elapsed = ns_of_a_step) out.push_back(*step);
    return out;
}

/// "tokens/rows/n_kv", with P where tokens of a prompt are among them and ! where the host reads outputs.
std::string story_of(const std::vector<step_plan>& steps)
{
    std::string out;
    for (const auto& s : steps)
        out += (out.empty() ? "" : " ") + std::to_string(s.tokens) + "/" + std::to_string(s.shape.rows) + "/" +
               std::to_string(s.shape.n_kv) + (s.decode ? "" : "P") + (s.syncs_after > 0 ? "!" : "");
    return out;
}

std::uint64_t most_rows(const std::vector<step_plan>& steps)
{
    std::uint64_t most = 0;
    for (const auto& s : steps) most = std::max(most, s.shape.rows);
    return most;
}

log_uniform exactly(std::uint64_t n) { return {n, n}; }

const server_settings three_requests{.slots = 2, .cells = 1024, .requests = 3, .gap_ns = 0, .prompt = exactly(300),
                                     .answer = exactly(2), .ubatch = 256, .batch = 512, .graphs = false};

/// Worked by hand. Batch 1: 300 and 212 tokens of two prompts. 2: a token of the first answer (cell 512), 88 of the second
/// prompt (to 600). 3: a token each (601, 602), the first answer is complete. 4: the second answer's last token takes cell 0;
/// the third prompt takes 1 to 255, then 256 to 299 and 512, while 602 is still taken. 5, 6: the third answer.
TEST(ServerSchedule, WorkedByHand)
{
    EXPECT_EQ(story_of(steps_of(three_requests)),
              "256/0/256P 256/1/512P! 89/2/768P! 2/2/768! 256/1/768P 45/1/768P! 1/1/768! 1/1/768!");
}

/// With one slot the requests come one after the other and use the same cells again.
TEST(ServerSchedule, FurtherRequestsWaitForASlot)
{
    server_settings s = three_requests;
    s.slots = 1;
    const std::string one = "256/0/256P 44/1/512P! 1/1/512! 1/1/512!";
    EXPECT_EQ(story_of(steps_of(s)), one + " " + one + " " + one);
}

/// 512 cells hold one request of 302, whatever the slots.
TEST(ServerSchedule, FurtherRequestsWaitForCells)
{
    server_settings s = three_requests;
    const std::string serial = [&] {
        s.slots = 1;
        return story_of(steps_of(s));
    }();
    s.slots = 8;
    s.cells = 512;
    EXPECT_EQ(story_of(steps_of(s)), serial);
    s.cells = 768;
    EXPECT_NE(story_of(steps_of(s)), serial);
}

/// Long after the answer before, each request finds the server idle; all at once, they share batches.
TEST(ServerSchedule, ArrivalsFollowTheKernelTime)
{
    server_settings s{.slots = 8, .cells = 8192, .requests = 20, .gap_ns = 1'000'000'000'000, .prompt = exactly(100),
                      .answer = exactly(20)};
    EXPECT_EQ(most_rows(steps_of(s, 1'000)), 1u);
    s.gap_ns = 0;
    EXPECT_EQ(most_rows(steps_of(s, 1'000)), 8u);
    s.gap_ns = 1'000'000'000;    // 21 steps of 0.1 s: about two at a time, more where arrivals crowd
    const auto steps = steps_of(s, 100'000'000);
    EXPECT_GT(most_rows(steps), 1u);
    EXPECT_LT(most_rows(steps), 8u);
}

TEST(ServerSchedule, GraphsReplayWhileTheBatchStaysTheSame)
{
    server_settings s{.slots = 4, .cells = 2048, .requests = 4, .gap_ns = 0, .prompt = exactly(16), .answer = exactly(6)};
    std::string modes;
    for (const auto& step : steps_of(s)) modes += "DCR"[static_cast<int>(step.mode)];
    EXPECT_EQ(modes, "DDCRRRR");
}

TEST(ServerSchedule, Synchronisations)
{
    for (const std::uint64_t inputs : {6u, 8u}) {
        server_settings s = three_requests;
        s.inputs = inputs;
        for (const auto& step : steps_of(s)) EXPECT_EQ(step.syncs_before, 2 * inputs + (step.shape.rows > 0 ? 1 : 0));
    }
}

/// Every token of every request once, whatever the settings; lengths drawn a second time for comparison.
TEST(ServerSchedule, ProcessesEachTokenOnce)
{
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        const server_settings s{.slots = 1 + seed % 7, .cells = 2048 + 256 * seed, .requests = 50, .gap_ns = 3'000'000 * (seed % 4),
                                .prompt = {1, 1500}, .answer = {1, 500}, .seed = seed, .ubatch = 64 * seed, .batch = 2048};
        random_numbers numbers(seed);
        const exponential gap(s.gap_ns);
        std::uint64_t tokens = 0, processed = 0, answered = 0;
        for (int i = 0; i < 50; ++i) {
            gap(numbers);
            tokens += s.prompt(numbers);
            tokens += s.answer(numbers);
        }
        for (const auto& step : steps_of(s)) {
            processed += step.tokens;
            EXPECT_LE(step.tokens, s.ubatch);
            EXPECT_EQ(step.shape.tokens, step.tokens);
            EXPECT_LE(step.shape.n_kv, s.cells);
            EXPECT_EQ(step.shape.n_kv % 256, 0u);
            if (step.decode) {
                EXPECT_EQ(step.shape.rows, step.tokens);
                EXPECT_LE(step.tokens, s.slots);
                answered += step.tokens;
            }
        }
        EXPECT_EQ(processed, tokens) << seed;
        EXPECT_GT(answered, 0u);
    }
}

TEST(CellMap, TakesTheLowestFreeCell)
{
    cell_map cells(192);
    for (std::uint32_t i = 0; i < 130; ++i) EXPECT_EQ(cells.take(), i);
    EXPECT_EQ(cells.end(), 130u);
    for (const std::uint32_t i : {5u, 64u, 3u, 129u}) cells.give_back(i);
    EXPECT_EQ(cells.end(), 129u);
    for (const std::uint32_t i : {3u, 5u, 64u, 129u, 130u}) EXPECT_EQ(cells.take(), i);
    for (std::uint32_t i = 0; i <= 130; ++i) cells.give_back(i);
    EXPECT_EQ(cells.end(), 0u);
    for (std::uint32_t i = 0; i < 192; ++i) EXPECT_EQ(cells.take(), i);
    EXPECT_EQ(cells.end(), 192u);
}

}  // namespace
}  // namespace vrambench::engine
