#include "spec/errors.hpp"
#include "spec/json_reader.hpp"

#include <gtest/gtest.h>

namespace vrambench {
namespace {

/// What `read` is refused with; empty where it is not.
template <class Read> std::string refusal(const std::string& text, Read read)
{
    try {
        const auto j = parse_json(text, "f.json");
        const json_reader r(j, "f.json");
        read(r);
    } catch (const input_error& e) {
        return e.what();
    }
    return "";
}

std::string refusal(const std::string& text)
{
    return refusal(text, [](const json_reader&) {});
}

TEST(json_reader, refuses_what_is_no_object)
{
    for (const char* text : {"", "{", "hello", "{\"a\":NaN}"}) EXPECT_EQ(refusal(text), "f.json: not valid JSON") << text;
    for (const char* text : {"[]", "null", "5", "\"text\""}) EXPECT_EQ(refusal(text), "f.json: must be a JSON object") << text;
    EXPECT_EQ(refusal("{}"), "");
}

TEST(json_reader, reads_text_that_is_there)
{
    const auto text = [](const json_reader& r) { EXPECT_EQ(r.text("a"), "b"); };
    EXPECT_EQ(refusal(R"({"a": "b"})", text), "");
    EXPECT_EQ(refusal(R"({"a": ""})", text), "f.json: \"a\" must be text, and not empty");
    EXPECT_EQ(refusal(R"({"a": 5})", text), "f.json: \"a\" must be text, and not empty");
    EXPECT_EQ(refusal("{}", text), "f.json: \"a\" is missing");
}

TEST(json_reader, reads_numbers_within_bounds)
{
    const auto number = [](const json_reader& r) { EXPECT_EQ(r.number("a", 2, 9), 9u); };
    EXPECT_EQ(refusal(R"({"a": 9})", number), "");
    for (const char* value : {"1", "10", "-2", "2.0", "\"2\"", "null"})
        EXPECT_EQ(refusal(std::string("{\"a\": ") + value + "}", number), "f.json: \"a\" must be a whole number from 2 to 9") << value;
}

TEST(json_reader, names_the_place_of_what_is_inside)
{
    const auto flag = [](const json_reader& r) { EXPECT_TRUE(r.in("a").flag("b")); };
    EXPECT_EQ(refusal(R"({"a": {"b": true}})", flag), "");
    EXPECT_EQ(refusal(R"({"a": {"b": 1}})", flag), "f.json: a: \"b\" must be true or false");
    EXPECT_EQ(refusal(R"({"a": []})", flag), "f.json: \"a\" must be an object");
}

TEST(json_reader, refuses_keys_that_nobody_asked_for)
{
    const auto all = [](const json_reader& r) {
        r.has("growing"), r.has("idle");
        r.no_other_keys();
    };
    EXPECT_EQ(refusal(R"({"idle": 1})", all), "");
    EXPECT_EQ(refusal(R"({"idle": 1, "gorwing": 2})", all), "f.json: unknown key 'gorwing', did you mean 'growing'?");
}

}  // namespace
}  // namespace vrambench
