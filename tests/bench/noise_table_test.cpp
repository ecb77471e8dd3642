#include "bench/noise_table.hpp"

#include "samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vrambench {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// `ideal` on a card, ten tokens a pass: one process of 100 and 100 ns a token (cold, reference), one of 200 and 220.
run_document two_processes()
{
    const auto work = sample_workload("w:a=1", 2, 10, 1000);
    run_document run;
    run.cells.push_back(sample_reference(work));
    cell& c = run.cells.back();
    c.on.simulated = false;
    const auto add = [&](std::int64_t cold_ps, std::int64_t reference_ps) {
        c.repetitions.push_back(sample_repetition(c.repetitions.size(), sample_pass(*work, cold_ps)));
        const pass_measurement own = sample_pass(*work, reference_ps);
        c.repetitions.back().reference = {own.time_ps, own.phases, own.activity};
    };
    add(1'000'000, 1'000'000);
    add(2'000'000, 2'200'000);
    return run;
}

/// Means 100 and 210: mean squares 12,100 between (2 x 55^2 x 2 / 1) and 100 within (200 / 2); between = (12,100 - 100) / 2 = 6,000.
TEST(noise_table, tells_what_lies_between_processes)
{
    const std::string table = noise_table(two_processes());
    EXPECT_THAT(table, HasSubstr("prefill           2           155          77.5            10    98 %"));
}

TEST(noise_table, says_where_there_is_none)
{
    run_document run = two_processes();
    run.cells[0].repetitions.pop_back();
    EXPECT_THAT(noise_table(run), HasSubstr("no noise to show"));
    run = two_processes();
    run.cells[0].on.simulated = true;
    EXPECT_THAT(noise_table(run), HasSubstr("no noise to show"));
}

}  // namespace
}  // namespace vrambench
