// What the processes of a calibration measured: on its way to the parent, joined, and as a profile.

#include "bench/costs/cost_probe.hpp"
#include "bench/costs/cost_profile.hpp"
#include "bench/costs/cost_summary.hpp"
#include "bench/costs/cost_table.hpp"
#include "device/registry.hpp"
#include "device/sim/profile.hpp"
#include "spec/errors.hpp"
#include "tests/plain_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace vrambench;
using namespace vrambench::costs;
using nlohmann::json;
using testing::HasSubstr;

namespace {

cost_report measured(const std::string& device = test::plain_device(), bool quick = true)
{
    const auto dev = open_device(choose_device(device), {});
    return measure_costs(*dev, quick);
}

const calibration once{{"vrambench", "probe"}, "2026-11-30", "", 1, false, {}};

std::string refusal(const std::string& text)
{
    try {
        sim::parse_profile(text, "test");
    } catch (const input_error& e) {
        return e.what();
    }
    return "accepted";
}

}  // namespace

// -- a report

TEST(cost_report, keeps_the_lower_of_the_middle_two)
{
    cost_report r;
    r.add("launch", {9, 1, 5, 3});
    r.add("sync", {});
    r.add("wait", {-7});
    EXPECT_EQ(r.at({"launch"}), 3);
    EXPECT_EQ(r.at({"sync"}, -1), -1) << "nothing measured is not 0";
    EXPECT_EQ(r.at({"wait"}), 0) << "a difference of noise is no gain";
}

TEST(cost_report, survives_the_way_to_the_parent)
{
    cost_report r = measured();
    r.notes = {"one", "two\xff"};
    const cost_report back = report_from(json::parse(to_json(r).dump()));
    EXPECT_EQ(back.median_ps, r.median_ps);
    EXPECT_EQ(back.facts, r.facts);
    EXPECT_EQ(back.words, r.words);
    EXPECT_EQ(back.notes, (std::vector<std::string>{"one", "two\xef\xbf\xbd"}));
}

TEST(cost_report, nonsense_is_refused)
{
    const json good = to_json(measured());
    const auto refused = [&](const char* pointer, const json& value) {
        json j = good;
        j[json::json_pointer(pointer)] = value;
        EXPECT_ANY_THROW(report_from(j)) << pointer << " " << value;
    };
    refused("/points", {{"malloc", "idle", 256, -1}});
    refused("/points", {{"malloc", "idle", -256, 1}});
    refused("/points", {{"malloc", "idle", 256, 1.5}});
    refused("/points", {{"malloc", "asleep", 256, 1}});
    refused("/points", {{"malloc", "idle", 256}});
    refused("/points", {{"malloc", "idle", 256, 1}, {"malloc", "idle", 256, 2}});
    refused("/facts", {{"free_bytes", -1}});
    refused("/words", {{"name", 5}});
    for (const char* key : {"points", "facts", "words", "notes"}) {
        json j = good;
        j.erase(key);
        EXPECT_ANY_THROW(report_from(j)) << key;
    }
}

// -- over processes

TEST(cost_summary, spread_by_nearest_rank)
{
    samples ten;
    for (int i = 10; i >= 1; --i) ten.push_back(i * 100);
    const spread s = spread_of(ten);
    EXPECT_EQ(s.p10, 100);
    EXPECT_EQ(s.median, 500);
    EXPECT_EQ(s.p90, 900);
    EXPECT_EQ(s.processes, 10u);
    EXPECT_EQ(spread_of({7}).p10, 7);
    EXPECT_EQ(spread_of({7}).p90, 7);
}

TEST(cost_summary, joins_what_each_process_has)
{
    cost_report a, b, c;
    a.add("launch", {1000}), b.add("launch", {3000}), c.add("launch", {2000});
    b.add("graph_launch", {50});
    a.facts["raw_margin"] = 3, b.facts["raw_margin"] = 5, c.facts["raw_margin"] = 4;
    a.notes = {"x"}, c.notes = {"x"};
    const cost_summary s = summarise({a, b, c});
    EXPECT_EQ(s.find({"launch"})->median, 2000);
    EXPECT_EQ(s.find({"launch"})->processes, 3u);
    EXPECT_EQ(s.find({"graph_launch"})->processes, 1u);
    EXPECT_EQ(s.find({"sync"}), nullptr);
    EXPECT_EQ(s.facts.at("raw_margin"), 3u);
    EXPECT_EQ(s.notes, std::vector<std::string>{"x (2 of 3 processes)"});
}

TEST(cost_summary, sizes_of_one_column)
{
    cost_report r;
    r.add({"malloc", situation::idle, 4096}, {1}), r.add({"malloc", situation::idle, 256}, {1});
    r.add({"malloc", situation::loaded, 512}, {1}), r.add({"malloc2", situation::idle, 8}, {1});
    EXPECT_EQ(summarise({r}).sizes("malloc", situation::idle), (std::vector<std::uint64_t>{256, 4096}));
    EXPECT_TRUE(summarise({r}).sizes("malloc", situation::growing).empty());
}

