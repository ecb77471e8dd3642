#include "bench/call_table.hpp"

#include "samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vrambench {
namespace {

using namespace testing;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

/// One cell of one allocation by `path::grow` that took 30 us, 20 of them under work that had to run anyway.
run_document one_long_call()
{
    run_document run;
    cell c = sample_cell(sample_workload("w:a=1", 2, 10, 1000), "vmm", "vmm", "vmm", std::nullopt);
    c.repetitions.push_back(sample_repetition(0, sample_pass(*c.workload, 1'000'000)));
    pass_measurement& p = c.repetitions[0].cold;
    p.alloc[static_cast<int>(path::hit)].add(50'000);
    p.alloc[static_cast<int>(path::grow)].add(30'000'000);
    p.alloc_parts[static_cast<int>(path::grow)].drain.add(20'000'000);
    p.alloc_parts[static_cast<int>(path::grow)].idle.add(10'000'000);
    run.cells.push_back(std::move(c));
    return run;
}

TEST(call_table, has_a_line_for_each_path_with_the_parts_of_long_calls)
{
    const std::string text = call_table(one_long_call());
    EXPECT_THAT(text, HasSubstr("w:a=1, no limit, kernels hold\n"));
    EXPECT_THAT(text, ContainsRegex("vmm +cold +alloc +grow +1 .* 20.0 us +10.0 us +10.0 us\n"));
    EXPECT_THAT(text, ContainsRegex("vmm +cold +alloc +hit +1 .* - +- +-\n"));
    EXPECT_THAT(text, Not(HasSubstr("free ")));
}

TEST(call_table, has_nothing_of_what_did_not_finish)
{
    run_document run = one_long_call();
    run.cells[0].repetitions[0].cold.result.what = status::oom;
    EXPECT_THAT(call_table(run), Not(HasSubstr("grow")));
}

}  // namespace
}  // namespace vrambench
