#include "bench/decide/comparison.hpp"
#include "bench/decide/comparison_json.hpp"
#include "bench/decide/comparison_text.hpp"
#include "bench/decide/environments.hpp"
#include "bench/decide/splits.hpp"
#include "bench/derive.hpp"
#include "samples.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/random_numbers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace vrambench {
namespace {

using testing::sample_cell;
using testing::sample_oom;
using testing::sample_pass;
using testing::sample_repetition;
using testing::sample_workload;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A card's run with a decode of 100 tokens, each 10,000 ns without an allocator: the default margin of 0.5 % is 50 ns.
constexpr std::int64_t ideal_ps = 100 * 10'000'000LL;

class card_run {
public:
    explicit card_run(std::string name) : workload_(sample_workload("kv-pair:heads=8", 4, 100, 64 * MiB))
    {
        named_.name = std::move(name);
        named_.run.finished = true;
        named_.run.environment = {{"commit", "abc", 0, false}, {"device.cuda:0.driver_version", "13000", 0, false}};
    }

    /// One timed repetition a value, each `added` nanoseconds a token beyond the reference of its round.
    card_run& add(const std::string& allocator, const std::vector<double>& added, std::uint64_t peak_bytes = 80 * MiB)
    {
        cell c = on_card(sample_cell(workload_, allocator, allocator, allocator, std::nullopt));
        for (const double ns : added) {
            pass_measurement p = sample_pass(*workload_, ideal_ps + static_cast<std::int64_t>(ns * 1000 * 100));
            p.phases[0].name = "decode";
            c.repetitions.push_back(numbered(c.repetitions.size(), p));
        }
        pass_measurement memory = sample_pass(*workload_, ideal_ps);
        memory.peak_device_bytes = peak_bytes;
        c.repetitions.push_back(numbered(0, memory));
        c.repetitions.back().what = role::memory;
        named_.run.cells.push_back(c);
        rounds_ = std::max<std::size_t>(rounds_, added.size());
        return *this;
    }

    card_run& add_failed(const std::string& allocator, pass_measurement pass)
    {
        cell c = on_card(sample_cell(workload_, allocator, allocator, allocator, std::nullopt));
        c.repetitions.push_back(numbered(0, std::move(pass)));
        named_.run.cells.push_back(c);
        return *this;
    }

    named_run done()
    {
        cell ideal = on_card(testing::sample_reference(workload_));
        for (std::size_t i = 0; i < rounds_; ++i) {
            pass_measurement p = sample_pass(*workload_, ideal_ps);
            p.phases[0].name = "decode";
            ideal.repetitions.push_back(numbered(i, p));
        }
        named_.run.cells.push_back(ideal);
        return std::move(named_);
    }

private:
    static cell on_card(cell c)
    {
        c.on = {"cuda", "NVIDIA H200", "cuda:0", false, {}};
        return c;
    }

    repetition numbered(std::uint64_t index, pass_measurement p)
    {
        repetition r = sample_repetition(index, std::move(p));
        r.process = ++process_;
        r.order = static_cast<std::uint64_t>(process_);
        return r;
    }

    named_run named_;
    std::shared_ptr<planned_workload> workload_;
    std::size_t rounds_ = 0;
    static inline std::int64_t process_ = 1000;
};

comparison compared(std::vector<named_run>& runs, comparison_settings how = {}) { return compare(runs, how); }

const metric_verdict& decode(const pair_verdict& p)
{
    for (const metric_verdict& m : p.metrics)
        if (m.metric == "added_ns_per_token" && m.phase == "decode") return m;
    throw std::logic_error("no added time");
}

const metric_verdict& bloat(const pair_verdict& p)
{
    for (const metric_verdict& m : p.metrics)
        if (m.metric == "device_bloat") return m;
    throw std::logic_error("no bloat");
}

const std::vector<double> quiet{100, 103, 98, 101, 97, 102};

TEST(compare, a_run_against_itself_is_the_same_everywhere)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet).add("vmm", {5}).add_failed("async", sample_oom("retained")).done()};
    runs.push_back(runs.front());
    const comparison c = compared(runs);
    EXPECT_EQ(c.counts.same, 5u);            // two added times, two bloats, one outcome
    EXPECT_EQ(c.counts.same, c.counts.same + c.counts.better + c.counts.worse + c.counts.not_enough_evidence + c.counts.outcome_changes);
    for (const pair_verdict& p : c.pairs) EXPECT_EQ(p.overall(), verdict::same);
}

