#include "bench/planner.hpp"

#include "spec/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vrambench {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

const std::string pair = "kv-pair:heads=1,head-dim=64,step=512,to=2048";
const std::string lifo = "random:events=100";

run_request request(std::vector<std::string> allocators = {"legacy", "vmm"})
{
    run_request r;
    r.device = "sim:h200";
    r.allocators = std::move(allocators);
    r.workloads = {pair};
    return r;
}

/// "vmm", or "ideal (reference)".
std::vector<std::string> names(const run_plan& plan)
{
    std::vector<std::string> all;
    for (const auto& c : plan.document.cells) all.push_back(c.allocator.name + (c.reference ? " (reference)" : ""));
    return all;
}

TEST(planner, makes_no_cell_twice)
{
    run_request r = request({"legacy", "vmm", "legacy", "legacy:retry=none"});
    r.workloads = {pair, pair, "kv-pair:heads=1,head-dim=64,step=512,to=2048,layers=1"};
    r.kernels = {kernel_model::hold, kernel_model::traffic, kernel_model::hold};
    r.kernel_scales = {"1", "1.0", "0.5"};
    r.vram_limits = {"none", "1GiB", "1024MiB"};
    const run_plan plan = make_plan(r);
    // Two allocators at two limits and one reference, with two kernel models and two scales.
    EXPECT_EQ(plan.document.cells.size(), (2u * 2 + 1) * 2 * 2);
    for (const auto& c : plan.document.cells) EXPECT_THAT((std::vector<std::string>{"1", "0.5"}), ::testing::Contains(c.kernel_scale));
}

TEST(planner, refuses_scales_that_stop_time)
{
    for (const char* scale : {"0", "0.0", "-1", "", "x"}) {
        run_request r = request();
        r.kernel_scales = {scale};
        EXPECT_THROW(make_plan(r), input_error) << scale;
    }
}

TEST(planner_filter, keeps_the_reference)
{
    run_request r = request({});
    r.filter = "vmm";
    EXPECT_THAT(names(make_plan(r)), ElementsAre("vmm", "ideal (reference)"));
    r.reference = false;
    EXPECT_THAT(names(make_plan(r)), ElementsAre("vmm"));
    r = request({});
    r.filter = "vmm|ideal";
    EXPECT_THAT(names(make_plan(r)), ElementsAre("vmm", "ideal"));
}

TEST(planner_filter, drops_the_references_of_what_is_left_out)
{
    run_request r = request({"vmm"});
    r.workloads = {pair, lifo};
    r.filter = "kv-pair";
    const run_plan plan = make_plan(r);
    EXPECT_THAT(names(plan), ElementsAre("vmm", "ideal (reference)"));
    for (const auto& c : plan.document.cells) EXPECT_EQ(c.workload->recipe->header().name, "kv-pair");
    r.filter = "nothing-like-it";
    EXPECT_THROW(make_plan(r), input_error);
}

TEST(schedule, numbers_each_role_by_itself)
{
    std::vector<std::pair<role, std::uint64_t>> seen;
    for (const auto& s : schedule(1, 3, 1, true)) seen.emplace_back(s.what, s.round);
    EXPECT_THAT(seen, ElementsAre(std::pair{role::timed, 0u}, std::pair{role::memory, 0u}, std::pair{role::verify, 0u},
                                  std::pair{role::timed, 1u}, std::pair{role::timed, 2u}));
    EXPECT_EQ(schedule(2, 3, 1, false).size(), 6u);
}

TEST(schedule, holds_every_cell_once_a_round)
{
    const auto order = schedule(3, 4, 7, false);
    for (std::size_t round = 0; round < 4; ++round) {
        std::vector<std::size_t> cells;
        for (std::size_t i = 0; i < 3; ++i) cells.push_back(order[3 * round + i].cell);
        EXPECT_THAT(cells, UnorderedElementsAre(0u, 1u, 2u)) << round;
    }
}

}  // namespace
}  // namespace vrambench
