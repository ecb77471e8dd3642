// Whole recommendations from small result files: planted winners, filters, verdicts, rules and words.

#include "bench/decide/report.hpp"
#include "results.hpp"
#include "samples.hpp"
#include "spec/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vrambench::decide {
namespace {

using namespace vrambench::testing;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<double> fast{1.0, 1.001, 0.999}, slow{1.2, 1.21, 1.19};

recommendation answer(const run_document& run, const question& q = {})
{
    static platform p;    // a recommendation points into its platform
    p = platform_from(run);
    return recommend(p, q);
}

std::string name(const recommendation& r, std::size_t place)
{
    return r.over.where->allocators[r.over.candidates[place]].spec;
}

std::string page_of(const run_document& run, page_style style, const question& q = {})
{
    const platform p = platform_from(run);
    page to(style);
    write_report(to, p, recommend(p, q), q);
    return to.text();
}

/// vmm is as fast as legacy with less memory; async is slower; legacy runs out of memory at the limit.
run_document planted()
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"legacy", fast, 9}, {"vmm", fast, 1}, {"async", slow, 1}});
    add_situation(run, "y", std::nullopt, {{"legacy", fast, 9}, {"vmm", fast, 1}, {"async", slow, 1}});
    add_situation(run, "x", 1'250'000,
                  {{"legacy", {}, 9, failed_with(status::oom, "retained")}, {"vmm", fast, 1}, {"async", slow, 1}});
    return run;
}

TEST(recommendation, a_planted_winner_is_found)
{
    const recommendation r = answer(planted());
    EXPECT_EQ(r.is, verdict::winner);
    ASSERT_EQ(r.chosen.size(), 1u);
    EXPECT_EQ(name(r, r.chosen[0]), "vmm");
    EXPECT_EQ(r.sure.alone[r.chosen[0]], 1);
    EXPECT_EQ(r.why, "vmm stays the choice in 100.0 % of 1000 resamples");
    EXPECT_EQ(name(r, r.runner_up.value()), "async") << "legacy does not finish";
    EXPECT_THAT(r.to_win.at(0), HasSubstr("mean regret would have to fall from 20.00 % to 1.0"));
    EXPECT_TRUE(r.disagree.empty());
    ASSERT_EQ(r.rules.size(), 1u);
    EXPECT_EQ(r.rules[0], "vmm where a probe finds virtual memory usable, else async");
}

TEST(recommendation, the_reports_name_cells)
{
    const std::string text = page_of(planted(), page_style::text), markdown = page_of(planted(), page_style::markdown);
    EXPECT_THAT(text, HasSubstr("Recommendation: vmm. vmm stays the choice in 100.0 % of 1000 resamples."));
    EXPECT_THAT(markdown, HasSubstr("**Recommendation: vmm**"));
    EXPECT_THAT(markdown, HasSubstr("vmm `vmm/w:a=x/1250000`"));
    const platform p = platform_from(planted());
    const nlohmann::json j = report_json(p, recommend(p, {}), {});
    EXPECT_EQ(j["verdict"], "winner");
    EXPECT_EQ(j["choice"], nlohmann::json::array({"vmm"}));
    for (const auto& c : j["candidates"]) EXPECT_EQ(c["cells"].size(), 3u);
}

TEST(recommendation, corrupted_crashed_unsupported_and_hardly_measured_are_out)
{
    run_document run = planted();
    add_situation(run, "z", std::nullopt,
                  {{"legacy", {}, 1, failed_with(status::corrupted)},
                   {"vmm", fast},
                   {"async", {}, 1, failed_with(status::unsupported)},
                   {"rare", fast}});
    const recommendation r = answer(run);
    ASSERT_EQ(r.out.size(), 3u);
    EXPECT_EQ(r.out[0].reason, "corrupted at step 11");
    EXPECT_EQ(r.out[0].cells, std::vector<std::string>{"legacy/w:a=z"});
    EXPECT_EQ(r.out[1].reason, "unsupported at step 11");
    EXPECT_EQ(r.out[2].reason, "measured in 1 of 4 situations");
    EXPECT_EQ(r.is, verdict::winner);
    EXPECT_THAT(r.why, HasSubstr("nothing was compared"));
}

