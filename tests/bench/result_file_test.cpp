#include "bench/result_file.hpp"

#include "golden.hpp"
#include "samples.hpp"
#include "spec/errors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

namespace vrambench {
namespace {

using namespace testing;
using nlohmann::json;
using ::testing::HasSubstr;

namespace fs = std::filesystem;

/// A folder of its own, gone at the end.
class result_file : public ::testing::Test {
protected:
    result_file() { fs::create_directories(folder_); }
    ~result_file() override { fs::remove_all(folder_); }
    std::string file(const std::string& name) const { return folder_ / name; }
    std::string written(const std::string& name, const std::string& text) const
    {
        std::ofstream(file(name), std::ios::binary) << text;
        return file(name);
    }

    fs::path folder_ = fs::path(::testing::TempDir()) /
                       ("vrambench_result_" + std::to_string(::getpid()) + "_" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string reading_error(const std::string& path)
{
    try {
        read_result(path);
    } catch (const input_error& e) {
        const std::string message = e.what();
        EXPECT_EQ(message.find('\n'), std::string::npos);
        return message;
    }
    ADD_FAILURE() << "no input_error";
    return {};
}

TEST(result_json, is_what_the_golden_files_say)
{
    expect_golden("run.json", result_text(sample_run()));
    expect_golden("awkward.json", result_text(awkward_run()));
    expect_golden("empty.json", result_text(run_document{}));
}

TEST(result_json, text_and_value_are_the_same_document)
{
    for (const run_document& run : {sample_run(), awkward_run(), run_document{}}) EXPECT_EQ(json::parse(result_text(run)), to_json(run));
}

TEST(result_json, comes_back_whole)
{
    for (const run_document& run : {sample_run(), awkward_run(), run_document{}}) {
        const json once = to_json(run);
        EXPECT_EQ(to_json(run_from_json(once)), once);
        EXPECT_EQ(result_text(run_from_json(json::parse(result_text(run)))), result_text(run));
    }
}

/// What only some passes have: parts of long calls, overruns, clocks, a reference in the same process.
run_document run_on_a_card()
{
    run_document run = sample_run();
    repetition& r = run.cells[0].repetitions[0];
    const auto driver = static_cast<int>(path::driver);
    r.cold.alloc_parts[driver].drain.add(40'000'001);
    r.cold.alloc_parts[driver].idle.add(5'000'000);
    r.steady->free_parts[driver].drain.add(0);
    r.steady->free_parts[driver].idle.add(9'000'000);
    r.cold.unsplit_calls = 2;
    r.cold.activity.stated_kernels = 4000;
    r.cold.activity.overrun_kernels = 0;
    r.before = card_condition{1980, 3201, 35, 120'500, {"idle"}};
    r.after = card_condition{1965, 3201, 41, 310'000, {}};
    r.reference = reference_measurement{950'000'000, {{"prefill", 1, 96, 950'000'000, {}}}, {}};
    r.reference->activity.span_ps = 940'000'000;
    return run;
}

TEST(result_json, comes_back_whole_from_a_card)
{
    const json once = to_json(run_on_a_card());
    EXPECT_EQ(to_json(run_from_json(once)), once);
    const repetition r = run_from_json(once).cells[0].repetitions[0];
    EXPECT_EQ(r.cold.alloc_parts[static_cast<int>(path::driver)].drain.sum(), 40'000'001);
    EXPECT_EQ(r.steady->free_parts[static_cast<int>(path::driver)].idle.count(), 1u);
    EXPECT_EQ(r.cold.unsplit_calls, 2u);
    EXPECT_EQ(r.cold.activity.overrun_kernels, 0);
    EXPECT_EQ(r.steady->activity.overrun_kernels, -1);    // it was not known there
    EXPECT_EQ(r.before.value().held_by, std::vector<std::string>{"idle"});
    EXPECT_EQ(r.after.value().power_mw, 310'000u);
    EXPECT_EQ(r.reference.value().time_ps, 950'000'000);
    EXPECT_EQ(r.reference->phases.at(0).tokens, 96u);
    EXPECT_EQ(r.reference->activity.span_ps, 940'000'000);
    EXPECT_FALSE(run_from_json(once).cells[1].repetitions[0].reference);
    expect_golden("card.json", result_text(run_on_a_card()));    // which the schema is held against
}

TEST(result_json, has_the_shape_of_the_design)
{
    const json j = to_json(sample_run());
    EXPECT_EQ(j.at("schema"), "vrambench.result/1");
    EXPECT_EQ(j.at("kind"), "run");
    const json& ideal = j.at("cells").at(0);
    EXPECT_EQ(ideal.at("reference"), true);
    EXPECT_EQ(ideal.at("device").at("simulated"), true);
    const json& retry = j.at("cells").at(2);
    EXPECT_EQ(retry.at("outcome"), json::parse(R"({"status":"completed"})"));
    // (1,263,000 - 960,000) ns over 100 tokens; prefill 300,000 over 96, decode 3,000 over 4.
    const json& added = retry.at("metrics").at("added_ns_per_token");
    EXPECT_EQ(added.at("unit"), "ns");
    EXPECT_EQ(added.at("median"), 3030.0);
    EXPECT_EQ(added.at("phases").at("prefill").at("median"), 3125.0);
    EXPECT_EQ(added.at("phases").at("decode").at("median"), 750.0);
    EXPECT_EQ(retry.at("steady").at("metrics").at("added_ns_per_token").at("median"), 4.5);
    EXPECT_EQ(retry.at("metrics").at("driver_calls").at("malloc"), 21);
    EXPECT_EQ(retry.at("metrics").at("oom").at("recovery_ns").at("idle").at("sync"), 2000.0);
    ASSERT_EQ(retry.at("repetitions").size(), 2u);
    EXPECT_EQ(retry.at("repetitions").at(0).at("pass"), "cold");
    EXPECT_EQ(retry.at("repetitions").at(1).at("pass"), "steady");
}

TEST(result_json, gives_no_number_for_what_did_not_finish)
{
    const json legacy = to_json(sample_run()).at("cells").at(1);
    EXPECT_TRUE(legacy.at("metrics").empty());
    EXPECT_EQ(legacy.at("outcome").at("cause"), "retained");
    EXPECT_EQ(legacy.at("outcome").at("tag"), "K");
    EXPECT_EQ(legacy.at("outcome").at("step"), 11);
    EXPECT_EQ(legacy.at("reached").at("peak_reserved_bytes"), 96 << 20);
    EXPECT_TRUE(legacy.at("repetitions").at(0).at("metrics").empty());
    EXPECT_EQ(legacy.at("repetitions").at(0).at("reached").at("events"), 40);
}

TEST(result_json, counts_steps_in_the_unit_of_a_trace_without_tokens)
{
    run_document run;
    const auto work = sample_workload("random:x=1", 5, 0, 10);
    run.cells = {sample_reference(work), sample_cell(work, "direct", "direct", "direct", std::nullopt)};
    run.cells[0].repetitions.push_back(sample_repetition(0, sample_pass(*work, 1'000'000)));
    run.cells[1].repetitions.push_back(sample_repetition(0, sample_pass(*work, 2'000'000)));
    const json added = to_json(run).at("cells").at(1).at("metrics").at("added_ns_per_token");
    EXPECT_EQ(added.at("unit"), "ns/step");
    EXPECT_EQ(added.at("per"), "step");
    EXPECT_EQ(added.at("median"), 200.0);
}

TEST(result_json, keeps_large_integers)
{
    const std::string text = result_text(awkward_run());
    EXPECT_THAT(text, HasSubstr("\"max_live_bytes\": 9007199254740993"));
    EXPECT_THAT(text, HasSubstr("\"vram_limit_bytes\": 9007199254740993"));
    EXPECT_THAT(text, HasSubstr("18446744073709551615"));
    EXPECT_THAT(text, HasSubstr("9223372036854775807"));
}

TEST(result_json, replaces_broken_text_and_numbers)
{
    run_document run = awkward_run();
    run.cells[0].repetitions[0].cold.live_byte_ps = std::numeric_limits<double>::infinity();
    run.cells[0].repetitions[0].cold.reserved_byte_ps = std::numeric_limits<double>::quiet_NaN();
    const json j = json::parse(result_text(run));
    EXPECT_TRUE(j.at("cells").at(0).at("repetitions").at(0).at("metrics").at("live_byte_ps").is_null());
    EXPECT_EQ(j.at("command").back(), "--out=\xEF\xBF\xBD\xEF\xBF\xBD.json");
    EXPECT_FALSE(j.at("cells").at(0).at("metrics").contains("byte_seconds_ratio"));
    EXPECT_EQ(to_json(run_from_json(j)), j);
}

TEST(result_json, lists_hazards)
{
    const json j = to_json(awkward_run()).at("cells").at(1);
    EXPECT_EQ(j.at("hazard_count"), 2);
    const json& hazards = j.at("repetitions").at(1).at("hazards");
    EXPECT_EQ(hazards.at(0).at("earlier_event"), 9);
    EXPECT_TRUE(hazards.at(1).at("earlier_event").is_null());
}

TEST(result_json, shows_whether_the_trace_may_be_opened)
{
    const run_document again = run_from_json(to_json(sample_run()));
    EXPECT_THROW(again.cells[0].workload->recipe->open(), std::logic_error);
    EXPECT_EQ(again.cells[0].workload->recipe->header().name, "kv-pair");
}

TEST_F(result_file, is_read_as_it_was_written)
{
    write_result(sample_run(), file("r.json"));
    EXPECT_EQ(read_file(file("r.json")), result_text(sample_run()));
    EXPECT_EQ(to_json(read_result(file("r.json"))), to_json(sample_run()));
}

TEST_F(result_file, gives_resume_its_repetitions)
{
    write_result(awkward_run(), file("r.json"));
    const run_document again = read_result(file("r.json"));
    ASSERT_EQ(again.cells.size(), 4u);
    EXPECT_EQ(again.cells[1].id, "vmm");
    ASSERT_EQ(again.cells[1].repetitions.size(), 2u);
    EXPECT_EQ(again.cells[1].repetitions[1].index, 1u);
    EXPECT_EQ(again.cells[1].repetitions[1].what, role::verify);
    EXPECT_EQ(again.cells[2].repetitions[0].disturbed, "another process took 2.0 GiB");
    EXPECT_EQ(again.cells[0].repetitions[0].cold.time_ps, INT64_MAX);
    EXPECT_EQ(again.cells[0].repetitions[0].cold.alloc[0].max(), INT64_MAX);
}

TEST_F(result_file, follows_a_run_as_it_grows)
{
    const run_document whole = sample_run();
    run_document run = whole;
    for (cell& c : run.cells) c.repetitions.clear();
    run.finished = false;
    result_writer writer(file("r.json"));
    writer.write(run);
    // The reference comes last here: what is derived from it must be written again.
    for (std::size_t i = run.cells.size(); i-- > 0;)
        for (const repetition& r : whole.cells[i].repetitions) {
            run.cells[i].repetitions.push_back(r);
            writer.write(run);
            ASSERT_EQ(read_file(file("r.json")), result_text(run));
        }
    run.cells[2].repetitions[0].disturbed = "afterwards";
    run.finished = true;
    writer.write(run);
    EXPECT_EQ(read_file(file("r.json")), result_text(run));
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

double seconds(const std::function<void()>& f)
{
    const auto begin = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

TEST_F(result_file, costs_little_to_write_again)
{
    run_document run = sample_run();
    const cell one = run.cells[2];
    run.cells.assign(200, one);
    result_writer writer(file("r.json"));
    writer.write(run);
    const double whole = seconds([&] { result_text(run); });
    double least = whole;
    for (std::size_t i = 0; i < 10; ++i) {
        run.cells[i].repetitions.push_back(one.repetitions[0]);
        least = std::min(least, seconds([&] { writer.write(run); }));
    }
    // Measured for 1,000 cells, 12 MB: 45 ms a write, half of it the disk's, where making all the text takes 1.1 s.
    EXPECT_LT(least, whole / 2);
}

TEST_F(result_file, says_what_is_wrong_with_others)
{
    EXPECT_THAT(reading_error(file("missing.json")), HasSubstr("cannot read"));
    EXPECT_THAT(reading_error(folder_), HasSubstr("cannot read"));
    EXPECT_THAT(reading_error(written("e.json", " \n")), HasSubstr("is empty"));
    EXPECT_THAT(reading_error(written("f.json", "[1, 2]")), HasSubstr("not a vrambench result"));
    EXPECT_THAT(reading_error(written("f.json", R"({"benchmarks": []})")), HasSubstr("not a vrambench result"));
    EXPECT_THAT(reading_error(written("f.json", R"({"schema": 3})")), HasSubstr("not a vrambench result"));
    EXPECT_THAT(reading_error(written("v.json", R"({"schema": "vrambench.result/2"})")), HasSubstr("'vrambench.result/2'"));
    EXPECT_THAT(reading_error(written("k.json", R"({"schema": "vrambench.result/1", "kind": "field"})")), HasSubstr("not a run"));
    EXPECT_THAT(reading_error(written("d.json", R"({"schema": "vrambench.result/1", "kind": "run"})")), HasSubstr("damaged"));
}

TEST_F(result_file, is_refused_wherever_it_is_cut_off)
{
    const std::string text = result_text(sample_run());
    for (std::size_t size = 1; size + 2 < text.size(); size += 997)
        EXPECT_THAT(reading_error(written("cut.json", text.substr(0, size))), HasSubstr("cut off")) << size;
}

TEST_F(result_file, is_refused_with_counts_that_are_none)
{
    const auto spoilt = [&](const std::function<void(json&)>& spoil) {
        json j = to_json(sample_run());
        spoil(j);
        return reading_error(written("n.json", j.dump()));
    };
    const auto entry = [](json& j) -> json& { return j["cells"][0]["repetitions"][0]; };
    for (const json& bad : {json(-1), json(1.5), json(true), json("1"), json(nullptr), json(1e300)}) {
        EXPECT_THAT(spoilt([&](json& j) { entry(j)["index"] = bad; }), HasSubstr("'index'")) << bad;
        EXPECT_THAT(spoilt([&](json& j) { entry(j)["metrics"]["free_bytes_at_start"] = bad; }), HasSubstr("'free_bytes_at_start'"));
        EXPECT_THAT(spoilt([&](json& j) { entry(j)["metrics"]["driver_calls"]["malloc"] = bad; }), HasSubstr("'malloc'"));
        EXPECT_THAT(spoilt([&](json& j) { entry(j)["metrics"]["cached_blocks_bytes"] = {bad}; }), HasSubstr("'cached_blocks_bytes'"));
        EXPECT_THAT(spoilt([&](json& j) { j["cells"][0]["workload"]["tokens"] = bad; }), HasSubstr("'tokens'"));
        EXPECT_THAT(spoilt([&](json& j) { j["seed"] = bad; }), HasSubstr("'seed'"));
        if (bad.is_null()) continue;    // no limit
        EXPECT_THAT(spoilt([&](json& j) { j["cells"][1]["vram_limit_bytes"] = bad; }), HasSubstr("'vram_limit_bytes'"));
    }
    EXPECT_THAT(spoilt([&](json& j) { entry(j)["metrics"]["time_ps"] = UINT64_MAX; }), HasSubstr("'time_ps'"));
    EXPECT_THAT(spoilt([&](json& j) { j["cells"][0]["workload"]["streams"] = std::uint64_t{1} << 40; }), HasSubstr("'streams'"));
}

TEST_F(result_file, is_refused_with_unknown_words)
{
    json j = to_json(sample_run());
    j["cells"][0]["repetitions"][0]["role"] = "spare";
    EXPECT_THAT(reading_error(written("w.json", j.dump())), HasSubstr("unknown role 'spare'"));
    j = to_json(sample_run());
    j["cells"][0]["repetitions"][0]["pass"] = "steady";
    EXPECT_THAT(reading_error(written("w.json", j.dump())), HasSubstr("without its cold pass"));
}

}  // namespace
}  // namespace vrambench
