// What is taken out of result files, and how files are joined.

#include "bench/decide/evidence.hpp"

#include "bench/decide/weights.hpp"
#include "results.hpp"
#include "samples.hpp"
#include "spec/errors.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace vrambench::decide {
namespace {

using namespace vrambench::testing;

std::vector<platform> gathered(const std::vector<run_document>& runs)
{
    inputs in;
    for (std::size_t i = 0; i < runs.size(); ++i) in.runs.push_back({"file" + std::to_string(i) + ".json", runs[i]});
    return gather(in);
}

TEST(evidence, one_platform_a_card_class_and_driver)
{
    run_document a = some_run(), b = some_run(), sim = some_run(true);
    for (run_document* run : {&a, &b, &sim}) add_situation(*run, "x", std::nullopt, {{"vmm", {1.0}}});
    EXPECT_EQ(gathered({a, b}).size(), 1u);
    b.environment[2].text = "12080";
    const std::vector<platform> p = gathered({a, b, sim});
    ASSERT_EQ(p.size(), 3u);
    EXPECT_EQ(p[0].card, "NVIDIA H200 (9.0)");
    EXPECT_EQ(platform_name(p[0]), "cuda NVIDIA H200 (9.0), driver 13000");
    EXPECT_EQ(platform_name(p[1]), "cuda NVIDIA H200 (9.0), driver 12080");
    EXPECT_TRUE(p[0].real && p[1].real);
    EXPECT_FALSE(p[2].real);
}

TEST(evidence, cells_of_a_merged_file_belong_to_the_platforms_that_measured_them)
{
    run_document merged = some_run(), other = some_run();
    add_situation(merged, "x", std::nullopt, {{"vmm", {1.0}}});
    add_situation(other, "x", std::nullopt, {{"vmm", {1.0}}});
    other.environment[2].text = "12080";
    merged.environments = {{merged.environment, {}}, {other.environment, {}}};
    merged.environment = {{"commit", "abc", 0, false}};    // what both share
    for (cell& c : merged.cells) c.environment = 0;
    for (cell& c : other.cells) {
        c.environment = 1;
        merged.cells.push_back(c);
    }
    const std::vector<platform> p = gathered({merged});
    ASSERT_EQ(p.size(), 2u);
    EXPECT_EQ(p[0].driver_version, "13000");
    EXPECT_EQ(p[1].driver_version, "12080");
}

run_document run_of_driver(const std::string& driver)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"vmm", {1.0}}});
    if (!driver.empty()) run.environment.push_back({"device.cuda:0.driver", driver, 0, false});
    return run;
}

TEST(evidence, drivers_of_one_driver_version_are_two_platforms)
{
    const std::vector<platform> p = gathered({run_of_driver("580.159.04"), run_of_driver("580.65.06")});
    ASSERT_EQ(p.size(), 2u);
    EXPECT_EQ(platform_name(p[0]), "cuda NVIDIA H200 (9.0), driver 580.159.04 (13000)");
    EXPECT_EQ(platform_name(p[1]), "cuda NVIDIA H200 (9.0), driver 580.65.06 (13000)");
}

TEST(evidence, a_file_without_a_driver_is_taken_with_the_only_one_of_its_card)
{
    const std::vector<platform> one = gathered({run_of_driver(""), run_of_driver("580.159.04")});
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].driver, "580.159.04");
    EXPECT_EQ(one[0].files.size(), 2u);
    ASSERT_EQ(one[0].notes.size(), 1u);
    EXPECT_EQ(one[0].notes[0], "file0.json does not tell its driver: taken as 580.159.04, the only one here of its card and "
                               "driver_version");
    const std::vector<platform> three = gathered({run_of_driver(""), run_of_driver("580.159.04"), run_of_driver("580.65.06")});
    ASSERT_EQ(three.size(), 3u) << "which of the two it was is not known";
    EXPECT_EQ(three[0].driver, "");
}

TEST(evidence, what_a_stand_in_answered_is_no_real_card)
{
    run_document run = some_run();
    run.environment.push_back({"answered_by_stand_in", "fake_child.py", 0, false});
    add_situation(run, "x", std::nullopt, {{"vmm", {1.0}}});
    EXPECT_FALSE(platform_from(run).real);
}