TEST(recommendation, requirements_filter)
{
    question q;
    q.require = parse_requirements({"completes"});
    recommendation r = answer(planted(), q);
    ASSERT_EQ(r.out.size(), 1u);
    EXPECT_THAT(r.out[0].reason, HasSubstr("oom: retained at step 11 with 1250000, where another completed"));
    q.require = parse_requirements({"safe"});
    r = answer(planted(), q);
    EXPECT_EQ(r.out.size(), 3u) << "nothing was verified";
    EXPECT_EQ(r.why, "no allocator passes the filters");
    q.require = parse_requirements({"limit=2MiB"});
    r = answer(planted(), q);
    ASSERT_EQ(r.out.size(), 1u) << "legacy took 9 MB";
    EXPECT_THAT(r.out[0].reason, HasSubstr("takes 8.58 MiB, and no run with 2MiB or less completed"));
    EXPECT_THROW(parse_requirements({"complete"}), input_error);
    EXPECT_THROW(parse_requirements({"limit=lots"}), input_error);
}

TEST(recommendation, a_run_with_full_verification_is_safe)
{
    run_document run = planted();
    for (cell& c : run.cells) {
        c.verify = verify_level::full;
        repetition r = sample_repetition(0, sample_pass(*c.workload, 1000));
        r.what = role::verify;
        if (!c.reference) c.repetitions.push_back(r);
    }
    question q;
    q.require.safe = true;
    EXPECT_EQ(answer(run, q).out.size(), 0u);
}

TEST(recommendation, equal_ones_few_processes_and_unstable_ones_have_no_clear_winner)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"legacy", fast}, {"vmm", fast}});
    EXPECT_EQ(answer(run).why, "legacy and vmm are equal within the margins");

    run = some_run();
    add_situation(run, "x", std::nullopt, {{"legacy", {1.0}}, {"vmm", {2.0}}});
    EXPECT_EQ(answer(run).is, verdict::no_clear_winner);
    EXPECT_THAT(answer(run).why, HasSubstr("only 1 used process,"));

    run = some_run();
    add_situation(run, "x", std::nullopt, {{"legacy", fast}, {"vmm", slow}});
    add_situation(run, "y", 1 << 20, {{"legacy", {1.5, 1.5, 1.5}}, {"vmm", fast}});
    const recommendation r = answer(run);
    EXPECT_EQ(r.is, verdict::no_clear_winner);
    EXPECT_THAT(r.why, HasSubstr("vmm comes out first, but stays the choice in only 7"));
    ASSERT_EQ(r.disagree.size(), 1u);
    EXPECT_NEAR(r.disagree[0].regret, 0.2, 0.001);
    ASSERT_EQ(r.rules.size(), 2u);
    EXPECT_EQ(r.rules[1], "limit=1MiB: vmm; limit=none: legacy (mean regret 0.00 % instead of 10.00 %)");
}

TEST(recommendation, nothing_in_common_and_nothing_finished)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"legacy", fast}});
    add_situation(run, "y", std::nullopt, {{"vmm", fast}});
    EXPECT_EQ(answer(run).why, "there is no situation in which all candidates were measured");

    run = some_run();
    const outcome oom = failed_with(status::oom, "live");
    add_situation(run, "x", std::nullopt, {{"legacy", {}, 1, oom}, {"vmm", {}, 1, oom}});
    EXPECT_EQ(answer(run).why, "no candidate finished anything");
    EXPECT_THAT(page_of(run, page_style::text), Not(HasSubstr("nan")));
}

