#include "bench/table.hpp"

#include "golden.hpp"
#include "samples.hpp"
#include "spec/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace vrambench {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

std::size_t widest(const std::string& text)
{
    std::istringstream lines(text);
    std::size_t most = 0;
    for (std::string line; std::getline(lines, line);) most = std::max(most, line.size());
    return most;
}

TEST(table, is_what_the_golden_files_say)
{
    expect_golden("run.table.txt", comparison_table(sample_run()));
    expect_golden("run.table.md", markdown_table(sample_run()));
    expect_golden("awkward.table.txt", comparison_table(awkward_run()));
}

TEST(table, fits_the_width)
{
    EXPECT_LE(widest(comparison_table(sample_run())), 120u);
    EXPECT_LE(widest(comparison_table(awkward_run())), 120u);
    run_document wide = sample_run();
    for (cell& c : wide.cells) c.allocator.title += std::string(60, 'x');
    EXPECT_LE(widest(comparison_table(wide)), 120u);
    EXPECT_THAT(comparison_table(wide), HasSubstr(std::string(60, 'x') + "\n"));   // a line of its own, nothing cut
}

TEST(table, says_simulated)
{
    EXPECT_THAT(comparison_table(sample_run()), HasSubstr("on simulated h200, limit 512MiB"));
    run_document gpu = sample_run();
    for (cell& c : gpu.cells) c.on = {"cuda", "0", "cuda:0", false, {}};
    EXPECT_THAT(comparison_table(gpu), Not(HasSubstr("simulated")));
}

