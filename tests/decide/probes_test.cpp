// What a probe's report does to a recommendation: who it rejects, which rule it answers, and what it leaves unknown.

#include "bench/decide/probes.hpp"

#include "bench/decide/report.hpp"
#include "bench/probe/report.hpp"
#include "results.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace vrambench::decide {
namespace {

using namespace vrambench::testing;
using probing::level;
using probing::usability;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<double> fast{1.0, 1.001, 0.999}, slow{1.2, 1.21, 1.19};

probing::summed_finding found(const std::string& id, level how, const std::string& verdict, unsigned said = 3, unsigned asked = 3)
{
    return {{id, "question " + id, {verdict, how, "evidence of " + id, {}}}, said, asked, {{verdict, asked}}};
}

/// A report of the card of some_run().
probe_file report(std::vector<probing::summed_finding> findings)
{
    probe_file f{"probe.json", {}};
    f.report.command = {"vrambench", "probe"};
    f.report.environment = some_run().environment;
    f.report.device.kind = "cuda";
    f.report.device.name = "NVIDIA H200";
    f.report.device.spec = "cuda:0";
    f.report.date = "2026-11-30";
    f.report.finished = true;
    f.report.probes = {{"some", 3, std::move(findings)}};
    return f;
}

const auto works = found("vmm.one-reservation", level::fine, "works");
const auto fails = found("vmm.one-reservation", level::broken, "growth fails", 21, 30);

/// vmm is as fast as legacy with less memory, async is slower.
run_document run_of_three()
{
    run_document run = some_run();
    for (const char* w : {"x", "y"})
        add_situation(run, w, std::nullopt, {{"legacy", fast, 9}, {"vmm", fast, 1}, {"async", slow, 1}});
    return run;
}

struct answered {
    std::vector<platform> platforms;
    std::vector<std::string> notes;
    recommendation r;
};

std::unique_ptr<answered> recommend_with(std::vector<probe_file> reports, const run_document& run = run_of_three())
{
    auto a = std::make_unique<answered>();    // a recommendation points into its platform
    a->platforms = {platform_from(run)};
    a->notes = give_reports(a->platforms, std::move(reports));
    a->r = recommend(a->platforms[0], {});
    return a;
}

std::string chosen(const answered& a)
{
    return a.r.chosen.size() == 1 ? short_spec(a.platforms[0], a.r.over.candidates[a.r.chosen[0]]) : "several";
}

const probing::needed& pools() { return *probing::need_of("async"); }

TEST(probes, what_an_allocator_stands_on_and_is_broken_is_out_with_its_evidence)
{
    const auto a = recommend_with({report({fails})});
    EXPECT_EQ(chosen(*a), "legacy");
    ASSERT_EQ(a->r.out.size(), 1u);
    EXPECT_EQ(a->r.out[0].reason,
              "this card's probe of 2026-11-30 finds virtual memory unusable: question vmm.one-reservation: growth fails: evidence of "
              "vmm.one-reservation (21 of 30 processes) (vmm.one-reservation in probe.json)");
    EXPECT_THAT(a->r.rules, ElementsAre("vmm where a probe finds virtual memory usable (this card's probe of 2026-11-30 finds it "
                                        "unusable), else legacy"));
    const nlohmann::json j = report_json(a->platforms[0], a->r, {});
    EXPECT_EQ(j["rejected"][0]["allocator"], "vmm");
    EXPECT_EQ(j["rejected"][0]["probe"]["file"], "probe.json");
    EXPECT_EQ(j["rejected"][0]["probe"]["finding"]["id"], "vmm.one-reservation");
    EXPECT_EQ(j["probes"][0]["features"]["virtual memory"]["verdict"], "unusable");
}

TEST(probes, a_usable_feature_answers_the_rule)
{
    const auto a = recommend_with({report({works})});
    EXPECT_EQ(chosen(*a), "vmm");
    EXPECT_TRUE(a->r.out.empty());
    const std::string rule =
        "vmm where a probe finds virtual memory usable (this card's probe of 2026-11-30 finds it usable), else legacy";
    EXPECT_THAT(a->r.rules, ElementsAre(rule));
    for (const page_style style : {page_style::text, page_style::markdown}) {
        page to(style);
        write_report(to, a->platforms[0], a->r, {});
        EXPECT_THAT(to.text(), HasSubstr("virtual memory: usable; not asked: wait.create, wait.map,"));
    }
    const nlohmann::json j = report_json(a->platforms[0], a->r, {});
    EXPECT_EQ(j["rules"][0], rule);
    EXPECT_EQ(j["probes"][0]["date"], "2026-11-30");
    EXPECT_EQ(j["probes"][0]["features"]["virtual memory"]["verdict"], "usable");
    EXPECT_EQ(j["probes"][0]["features"]["stream-ordered pools"]["verdict"], "unknown");
}

TEST(probes, what_was_not_asked_is_unknown)
{
    for (const auto& other : {found("wait.map", level::fine, "does not wait"), found("vmm.kept-handle", level::open, "not asked")}) {
        const auto a = recommend_with({report({other})});
        EXPECT_EQ(chosen(*a), "vmm");
        EXPECT_THAT(a->r.rules, ElementsAre("vmm where a probe finds virtual memory usable (this card's probe of 2026-11-30 did "
                                            "not ask), else legacy"));
    }
}

TEST(probes, a_device_without_the_feature_rejects_and_a_defect_in_any_report_counts)
{
    const auto lacks = found("vmm.kept-handle", level::open, probing::not_supported);
    EXPECT_EQ(recommend_with({report({lacks})})->r.out.size(), 1u);
    EXPECT_EQ(recommend_with({report({works}), report({fails})})->r.out.size(), 1u);
}

TEST(probes, reports_belong_to_vendor_card_and_driver)
{
    probe_file other = report({fails});
    other.report.environment[2].text = "12080";
    const auto a = recommend_with({other});
    EXPECT_TRUE(a->r.out.empty());
    EXPECT_TRUE(a->platforms[0].probes.empty());
    EXPECT_THAT(a->notes, ElementsAre("probe.json is a probe of cuda NVIDIA H200 (9.0), driver 12080, of which the files hold no "
                                      "cell: it decides nothing here"));
    EXPECT_EQ(a->r.rules.at(0), "vmm where a probe finds virtual memory usable, else legacy");
}

TEST(probes, a_report_of_another_driver_of_the_same_version_is_only_a_note)
{
    run_document run = some_run();
    run.environment.push_back({"device.cuda:0.driver", "580.159.04", 0, false});
    add_situation(run, "x", std::nullopt, {{"vmm", {1.0}}});
    const auto notes_of = [&](const std::string& driver, std::size_t reports) {
        probe_file f = report({fails});
        if (!driver.empty()) f.report.environment.push_back({"device.cuda:0.driver", driver, 0, false});
        std::vector<platform> platforms = gather({{{"a.json", run}}, {}, {f}});
        const std::vector<std::string> notes = give_reports(platforms, {f});
        EXPECT_EQ(platforms.at(0).probes.size(), reports) << driver;
        return notes;
    };
    EXPECT_THAT(notes_of("580.159.04", 1), ElementsAre());
    EXPECT_THAT(notes_of("", 1), ElementsAre(HasSubstr("probe.json does not tell its driver: taken as 580.159.04")));
    EXPECT_THAT(notes_of("580.65.06", 0), ElementsAre("probe.json is a probe of cuda NVIDIA H200 (9.0), driver 580.65.06 (13000), of "
                                                      "which the files hold no cell: it decides nothing here"));
}

TEST(probes, what_is_wrong_at_another_setting_is_no_reason)
{
    const auto at_0 = found("integrity.pool.2.0", level::broken, "corrupted"), first = found("pools.first-call", level::fine, "works");
    const auto judged = [&](const char* threshold) {
        return probing::judge({{"some", 3, {first, at_0}}}, pools(), {{"threshold", threshold}}).is;
    };
    EXPECT_EQ(judged("max"), usability::usable);
    EXPECT_EQ(judged("0"), usability::unusable);
    EXPECT_EQ(judged("256MiB"), usability::unusable);
    const auto ignored = found("release.threshold.size", level::broken, "keeps less");
    EXPECT_EQ(probing::judge({{"some", 3, {first, ignored}}}, pools(), {{"threshold", "max"}}).is, usability::usable);
    EXPECT_EQ(probing::judge({{"some", 3, {first, ignored}}}, pools(), {{"threshold", "256MiB"}}).is, usability::unusable);

    const auto small = found("granularity.vmm", level::broken, "only 2MiB is usable");
    const probing::needed& vmm = *probing::need_of("vmm");
    EXPECT_EQ(probing::judge({{"some", 3, {works, small}}}, vmm, {{"handle", "2MiB"}}).is, usability::usable);
    EXPECT_EQ(probing::judge({{"some", 3, {works, small}}}, vmm, {{"handle", "granularity"}}).is, usability::unusable);
}

TEST(probes, a_report_is_read_as_it_was_written)
{
    probe_file f = report({works, fails, found("wait.free.small", level::costly, "waits", 2, 3)});
    f.report.quick = true;
    f.report.device.claims = {{"virtual memory", "yes"}};
    const std::string text = probing::probe_text(f.report);
    EXPECT_EQ(probing::probe_text(probing::report_from(nlohmann::json::parse(text))), text);
}

}  // namespace
}  // namespace vrambench::decide