TEST(evidence, a_cell_of_several_files_has_the_processes_of_all)
{
    run_document a = some_run(), b = some_run();
    add_situation(a, "x", std::nullopt, {{"vmm", {1.0, 1.1}, 1}});
    add_situation(b, "x", std::nullopt, {{"vmm", {1.2}, 3}});
    b.environment[0].text = "def";
    const std::vector<platform> p = gathered({a, b});
    const evidence& e = p.at(0).situations.at(0).by_allocator.at(0);
    EXPECT_EQ(e.processes, 3u);
    EXPECT_EQ(e.cells.size(), 1u);
    EXPECT_EQ(e.bloat, 3) << "the worse one";
    ASSERT_EQ(e.times.size(), 1u);
    ASSERT_EQ(e.times[0].size(), 3u);
    EXPECT_NE(e.times[0][0].round, e.times[0][2].round);
    EXPECT_NEAR(e.times[0][2].slowdown, 1.2, 1e-9);
    EXPECT_NEAR(e.times[0][2].added_ns, 0.2 * 1e6 / 10, 1e-6) << "per token";
    ASSERT_EQ(p[0].notes.size(), 1u);
    EXPECT_EQ(p[0].notes[0], "its files come from different commits of the program: abc, def");
}

TEST(evidence, the_worst_failure_counts_and_disturbed_processes_do_not)
{
    run_document run = some_run();
    const std::vector<cell*> cells = add_situation(run, "x", std::nullopt, {{"vmm", {1.0, 1.0}}, {"legacy", {1.0, 9.0}}});
    cells[0]->repetitions[1].steady = sample_oom("pending");
    cells[1]->repetitions[1].disturbed = "another process";
    const situation s = platform_from(run).situations.at(0);
    EXPECT_FALSE(s.by_allocator[0].completed());
    EXPECT_TRUE(s.by_allocator[0].steady_failure);
    EXPECT_EQ(s.by_allocator[1].processes, 1u);
}

TEST(evidence, the_reference_is_no_candidate)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"vmm", {1.0}}});
    EXPECT_EQ(platform_from(run).allocators.size(), 1u);
}

TEST(evidence, without_a_reference_there_is_no_time)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"vmm", {1.0, 1.0, 1.0}}});
    run.cells.erase(run.cells.begin());
    const platform p = platform_from(run);
    EXPECT_TRUE(p.real);
    EXPECT_FALSE(p.timed());
    EXPECT_TRUE(p.situations.at(0).by_allocator.at(0).completed());
}

TEST(evidence, phases_share_by_pass_kind_and_depth)
{
    run_document run = some_run();
    const auto phases = [](pass_measurement& p) {
        p.phases = {{"prefill@0", 1, 4, 1000, {}},
                    {"decode@0", 1, 4, 1000, {}},
                    {"decode@8", 1, 4, 1000, {}},
                    {"fast-forward", 1, 0, 1000, {}}};
    };
    std::vector<cell*> cells = add_situation(run, "x", std::nullopt, {{"vmm", {1.0}}});
    for (repetition* r : {&run.cells[0].repetitions[0], &cells[0]->repetitions[0]}) {
        phases(r->cold);
        r->steady = r->cold;
    }
    const situation s = platform_from(run).situations.at(0);
    ASSERT_EQ(s.phases.size(), 6u) << "what has no tokens is left out";
    EXPECT_EQ(s.phases[0].name(), "prefill@0, cold");
    EXPECT_DOUBLE_EQ(s.phases[0].share, 0.25);
    EXPECT_DOUBLE_EQ(s.phases[1].share, 0.125);
    EXPECT_DOUBLE_EQ(std::accumulate(s.phases.begin(), s.phases.end(), 0.0,
                                     [](double sum, const phase_key& p) { return sum + p.share; }),
                     1);
}

TEST(weights, patterns_weigh_and_the_last_one_counts)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"vmm", {1.0}}});
    add_situation(run, "y", 1 << 20, {{"vmm", {1.0}}});
    std::vector<platform> p{platform_from(run)};
    weigh(p, {"a=.=3", "limit:1MiB=0.5"});
    EXPECT_EQ(p[0].situations[0].weight, 3);
    EXPECT_EQ(p[0].situations[1].weight, 0.5);
    keep_only(p, "limit:none");
    ASSERT_EQ(p[0].situations.size(), 1u);
    EXPECT_EQ(p[0].situations[0].workload, "w:a=x");
}

TEST(weights, refuse_what_is_no_weight)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"vmm", {1.0}}});
    std::vector<platform> p{platform_from(run)};
    for (const char* bad : {"x", "=3", "x=0", "x=-1", "x=nan", "x=", "nothing=1", "(=1"})
        EXPECT_THROW(weigh(p, {bad}), input_error) << bad;
    EXPECT_THROW(keep_only(p, "nothing"), input_error);
}

}  // namespace
}  // namespace vrambench::decide