TEST(compare, allocators_of_a_run_are_paired_by_round)
{
    // Rounds differ by far more than the allocators do.
    std::vector<named_run> runs{
        card_run("a").add("legacy", {100, 5100, 2100, 900, 7100, 3100}).add("direct", {302, 5299, 2301, 1099, 7300, 3302}).done()};
    const comparison c = compared(runs);
    ASSERT_EQ(c.pairs.size(), 1u);
    const metric_verdict& v = decode(c.pairs[0]);
    EXPECT_TRUE(v.paired);
    EXPECT_EQ(v.what, verdict::worse);
    EXPECT_NEAR(*v.difference, 200.5, 1e-6);
    EXPECT_GT(v.ci95->low, 195);
    EXPECT_NEAR(*v.ratio, (3.02 + 5299.0 / 5100 + 2301.0 / 2100 + 1099.0 / 900 + 7300.0 / 7100 + 3302.0 / 3100) / 6, 1e-9);
    EXPECT_TRUE(v.ratio_ci95);
}

// A card's child runs the reference in its own process: what differs between processes is no part of the added time.
TEST(compare, added_time_is_beyond_the_reference_of_the_same_process)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet).done(), card_run("b").add("legacy", quiet).done()};
    std::int64_t slower = 0;
    for (repetition& r : runs[1].run.cells[0].repetitions) {
        slower += 3'000'000'000;             // each process launches more slowly than the one before, by 30 us a token
        r.cold.time_ps += slower;
        r.cold.phases[0].time_ps += slower;
        r.reference = reference_measurement{ideal_ps + slower, {{"decode", 4, 100, ideal_ps + slower, {}}}, {}};
    }
    EXPECT_EQ(decode(compared(runs).pairs.at(0)).what, verdict::same);
    for (repetition& r : runs[1].run.cells[0].repetitions) r.reference.reset();
    EXPECT_NE(decode(compared(runs).pairs.at(0)).what, verdict::same);
}

TEST(compare, files_are_not_paired)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet).done(), card_run("b").add("legacy", {401, 399, 404, 398, 402, 400}).done()};
    const metric_verdict v = decode(compared(runs).pairs.at(0));
    EXPECT_FALSE(v.paired);
    EXPECT_EQ(v.what, verdict::worse);
    EXPECT_NEAR(v.margin, 0.005 * 10'100, 0.01);    // of the first process's time per token
    std::swap(runs[0], runs[1]);
    EXPECT_EQ(decode(compared(runs).pairs.at(0)).what, verdict::better);
}

TEST(compare, a_difference_below_the_margin_is_the_same_and_one_that_could_be_either_is_undecided)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet).done(), card_run("b").add("legacy", {112, 108, 111, 109, 113, 107}).done()};
    EXPECT_EQ(decode(compared(runs).pairs.at(0)).what, verdict::same);
    runs[1] = card_run("b").add("legacy", {20, 250, 130, 90, 210, 30}).done();
    const metric_verdict wide = decode(compared(runs).pairs.at(0));
    EXPECT_EQ(wide.what, verdict::not_enough_evidence);
    EXPECT_GT(*wide.processes_wanted, 6);
    EXPECT_GT(*wide.resolution, wide.margin);
}

