#include "bench/benchmark_bridge.hpp"

#include "golden.hpp"
#include "samples.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <set>

namespace vrambench {
namespace {

using namespace testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string refusal(const std::string& arg)
{
    try {
        check_benchmark_flags({arg});
    } catch (const input_error& e) {
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
        return e.what();
    }
    ADD_FAILURE() << "accepted: " << arg;
    return {};
}

TEST(bridge_flags, are_sorted)
{
    const benchmark_flags f = check_benchmark_flags({"--benchmark_filter=-legacy", "--benchmark_repetitions=9",
                                                     "--benchmark_color=false", "--benchmark_list_tests"});
    EXPECT_EQ(f.filter, "-legacy");
    EXPECT_EQ(f.repetitions, 9u);
    EXPECT_TRUE(f.list_only);
    EXPECT_THAT(f.passed_on, ElementsAre("--benchmark_color=false"));
    const benchmark_flags none = check_benchmark_flags({"--benchmark_list_tests=false"});
    EXPECT_FALSE(none.list_only);
    EXPECT_FALSE(none.repetitions);
}

TEST(bridge_flags, tell_who_reads_standard_output)
{
    EXPECT_FALSE(check_benchmark_flags({"--benchmark_out=" + ::testing::TempDir() + "x.json", "--benchmark_out_format=json"}).writes_data);
    EXPECT_FALSE(check_benchmark_flags({"--benchmark_format=console"}).writes_data);
    EXPECT_TRUE(check_benchmark_flags({"--benchmark_format=json"}).writes_data);
    EXPECT_TRUE(check_benchmark_flags({"--benchmark_format=csv"}).writes_data);
}

TEST(bridge_flags, that_choose_or_shuffle_are_refused)
{
    for (const char* name : {"min_time=0.5", "min_warmup_time=1", "enable_random_interleaving", "enable_random_interleaving=true",
                             "perf_counters=CYCLES", "dry_run"})
        EXPECT_THAT(refusal(std::string("--benchmark_") + name), HasSubstr("is not possible here")) << name;
}

TEST(bridge_flags, are_checked_before_measuring)
{
    EXPECT_THAT(refusal("--benchmark_filtre=x"), HasSubstr("did you mean '--benchmark_filter'?"));
    EXPECT_THAT(refusal("--benchmark_filter=(((("), HasSubstr("not a regular expression"));
    EXPECT_THAT(refusal("--benchmark_filter"), HasSubstr("needs a value"));
    EXPECT_THAT(refusal("--benchmark_repetitions=many"), HasSubstr("--benchmark_repetitions"));
    EXPECT_THAT(refusal("--benchmark_repetitions=0"), HasSubstr("--benchmark_repetitions"));
    EXPECT_THAT(refusal("--benchmark_format=xml"), HasSubstr("one of console, json, csv"));
    EXPECT_THAT(refusal("--benchmark_out_format=jsn"), HasSubstr("did you mean 'json'?"));
    EXPECT_THAT(refusal("--benchmark_time_unit=parsec"), HasSubstr("one of ns, us, ms, s"));
    for (const char* name : {"format", "out_format", "time_unit", "color", "context", "context=x"})
        EXPECT_THAT(refusal(std::string("--benchmark_") + name), HasSubstr("needs a value")) << name;
    EXPECT_THAT(refusal("--benchmark_out=/no/such/folder/x.json"), HasSubstr("cannot write"));
    EXPECT_THAT(refusal("--verbose"), HasSubstr("not a --benchmark_ option"));
}

TEST(bridge_filter, searches_and_negates)
{
    EXPECT_TRUE(name_filter("legacy").matches("run/sim/legacy/x"));
    EXPECT_FALSE(name_filter("^legacy").matches("run/sim/legacy/x"));
    EXPECT_FALSE(name_filter("-legacy").matches("run/sim/legacy/x"));
    EXPECT_TRUE(name_filter("-legacy").matches("run/sim/vmm/x"));
    EXPECT_TRUE(name_filter("(vmm|async)/.*limit:none$").matches("run/sim/vmm/x/limit:none"));
    EXPECT_TRUE(name_filter("all").matches("x"));
    EXPECT_TRUE(name_filter("").matches("x"));
}

TEST(bridge_names, say_every_part_of_a_cell)
{
    const run_document run = sample_run();
    EXPECT_EQ(benchmark_name(run.cells[2]),
              "run/sim:h200/legacy-retry:retry=flush/kv-pair:heads=8,tokens=100,sync=none/limit:512MiB");
    EXPECT_EQ(benchmark_name(run.cells[0]), "run/sim:h200/ideal/kv-pair:heads=8,tokens=100,sync=none/limit:none/reference");
    cell c = run.cells[2];
    c.mode = run_mode::graph;
    c.kernels = kernel_model::traffic;
    c.kernel_scale = "0.5";
    EXPECT_THAT(benchmark_name(c), ::testing::EndsWith("/limit:512MiB/mode:graph/kernels:traffic/kernel_scale:0.5"));
    std::set<std::string> names;
    for (const cell& each : run.cells) EXPECT_TRUE(names.insert(benchmark_name(each)).second);
}

class bridge : public ::testing::Test {
protected:
    ~bridge() override { std::filesystem::remove(file_); }