// -- the profile

TEST(cost_profile, is_one_that_the_simulator_reads)
{
    const sim::profile p = sim::parse_profile(profile_text(summarise({measured()}), once), "test");
    EXPECT_EQ(p.name, "plain");
    EXPECT_THAT(p.source, HasSubstr("medians over 1 process"));
    EXPECT_EQ(p.launch, 4'600'000);
}

TEST(cost_profile, says_how_it_was_made)
{
    const calibration cut{{"vrambench", "probe", "--out", "x\xff"}, "2026-11-30", "", 10, true, {"process 2: crashed: SIGSEGV in free"}};
    const json j = json::parse(profile_text(summarise({measured(), measured()}), cut));
    EXPECT_EQ(j["measured"]["processes"], 2);
    EXPECT_EQ(j["measured"]["processes_asked"], 10);
    EXPECT_EQ(j["measured"]["interrupted"], true);
    EXPECT_EQ(j["measured"]["failures"][0], "process 2: crashed: SIGSEGV in free");
    EXPECT_EQ(j["measured"]["command"].size(), 4u);
    EXPECT_EQ(j["spread"]["malloc"]["idle"][0], json({4096, 31000, 31000, 31000}));
    EXPECT_EQ(j["spread"]["work_unit"]["idle"][0], json({0, 400, 400, 400})) << "picoseconds";
}

TEST(cost_profile, what_was_not_measured_is_named_by_the_simulator_and_not_invented)
{
    const auto without = [](const std::string& call) {
        cost_report r = measured();
        std::erase_if(r.median_ps, [&](const auto& p) { return p.first.call == call; });
        return refusal(profile_text(summarise({r}), once));
    };
    EXPECT_THAT(without("graph_launch"), HasSubstr("times_ns: \"graph_launch\" is missing"));
    EXPECT_THAT(without("set_access"), HasSubstr("calls_ns: \"set_access\" is missing"));
    EXPECT_THAT(without("pool.hit_merged"), HasSubstr("pool_ns: \"hit_merged\" is missing"));
    EXPECT_THAT(without("pool.per_mapped_chunk"), HasSubstr("pool_ns: \"per_new_chunk\" is missing"));
    EXPECT_THAT(without("work_unit"), HasSubstr("\"work_unit_ps\" is missing"));
}

TEST(cost_profile, cleaning_needs_both_its_figures)
{
    cost_report r = measured();
    r.add("clean_wait", {7'500'000'000});
    EXPECT_EQ(json::parse(profile_text(summarise({r}), once)).count("cleaning"), 0u);
    r.facts["clean_bytes_per_second"] = 560;
    EXPECT_EQ(json::parse(profile_text(summarise({r}), once))["cleaning"], json({{"wait_ns", 7'500'000}, {"bytes_per_second", 560}}));
}

TEST(cost_profile, chunk_prices_are_what_was_timed_less_their_mapping)
{
    cost_report r;
    r.add("pool.per_mapped_chunk", {16'000}), r.add("pool.grow_per_chunk", {36'400}), r.add("pool.remap_per_chunk", {15'000});
    const json j = json::parse(profile_text(summarise({r}), once))["pool_ns"];
    EXPECT_EQ(j["per_new_chunk"], 20);
    EXPECT_EQ(j["per_remapped_chunk"], 0) << "not below nothing";
}

// -- measuring

TEST(measure_costs, a_small_card_leaves_out_what_does_not_fit_and_says_so)
{
    const cost_report r = measured("sim:h200,vram=1GiB");
    EXPECT_THAT(r.notes, testing::Contains(HasSubstr("full card was not measured: less than 2 GiB free")));
    EXPECT_GT(r.at({"malloc", situation::idle, 64u << 20}), 0);
    EXPECT_EQ(r.at({"malloc", situation::idle, 1u << 30}, -1), -1) << "more than a quarter";
}

TEST(measure_costs, gives_everything_back)
{
    const auto dev = open_device(choose_device("sim:h200,vram=8GiB"), {});
    const auto before = dev->query_memory().free_bytes;
    measure_costs(*dev, false);
    EXPECT_EQ(dev->query_memory().free_bytes, before);
    EXPECT_EQ(dev->observer()->hazard_count(), 0u);
}

TEST(cost_table, shows_spread_and_every_situation)
{
    cost_report fast, slow;
    fast.add({"malloc", situation::idle, 2u << 20}, {33'000'000}), slow.add({"malloc", situation::idle, 2u << 20}, {51'000'000});
    fast.add({"malloc", situation::refused, 1u << 30}, {200'000'000});
    fast.add("work_unit", {412});
    const std::string table = cost_table(summarise({fast, slow}));
    EXPECT_THAT(table, HasSubstr("malloc      2MiB      33.0 (33.0-51.0)"));
    EXPECT_THAT(table, HasSubstr("refused"));
    EXPECT_THAT(table, HasSubstr("200.0 (200.0-200.0)"));
    EXPECT_THAT(table, HasSubstr("412 ps"));
}