// 1 % of an added time of 20 us a token, in 40 processes whose added times spread by 100 ns: with a margin of nothing it is found,
// with few processes it is below the resolution that is printed.
TEST(compare, one_per_cent_of_added_time_is_found_or_below_the_resolution)
{
    random_numbers r(5);
    const auto spread = [&](std::size_t n, double around) {
        std::vector<double> v(n);
        for (double& x : v) x = around + static_cast<double>(r.below(2000)) / 10 - 100;
        return v;
    };
    comparison_settings any;
    any.limits = thresholds({{"added_ns_per_token", {0, margin::unit::absolute}}});
    std::vector<named_run> many{card_run("a").add("legacy", spread(40, 20'000)).done(), card_run("b").add("legacy", spread(40, 20'200)).done()};
    const comparison found = compare(many, any);
    EXPECT_EQ(decode(found.pairs.at(0)).what, verdict::worse);
    EXPECT_LT(*decode(found.pairs.at(0)).resolution, 200);

    std::vector<named_run> few{card_run("a").add("legacy", {19'900, 20'300, 20'000, 19'500}).done(),
                               card_run("b").add("legacy", {20'100, 20'500, 20'200, 19'700}).done()};
    const comparison missed = compare(few, any);
    EXPECT_EQ(decode(missed.pairs.at(0)).what, verdict::not_enough_evidence);
    EXPECT_GT(*decode(missed.pairs.at(0)).resolution, 200);
}

TEST(compare, not_finishing_is_worse_than_any_number)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet).done(), card_run("b").add_failed("legacy", sample_oom("retained")).done()};
    const comparison lost = compared(runs);
    ASSERT_EQ(lost.pairs.at(0).outcomes.size(), 1u);
    EXPECT_EQ(lost.pairs[0].outcomes[0].what, verdict::worse);
    EXPECT_EQ(lost.pairs[0].outcomes[0].base, "completed");
    EXPECT_EQ(lost.pairs[0].outcomes[0].other, "oom: retained at step 11");
    EXPECT_TRUE(lost.pairs[0].metrics.empty());
    EXPECT_EQ(lost.counts.worse, 1u);
    std::swap(runs[0], runs[1]);
    EXPECT_EQ(compared(runs).pairs.at(0).outcomes.at(0).what, verdict::better);
}

TEST(compare, outcomes)
{
    const auto ended = [](status s, std::uint64_t step) {
        outcome o;
        o.what = s;
        o.step = step;
        return o;
    };
    EXPECT_EQ(judge_outcomes(ended(status::completed, 0), ended(status::completed, 0)), verdict::same);
    EXPECT_EQ(judge_outcomes(ended(status::completed, 0), ended(status::unsupported, 0)), verdict::worse);
    EXPECT_EQ(judge_outcomes(ended(status::oom, 3), ended(status::corrupted, 3)), verdict::worse);
    EXPECT_EQ(judge_outcomes(ended(status::crashed, 3), ended(status::oom, 3)), verdict::better);
    EXPECT_EQ(judge_outcomes(ended(status::oom, 3), ended(status::oom, 3)), verdict::same);
    EXPECT_EQ(judge_outcomes(ended(status::oom, 3), ended(status::oom, 30)), verdict::outcome_change);
}

TEST(compare, one_repetition_of_a_card_is_no_evidence)
{
    std::vector<named_run> runs{card_run("a").add("legacy", {100}).done(), card_run("b").add("legacy", {100}).done()};
    const comparison c = compared(runs);
    EXPECT_EQ(decode(c.pairs.at(0)).what, verdict::not_enough_evidence);
    EXPECT_FALSE(decode(c.pairs.at(0)).ci95);
    EXPECT_EQ(bloat(c.pairs.at(0)).what, verdict::not_enough_evidence);
}

