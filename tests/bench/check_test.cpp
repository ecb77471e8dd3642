// The pieces of `vrambench results check`; what it finds in whole files is asked from outside (tests/cli/results_test.py and
// results_fuzz_test.py).

#include "bench/check/trace_position.hpp"
#include "bench/json_errors.hpp"
#include "bench/reading_progress.hpp"
#include "bench/result_file.hpp"
#include "workloads/registry.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>

namespace vrambench {
namespace {

using checking::positions_in;
using checking::trace_position;

constexpr std::uint64_t mib = 1 << 20;

TEST(trace_position, by_hand)
{
    // step, K, V, two kernels that touch them, V and K given back.
    const auto t = make_trace("kv-pair:heads=8,head-dim=128,step=16384,to=16384", 1);
    const auto at = positions_in(*t, summarise(*t), {0, 2, 5, 100});
    EXPECT_EQ(at.at(0).steps, 0u);
    EXPECT_EQ(at.at(0).next.kind, event_kind::step);
    EXPECT_EQ(at.at(2).steps, 1u);
    EXPECT_EQ(at.at(2).allocs, 1u);
    EXPECT_EQ(at.at(2).live_bytes, 32 * mib);
    EXPECT_EQ(at.at(2).next.kind, event_kind::alloc);
    EXPECT_EQ(at.at(2).next.bytes, 32 * mib);
    EXPECT_EQ(at.at(5).launches, 2u);
    EXPECT_EQ(at.at(5).live_bytes, 64 * mib);
    EXPECT_TRUE(at.at(100).at_end);
    EXPECT_EQ(at.at(100).frees, 2u);
    EXPECT_EQ(at.at(100).live_bytes, 0u);
    EXPECT_EQ(at.at(100).peak_live_bytes, 64 * mib);
    ASSERT_EQ(at.at(100).phases.size(), t->header().phases.size());
    EXPECT_EQ(at.at(100).phases[0].tokens, 16384u);
}

TEST(trace_position, ends_where_the_summary_does)
{
    for (const char* spec : {"random:events=20000", "random:events=9000,streams=3", "server",
                             "fattn-session:model=llama-3.1-8b,prompt=512,depth=512,tokens=4"}) {    // replays graphs
        SCOPED_TRACE(spec);
        const auto t = make_trace(spec, 1);
        const trace_summary s = summarise(*t);
        const trace_position end = positions_in(*t, s, {s.events}).at(s.events);
        EXPECT_TRUE(end.at_end);
        EXPECT_EQ(end.allocs, s.alloc_calls);
        EXPECT_EQ(end.frees, s.free_calls);
        EXPECT_EQ(end.launches, s.launches);
        EXPECT_LE(end.touching_launches, end.launches);
        EXPECT_EQ(end.steps, s.steps);
        EXPECT_EQ(end.peak_live_bytes, s.max_live_bytes);
        std::uint64_t steps = 0, tokens = 0;
        for (const auto& f : end.phases) steps += f.steps, tokens += f.tokens;
        EXPECT_EQ(steps, s.steps);
        EXPECT_EQ(tokens, s.tokens);
    }
}

std::string words_of(const char* document, const std::function<void(const nlohmann::json&)>& read)
{
    try {
        read_at("here", [&] { read(nlohmann::json::parse(document)); });
    } catch (const input_error& e) {
        return e.what();
    }
    return "";
}

TEST(json_errors, are_in_our_words)
{
    const auto text_of_a = [](const nlohmann::json& j) { j.at("a").get<std::string>(); };
    EXPECT_EQ(words_of("{}", text_of_a), "here: 'a' is missing");
    EXPECT_EQ(words_of("[]", text_of_a), "here: an array stands where an object belongs");
    EXPECT_EQ(words_of(R"({"a": 3})", text_of_a), "here: a number stands where text belongs");
}

TEST(json_errors, say_where_in_a_result_file)
{
    const auto message = [](const char* document) { return words_of(document, [](const nlohmann::json& j) { run_from_json(j); }); };
    EXPECT_EQ(message(R"({"finished": true, "seed": 1, "command": [], "cells": [{}], "environment": {}})"), "here: cells/0: 'id' is missing");
    EXPECT_EQ(message(R"({"finished": true, "command": [], "cells": [], "environment": {}})"), "here: the document: 'seed' is missing");
    EXPECT_EQ(message(R"({"finished": true, "seed": 1, "command": [], "cells": [], "environment": {"host": []}})"),
              "here: environment: an array stands where text belongs");
}

class reading_line : public ::testing::Test {
protected:
    reading_progress over(std::vector<reading_step> steps, bool terminal = true)
    {
        return {out_, terminal, 80, std::move(steps), [this] { return now_; }};
    }
    double now_ = 1000;
    std::ostringstream out_;
};

TEST_F(reading_line, is_silent_for_two_seconds)
{
    auto p = over({{"a", 0.5}, {"b", 0.5}, {"c", 0.5}});
    p.next();
    now_ += 1;
    p.next();
    EXPECT_EQ(out_.str(), "");
    now_ += 2;    // it goes slower than was thought
    p.next();
    EXPECT_NE(out_.str().find("[3/3] c..."), std::string::npos);
}

TEST_F(reading_line, is_there_at_once_for_a_large_file)
{
    auto p = over({{"large.json", 30}});
    p.next();
    EXPECT_EQ(out_.str(), "\r[1/1] large.json... 30 s left");
    p.clear();
    EXPECT_TRUE(out_.str().ends_with("\r"));
}

TEST_F(reading_line, is_for_terminals_only)
{
    auto p = over({{"large.json", 30}}, false);
    p.next();
    EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace vrambench
