#include "bench/json_nesting.hpp"
#include "bench/trimmed_json.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace vrambench {
namespace {

constexpr trimmed_member bins[] = {{"bins", 2}};

TEST(trimmed_json, leaves_out_members_of_that_name_and_depth)
{
    EXPECT_EQ(without_members(R"({"a":{"bins":[1,{"x":2}],"b":3},"bins":[4]})", bins), R"({"a":{"bins":{},"b":3},"bins":[4]})");
    EXPECT_EQ(without_members(R"([{"bins" : "t" , "c":1}, {"bins":-1.5e3}])", bins), R"([{"bins" : {} , "c":1}, {"bins":{}}])");
    EXPECT_EQ(without_members(R"({"a":{"bins":null}})", bins), R"({"a":{"bins":{}}})");
    EXPECT_EQ(without_members("plain", bins), "plain");
}

TEST(trimmed_json, brackets_and_names_in_strings_are_text)
{
    const char* const text = R"({"a":{"c":"bins","d":"}\"{[","e":["bins"]}})";
    EXPECT_EQ(without_members(text, bins), text);
    EXPECT_EQ(without_members(R"({"a":{"bins":["]}\\\"","\\"],"b":1}})", bins), R"({"a":{"bins":{},"b":1}})");
}

TEST(json_nesting, counts_brackets_outside_of_strings)
{
    EXPECT_FALSE(is_nested_deeper("", 0));
    EXPECT_FALSE(is_nested_deeper(R"([{"a":[1]},[[]],{}])", 3));
    EXPECT_TRUE(is_nested_deeper(R"([{"a":[1]},[[]],{}])", 2));
    EXPECT_FALSE(is_nested_deeper(R"(["[[[[", "\"[[[[", "\\\\"])", 1));
    EXPECT_TRUE(is_nested_deeper(R"(["\\", [["]"]]])", 2));
    EXPECT_FALSE(is_nested_deeper("]]]]", 0));
    EXPECT_FALSE(is_nested_deeper("\"\\", 0));
}

TEST(trimmed_json, what_is_cut_off_is_no_json_afterwards)
{
    const std::string whole = R"({"a":{"bins":[1,"x\"y",{"z":2}],"b":"c"}})";
    for (std::size_t n = 1; n < whole.size(); ++n) {
        const std::string cut = without_members(std::string_view(whole).substr(0, n), bins);
        EXPECT_FALSE(nlohmann::json::accept(cut)) << n << ": " << cut;
    }
}

}  // namespace
}  // namespace vrambench