TEST(compare, bytes_of_one_memory_repetition_count_where_the_timed_ones_agree)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet, 80 * MiB).done(), card_run("b").add("legacy", quiet, 96 * MiB).done()};
    EXPECT_EQ(bloat(compared(runs).pairs.at(0)).what, verdict::worse);
    EXPECT_DOUBLE_EQ(*bloat(compared(runs).pairs.at(0)).difference, 0.25);
    // A pool whose reserve differs from process to process: its one peak says little.
    runs[1].run.cells[0].repetitions[2].cold.peak_reserved_bytes += 1;
    EXPECT_EQ(bloat(compared(runs).pairs.at(0)).what, verdict::not_enough_evidence);
}

TEST(compare, what_is_simulated_is_compared_exactly)
{
    const auto w = sample_workload("kv-pair:heads=8", 4, 100, 64 * MiB);
    const auto simulated = [&](std::int64_t picoseconds) {
        named_run r{"sim", {}};
        r.run.finished = true;
        cell ideal = testing::sample_reference(w), c = sample_cell(w, "vmm", "vmm", "vmm", std::nullopt);
        ideal.repetitions.push_back(sample_repetition(0, sample_pass(*w, 1'000'000)));
        c.repetitions.push_back(sample_repetition(0, sample_pass(*w, picoseconds)));
        r.run.cells = {c, ideal};
        return r;
    };
    std::vector<named_run> runs{simulated(2'000'000), simulated(2'000'000)};
    EXPECT_EQ(compared(runs).counts.same, 1u);
    runs[1] = simulated(2'000'100);          // one picosecond a token
    const comparison c = compared(runs);
    EXPECT_EQ(c.counts.worse, 1u);
    EXPECT_TRUE(c.pairs.at(0).metrics.at(0).exact);
    comparison_settings tolerant;
    tolerant.limits = thresholds({{"added_ns_per_token", {0.001, margin::unit::share}}});
    EXPECT_EQ(compare(runs, tolerant).counts.same, 1u);
}

TEST(compare, a_described_metric_decides_once_it_has_a_margin)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet).done(), card_run("b").add("legacy", quiet).done()};
    for (repetition& r : runs[1].run.cells[0].repetitions) r.cold.end_reserved_bytes = 4 * MiB;
    EXPECT_EQ(compared(runs).counts.worse, 0u);
    comparison_settings judged;
    judged.limits = thresholds({{"end_reserved_bytes", {0, margin::unit::absolute}}});
    EXPECT_EQ(compare(runs, judged).counts.worse, 1u);
}

TEST(compare, environments_that_differ)
{
    std::vector<named_run> runs{card_run("a.json").add("legacy", quiet).done(), card_run("b.json").add("legacy", quiet).done()};
    runs[1].run.environment[1].text = "13010";
    EXPECT_THAT(compared(runs).warnings, Contains("driver_version differs: 13000 (a.json), 13010 (b.json)"));
    runs[0].run.environment.push_back({"device.cuda:0.driver", "580.159.04", 0, false});
    runs[1].run.environment.push_back({"device.cuda:0.driver", "580.65.06", 0, false});
    EXPECT_THAT(compared(runs).warnings, Contains("driver differs: 580.159.04 (a.json), 580.65.06 (b.json)"));
    for (cell& c : runs[1].run.cells) c.on.name = "NVIDIA A100";
    try {
        compared(runs);
        FAIL() << "two kinds of card were compared";
    } catch (const input_error& e) {
        EXPECT_THAT(e.what(), HasSubstr("a.json is of cuda NVIDIA H200, b.json of cuda NVIDIA A100"));
    }
}

TEST(compare, nothing_in_common)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet).done(), card_run("b").add("vmm", quiet).done()};
    EXPECT_THROW(compared(runs), input_error);
    runs.pop_back();
    EXPECT_THROW(compared(runs), input_error);       // one allocator alone
    comparison_settings unknown;
    unknown.allocators = {"legacy", "vmm"};
    EXPECT_THROW(compare(runs, unknown), input_error);
}

TEST(compare, cells_of_one_side_only_are_counted)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet).add("vmm", quiet).done(), card_run("b").add("legacy", quiet).done()};
    EXPECT_THAT(compared(runs).warnings, Contains("1 cell is in a only, not in b"));
}