TEST(recommendation, simulated_files_rank_no_time)
{
    run_document run = some_run(true);
    add_situation(run, "x", std::nullopt, {{"legacy", fast, 9}, {"vmm", slow, 1}, {"async", fast, 2}});
    const recommendation r = answer(run);
    EXPECT_EQ(r.is, verdict::without_times);
    EXPECT_TRUE(r.profile.empty());
    const std::string text = page_of(run, page_style::text);
    for (const char* word : {"regret", "added time", "idle", "resamples", "Recommendation"})
        EXPECT_THAT(text, Not(HasSubstr(word)));
    EXPECT_THAT(text, HasSubstr("SIMULATED"));
    EXPECT_THAT(text, HasSubstr("Break-even: legacy against async"));
    EXPECT_THAT(text, HasSubstr("vrambench probe --costs"));
}

TEST(recommendation, other_kernel_lengths_are_a_check_and_not_part_of_the_mix)
{
    run_document run = planted();
    for (const char* kernels : {"0.5", "2", "traffic"}) {
        run_document other = some_run();
        const std::string w = "x";
        const bool turned = std::string(kernels) == "2";
        add_situation(other, w, std::nullopt,
                      {{"legacy", turned ? fast : slow, 9}, {"vmm", turned ? slow : fast, 1}, {"async", slow, 1}});
        for (cell& c : other.cells) {
            if (std::string(kernels) == "traffic") c.kernels = kernel_model::traffic;
            else c.kernel_scale = kernels;
            run.cells.push_back(c);
        }
    }
    const recommendation r = answer(run);
    EXPECT_EQ(r.over.situations.size(), 3u);
    ASSERT_EQ(r.other_kernels.size(), 3u);
    EXPECT_EQ(r.other_kernels[0].chosen, r.chosen);
    EXPECT_NE(r.other_kernels[1].chosen, r.chosen);
    EXPECT_EQ(r.other_kernels[1].stays, 1);
    EXPECT_EQ(r.other_kernels[2].kernels, "traffic");
    const std::string text = page_of(run, page_style::markdown);
    EXPECT_THAT(text, HasSubstr("**W3** `w:a=x/limit:1250000`, weight 1:"));
    EXPECT_THAT(text, HasSubstr("**W6** `w:a=x/limit:none/kernels:traffic`, a check of the length of kernels, not part of the mix:"));
    const platform p = platform_from(run);
    const nlohmann::json j = report_json(p, recommend(p, {}), {});
    ASSERT_EQ(j["situations"].size(), 6u);
    EXPECT_EQ(j["situations"][0]["part"], "compared");
    EXPECT_EQ(j["situations"][5]["part"], "check");
}

TEST(recommendation, what_does_not_run_everywhere_can_be_a_rule)
{
    run_document run = some_run();
    add_situation(run, "x", std::nullopt, {{"legacy", slow}, {"direct", fast}, {"other", slow, 2}});
    add_situation(run, "y", std::nullopt,
                  {{"legacy", slow}, {"direct", {}, 1, failed_with(status::unsupported)}, {"other", slow, 2}});
    const recommendation r = answer(run);
    ASSERT_EQ(r.rules.size(), 1u);
    EXPECT_EQ(r.rules[0], "direct where it runs (1 of 2 situations), else legacy");
}

TEST(recommendation, the_weight_with_which_the_runner_up_would_win)
{
    run_document run = some_run();    // b loses 10 % in x, a 5 % in y: b wins from a weight of 2 less what the margin forgives
    add_situation(run, "x", std::nullopt, {{"legacy", {1.0, 1.0, 1.0}}, {"other", {1.1, 1.1, 1.1}}});
    add_situation(run, "y", std::nullopt, {{"legacy", {1.05, 1.05, 1.05}}, {"other", {1.0, 1.0, 1.0}}});
    const recommendation r = answer(run);
    ASSERT_EQ(r.to_win.size(), 2u);
    // other alone from the weight w at which (0.05 w - 0.1) / (1 + w) = 0.01
    EXPECT_EQ(r.to_win[1], "or the situations that prefer it would have to weigh 2.75x as much");
}

}  // namespace
}  // namespace vrambench::decide