    /// What the library writes to its own JSON; `errors` is the answer.
    nlohmann::json report(const run_document& run)
    {
        const std::vector<std::string> args{"--benchmark_out=" + file_, "--benchmark_out_format=json"};
        ::testing::internal::CaptureStdout();
        ::testing::internal::CaptureStderr();
        errors_ = report_with_google_benchmark(run, check_benchmark_flags(args).passed_on);
        console_ = ::testing::internal::GetCapturedStdout();
        ::testing::internal::GetCapturedStderr();
        return nlohmann::json::parse(read_file(file_));
    }

    std::string file_ = ::testing::TempDir() + "/vrambench_bridge_" + std::to_string(::getpid()) + ".json";
    std::string console_;
    int errors_ = 0;
};

TEST_F(bridge, reports_samples_counters_and_failures)
{
    const nlohmann::json runs = report(sample_run()).at("benchmarks");
    ASSERT_EQ(runs.size(), 6u);
    EXPECT_EQ(errors_, 3);   // oom, unsupported, not measured
    EXPECT_THAT(runs[2].at("name"), StartsWith("run/sim:h200/legacy-retry:retry=flush/"));
    EXPECT_NEAR(runs[2].at("real_time").get<double>(), 1.263, 1e-9);
    EXPECT_EQ(runs[2].at("time_unit"), "ms");
    EXPECT_EQ(runs[2].at("iterations"), 1);
    EXPECT_EQ(runs[2].at("peak_reserved_bytes"), 96.0 * (1 << 20));
    EXPECT_EQ(runs[2].at("added_ns_per_token"), 3030.0);
    EXPECT_EQ(runs[2].at("label"), "simulated");
    EXPECT_EQ(runs[1].at("error_occurred"), true);
    EXPECT_EQ(runs[1].at("error_message"), "oom: retained at step 11");
    EXPECT_EQ(runs[5].at("error_message"), "not measured");
    EXPECT_THAT(console_, HasSubstr("oom: retained at step 11"));
}

TEST_F(bridge, gives_each_repetition_its_own_sample)
{
    run_document run;
    const auto work = sample_workload("w", 1, 1, 1);
    run.cells.push_back(sample_cell(work, "direct", "direct", "direct", std::nullopt));
    for (std::uint64_t i = 0; i < 3; ++i)
        run.cells[0].repetitions.push_back(sample_repetition(i, sample_pass(*work, 1'000'000'000 * static_cast<std::int64_t>(i + 1))));
    run.cells[0].repetitions[1].disturbed = "clock drop";
    std::vector<double> times;
    const nlohmann::json all = report(run).at("benchmarks");
    for (const auto& r : all)
        if (r.at("run_type") == "iteration") times.push_back(r.at("real_time"));
    ASSERT_EQ(times.size(), 2u);
    EXPECT_NEAR(times[0], 1.0, 1e-9);
    EXPECT_NEAR(times[1], 3.0, 1e-9);
}

TEST_F(bridge, writes_json_without_nan)
{
    run_document run = awkward_run();
    report(run);   // parsing it is the check
    EXPECT_GT(errors_, 0);
}

TEST_F(bridge, divides_by_no_zero)
{
    run_document run;
    const auto work = sample_workload("w", 1, 1, 1);
    for (const std::int64_t time_ps : {0, 1000}) {
        run.cells.push_back(sample_cell(work, "direct", "direct", "direct", std::nullopt));
        for (std::uint64_t i = 0; i < 2; ++i) run.cells.back().repetitions.push_back(sample_repetition(i, sample_pass(*work, time_ps)));
    }
    const nlohmann::json runs = report(run).at("benchmarks");   // parsing it is the check
    EXPECT_EQ(runs[0].at("error_message"), "took no time");
    EXPECT_FALSE(runs[1].contains("flushes"));
    EXPECT_EQ(errors_, 1);
}

TEST_F(bridge, has_nothing_to_do_for_an_empty_run)
{
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(report_with_google_benchmark(run_document{}, {}), 0);
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
}

}  // namespace
}  // namespace vrambench