TEST(compare, margins_as_they_are_typed)
{
    EXPECT_EQ(parse_margin_option("device_bloat=5%"), (std::pair<std::string, margin>{"device_bloat", {0.05, margin::unit::share}}));
    EXPECT_EQ(parse_margin_option("added_ns_per_token=200"),
              (std::pair<std::string, margin>{"added_ns_per_token", {200, margin::unit::absolute}}));
    for (const char* bad : {"device_bloat", "nothing=1", "device_bloat=", "device_bloat=-1", "device_bloat=x%", "alloc_ns=1"})
        EXPECT_THROW(parse_margin_option(bad), input_error) << bad;
    EXPECT_DOUBLE_EQ(amount({0.05, margin::unit::share}, -2, 0), 0.1);
    EXPECT_DOUBLE_EQ(amount({0.005, margin::unit::share}, 3, 10'000), 50);
}

// One comparison of 40 allocators with the base: two intervals in three dozen miss by chance, and neither is a regression.
TEST(compare, many_differences_are_judged_together)
{
    random_numbers r(30);
    const auto noise = [&](double around) {
        std::vector<double> v(5);
        for (double& x : v) {
            x = around;
            for (int k = 0; k < 6; ++k) x += static_cast<double>(r.below(2000)) / 100 - 10;
        }
        return v;
    };
    card_run run("a");
    run.add("legacy", noise(300));
    for (int i = 0; i < 40; ++i) run.add("vmm" + std::to_string(i), noise(300));
    run.add("direct", noise(900));
    std::vector<named_run> runs{run.done()};
    comparison_settings any;
    any.limits = thresholds({{"added_ns_per_token", {0, margin::unit::absolute}}});
    const comparison c = compare(runs, any);
    EXPECT_EQ(c.judged_together, 41u);
    EXPECT_EQ(c.counts.worse, 1u);
    EXPECT_EQ(c.counts.better, 0u);
    EXPECT_EQ(decode(c.pairs.back()).what, verdict::worse);
    const auto alone = std::count_if(c.pairs.begin(), c.pairs.end(), [](const pair_verdict& p) { return decode(p).test->p <= 0.05; });
    EXPECT_GT(alone, 1) << "the seed gives none that chance alone puts beyond the margin";
    EXPECT_THAT(comparison_text(c, {}, false), HasSubstr(" among 41 differences; about "));
    EXPECT_THAT(comparison_text(c, {}, false), HasSubstr("; 41 differences were judged together"));
    const auto j = nlohmann::json::parse(comparison_json(c));
    EXPECT_EQ(j["judged_together"], 41);
    const auto& direct = j["pairs"].back()["metrics"][0];
    EXPECT_DOUBLE_EQ(direct["p_adjusted"].get<double>(), std::min(1.0, 41 * direct["p"].get<double>()));
    EXPECT_TRUE(j["pairs"][0]["metrics"].back()["p"].is_null()) << "bytes that do not vary are no test";
}

TEST(compare, views_say_the_same)
{
    std::vector<named_run> runs{card_run("a").add("legacy", quiet).done(), card_run("b").add("legacy", {401, 399, 404, 398, 402, 400}).done()};
    const comparison c = compared(runs);
    EXPECT_THAT(comparison_text(c, {}, false), HasSubstr("added ns/token, decode, cold"));
    EXPECT_THAT(comparison_text(c, {}, false), HasSubstr("2 verdicts: 1 worse, 1 same\n"));
    EXPECT_THAT(comparison_markdown(c, true), HasSubstr("| **worse** |"));
    const auto j = nlohmann::json::parse(comparison_json(c));
    EXPECT_EQ(j["verdicts"]["worse"], 1);
    EXPECT_EQ(j["pairs"][0]["verdict"], "worse");
    EXPECT_EQ(j["pairs"][0]["metrics"][0]["base"]["processes"], 6);
    EXPECT_TRUE(j["pairs"][0]["metrics"][0]["ci95"].is_array());
}

// One allocator against itself, 60 processes an arm, with the outliers that a card has: a false verdict needs an interval that
// misses zero by more than the margin.
TEST(splits, of_one_allocator_find_next_to_nothing)
{
    random_numbers r(11);
    std::vector<double> added(120);
    for (double& v : added) {
        v = 300;
        for (int i = 0; i < 6; ++i) v += static_cast<double>(r.below(400)) / 10 - 20;
        if (r.below(20) == 0) v += 500;
    }
    const named_run run = card_run("a").add("legacy", added).done();
    for (const double typed : {50.0, 5.0, 0.0}) {
        std::ostringstream screen;
        progress shown(screen, false);
        const auto results =
            split_verdicts(run.run, {1000, {}, thresholds({{"added_ns_per_token", {typed, margin::unit::absolute}}}), 3}, shown);
        ASSERT_EQ(results.size(), 1u);
        EXPECT_EQ(results[0].repetitions, 120u);
        ASSERT_EQ(results[0].lines.size(), 1u);
        const auto& n = results[0].lines[0].counts;
        const auto wrong = n.better + n.worse;
        if (typed > 0) EXPECT_LE(wrong, typed > 10 ? 10u : 60u) << typed;
        else EXPECT_GT(wrong, 20u) << "without a margin a test of 5 % errs in about 5 %";
    }
}

TEST(splits, need_repetitions)
{
    std::ostringstream screen;
    progress shown(screen, true);
    EXPECT_THROW(split_verdicts(card_run("a").add("legacy", quiet).done().run, {}, shown), input_error);
    EXPECT_THROW(split_verdicts(testing::sample_run(), {}, shown), input_error);
    EXPECT_EQ(screen.str(), "");
}

TEST(splits, show_how_far_they_are)
{
    std::ostringstream screen;
    {
        progress shown(screen, true, 80, [] { return 0.0; });
        const named_run run = card_run("a").add("legacy", {1, 2, 3, 4, 5, 6, 7, 8}).add("vmm", {1, 2, 3, 4, 5, 6, 7, 8}).done();
        split_verdicts(run.run, {250, {}, {}, 3}, shown);
    }
    EXPECT_THAT(screen.str(), HasSubstr("\r[  1/200] 0 of 250 splits of legacy... "));
    EXPECT_THAT(screen.str(), HasSubstr("\r[200/200] 248 of 250 splits of vmm... "));
    EXPECT_THAT(screen.str(), ::testing::EndsWith(" \r"));
}

// Cold and steady of one process hang together: judged as one comparison they are a family of two.
TEST(splits, judge_what_one_split_asks_together)
{
    random_numbers r(4);
    std::vector<double> added(40);
    for (double& v : added) v = static_cast<double>(r.below(1000));
    named_run run = card_run("a").add("legacy", added).done();
    const split_settings any{400, {}, thresholds({{"added_ns_per_token", {0, margin::unit::absolute}}}), 3};
    std::ostringstream screen;
    progress shown(screen, false);
    const auto alone = split_verdicts(run.run, any, shown);
    for (cell& c : run.run.cells)
        for (repetition& again : c.repetitions)
            if (again.what == role::timed) {
                again.steady = again.cold;
                again.steady->phases[0].time_ps += c.reference ? 0 : static_cast<std::int64_t>(r.below(1000)) * 100'000;
                again.steady->time_ps = again.steady->phases[0].time_ps;
            }
    const auto both = split_verdicts(run.run, any, shown);
    ASSERT_EQ(both.at(0).lines.size(), 2u);
    EXPECT_LT(both[0].lines[0].counts.better + both[0].lines[0].counts.worse, alone.at(0).lines[0].counts.better + alone[0].lines[0].counts.worse);
}

}  // namespace
}  // namespace vrambench