TEST(table, hides_what_the_timer_cannot_see)
{
    run_document gpu = sample_run();   // its timer costs 20 ns: below 100 ns nothing is said
    for (cell& c : gpu.cells) {
        c.on.simulated = false;
        for (repetition& r : c.repetitions) {
            r.cold.alloc = {};
            r.cold.alloc[0].add(60'000);
        }
    }
    EXPECT_THAT(comparison_table(gpu), HasSubstr("< 100 ns"));
    EXPECT_THAT(comparison_table(gpu), Not(HasSubstr(" 60 ns")));
}

TEST(table, marks_cells_whose_kernels_overran)
{
    run_document gpu = sample_run();
    const auto with_overruns = [&](std::int64_t n) {
        for (cell& c : gpu.cells)
            for (repetition& r : c.repetitions) r.cold.activity.stated_kernels = 1000, r.cold.activity.overrun_kernels = n;
        return comparison_table(gpu);
    };
    EXPECT_THAT(with_overruns(10), Not(HasSubstr("overran")));
    EXPECT_THAT(with_overruns(23), HasSubstr("completed, 2.3 % overran"));
}

TEST(table, titles_lead_with_what_tells_tables_apart)
{
    run_document run = sample_run();
    const std::string one = comparison_table(run);
    EXPECT_EQ(one.rfind("kv-pair:heads=8,", 0), 0u);    // nothing to tell it from
    run.cells.push_back(run.cells[2]);
    run.cells.back().workload = sample_workload("kv-pair:heads=4,tokens=100,sync=none", 4, 100, 64 * MiB);
    run.cells.back().vram_limit_bytes = 652'800 * KiB;
    const std::string text = comparison_table(run);
    EXPECT_EQ(text.rfind("kv-pair: heads=8, limit 512MiB\n  on simulated h200, ", 0), 0u) << text;
    EXPECT_THAT(text, HasSubstr("\nkv-pair: heads=4, limit 637.5MiB\n"));
    EXPECT_THAT(text, HasSubstr("\n  kv-pair:heads=4,tokens=100,sync=none\n"));
    EXPECT_THAT(markdown_table(run), HasSubstr("**kv-pair: heads=4, limit 637.5MiB**: `kv-pair:heads=4,"));
}

TEST(table, limits_are_exact_in_a_readable_unit)
{
    const auto shown = [](std::uint64_t limit) {
        run_document run = sample_run();
        for (cell& c : run.cells)
            if (c.vram_limit_bytes) c.vram_limit_bytes = limit;
        const std::string text = comparison_table(run);
        const std::size_t at = text.find(", limit ") + 8;
        return text.substr(at, text.find(',', at) - at);
    };
    for (const auto& [limit, words] : std::vector<std::pair<std::uint64_t, std::string>>{
             {512 * MiB, "512MiB"}, {1536 * MiB, "1.5GiB"}, {652'800 * KiB, "637.5MiB"}, {GiB + 128 * KiB, "1024.125MiB"}, {569'083'166, "569083166"}}) {
        EXPECT_EQ(shown(limit), words);
        EXPECT_EQ(parse_size(words, "limit"), limit);
    }
}

TEST(table, a_reason_that_does_not_fit_stands_whole_under_the_table)
{
    run_document run = sample_run();
    const std::string reason = "event 5409 replays a graph that uses blocks freed since its capture and whose memory went back to the driver";
    run.cells[4].repetitions[0].cold.result.message = reason;
    const std::string text = comparison_table(run);
    EXPECT_THAT(text, HasSubstr("unsupported [1]\n"));
    EXPECT_THAT(text, HasSubstr("\n[1] unsupported: " + reason + "\n"));
}

TEST(table, says_why_there_are_two_rows_of_ideal)
{
    run_document run = sample_run();
    EXPECT_THAT(comparison_table(run), Not(HasSubstr("ideal keeps to the limit")));
    run.cells.push_back(run.cells[0]);
    run.cells.back().reference = false;
    run.cells.back().vram_limit_bytes = 512 * MiB;
    EXPECT_THAT(comparison_table(run), HasSubstr("ideal keeps to the limit, ideal (reference) has none"));
}

TEST(table, prints_words_for_what_did_not_finish)
{
    const std::string text = comparison_table(sample_run());
    EXPECT_THAT(text, HasSubstr("oom: retained at step 11\n"));
    EXPECT_THAT(text, HasSubstr("not measured\n"));
    EXPECT_THAT(text, HasSubstr("unsupported: frees are not last in, first out\n"));
}

TEST(table, has_no_differences_without_a_reference)
{
    run_document run = sample_run();
    run.cells.erase(run.cells.begin());
    const std::string text = comparison_table(run);
    EXPECT_THAT(text, Not(HasSubstr("reference")));
    EXPECT_THAT(text, HasSubstr("96.00 MiB"));
}

TEST(table, names_the_specs_where_there_are_several_devices)
{
    run_document run = sample_run();
    run.cells.push_back(run.cells[2]);
    run.cells.back().on.spec = "sim:h200,vram=4GiB";
    EXPECT_THAT(comparison_table(run), HasSubstr("on simulated h200 (sim:h200,vram=4GiB)"));
}

TEST(table, shows_the_reference_in_every_group_of_its_conditions)
{
    run_document run = sample_run();
    run.cells.push_back(run.cells[2]);
    run.cells.back().vram_limit_bytes = 256 * MiB;
    const std::string text = comparison_table(run);
    const std::size_t first = text.find("(reference)");
    EXPECT_NE(text.find("(reference)", first + 1), std::string::npos);
}

TEST(table, says_when_there_is_nothing)
{
    EXPECT_THAT(comparison_table(run_document{}), HasSubstr("no cells"));
    run_document only;
    only.cells.push_back(sample_reference(sample_workload("w", 1, 1, 1)));
    EXPECT_THAT(comparison_table(only), HasSubstr("not measured"));
}

TEST(table, keeps_control_characters_from_the_terminal)
{
    run_document run = sample_run();
    run.cells[4].repetitions[0].cold.result.message = "a\033[2Jb\nc\xff";
    EXPECT_THAT(comparison_table(run), HasSubstr("unsupported: a?[2Jb?c\xEF\xBF\xBD\n"));
}

TEST(table, paints_failures_when_asked)
{
    table_style style;
    EXPECT_THAT(comparison_table(sample_run(), style), Not(HasSubstr("\033")));
    style.color = true;
    EXPECT_THAT(comparison_table(sample_run(), style), HasSubstr("\033[31moom: retained at step 11\033[0m"));
    EXPECT_FALSE(style_for(-1).color);
}

TEST(table, chooses_digits)
{
    EXPECT_EQ(short_number(0), "0");
    EXPECT_EQ(short_number(0.001), "< 0.01");
    EXPECT_EQ(short_number(-0.001), "> -0.01");
    EXPECT_EQ(short_number(3.14159), "3.14");
    EXPECT_EQ(short_number(9.999), "10.0");
    EXPECT_EQ(short_number(-42.25), "-42.2");
    EXPECT_EQ(short_number(99.97), "100");
    EXPECT_EQ(short_number(1234567.8), "1,234,568");
    EXPECT_EQ(short_number(-1234), "-1,234");
    EXPECT_EQ(short_count(0), "0");
    EXPECT_EQ(short_count(2.5), "2.5");
    EXPECT_EQ(short_count(999'499), "999,499");
    EXPECT_EQ(short_count(1'234'567), "1,235k");
    EXPECT_EQ(short_count(12'345'678), "12.3M");
    EXPECT_EQ(short_count(5e9), "5.0G");
}

}  // namespace
}  // namespace vrambench
