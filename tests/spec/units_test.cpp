#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>

namespace vrambench {
namespace {

/// The message of the input_error that `f` throws; empty, and a failure, where it throws none.
std::string error_of(const std::function<void()>& f)
{
    try {
        f();
    } catch (const input_error& e) {
        return e.what();
    }
    ADD_FAILURE() << "no input_error";
    return {};
}

std::string size_error(const std::string& text)
{
    return error_of([&] { parse_size(text, "vram"); });
}

TEST(ParseSize, WholeAndFractional)
{
    EXPECT_EQ(parse_size("0", "x"), 0u);
    EXPECT_EQ(parse_size("1048576", "x"), MiB);
    EXPECT_EQ(parse_size("512MiB", "x"), 512 * MiB);
    EXPECT_EQ(parse_size("4GiB", "x"), 4 * GiB);
    EXPECT_EQ(parse_size("3KiB", "x"), 3072u);
    EXPECT_EQ(parse_size("2TiB", "x"), 2 * TiB);
    EXPECT_EQ(parse_size("67.20MiB", "x"), 70'464'307u);   // 70464307.2
    EXPECT_EQ(parse_size("50.40MiB", "x"), 52'848'230u);   // 52848230.4
    EXPECT_EQ(parse_size("1.05MiB", "x"), 1'101'005u);     // 1101004.8
    EXPECT_EQ(parse_size("0.5MiB", "x"), 512 * KiB);
    EXPECT_EQ(parse_size("1.0GiB", "x"), GiB);
}

TEST(ParseSize, RoundsToTheNearestByteHalvesUp)
{
    EXPECT_EQ(parse_size("0.00048828125KiB", "x"), 1u);                     // exactly half a byte
    EXPECT_EQ(parse_size("0.00048828124999999999999999999KiB", "x"), 0u);   // just below
    EXPECT_EQ(parse_size("0.99999999999999999999KiB", "x"), KiB);
    EXPECT_EQ(parse_size("1023.99999999999999999999TiB", "x"), 1024 * TiB);
}

TEST(ParseSize, LargestIsTwoToThe60)
{
    const std::uint64_t largest = std::uint64_t{1} << 60;
    EXPECT_EQ(parse_size("1152921504606846976", "x"), largest);
    EXPECT_EQ(parse_size("1048576TiB", "x"), largest);
    for (const char* text : {"1152921504606846977", "1048577TiB", "1048576.1TiB", "18446744073709551616",
                             "99999999999999999999999999GiB", "18446744073709551615KiB"})
        EXPECT_NE(size_error(text).find("too large"), std::string::npos) << text;
}

TEST(ParseSize, RefusesEverythingElse)
{
    for (const char* text :
         {"", " ", "12 MiB", " 12MiB", "12MiB ", "-1", "-1MiB", "+1", "NaN", "nan", "inf", "0x10", "1e6", "1e6MiB", ".5MiB",
          "5.MiB", "5.", "1.5", "MiB", "GiB", "12MiBs", "12,5MiB", "1_000", "12Mi", "1..2MiB", "1.2.3MiB", "12\n", "١"})
        EXPECT_EQ(size_error(text).rfind("vram: '", 0), 0u) << text;
}

TEST(ParseSize, SuggestsTheBinaryUnit)
{
    EXPECT_EQ(size_error("12MB"), "vram: '12MB' uses a decimal unit: write 12MiB");
    EXPECT_EQ(size_error("1.5GB"), "vram: '1.5GB' uses a decimal unit: write 1.5GiB");
    EXPECT_EQ(size_error("7kB"), "vram: '7kB' uses a decimal unit: write 7KiB");
    EXPECT_EQ(size_error("12M"), "vram: '12M' has an unknown unit: write 12MiB");
    EXPECT_EQ(size_error("12mib"), "vram: '12mib' has an unknown unit: write 12MiB");
    EXPECT_NE(size_error("12B").find("plain numbers are bytes"), std::string::npos);
    EXPECT_EQ(size_error("a\nb").find('\n'), std::string::npos);   // always one line
}

TEST(ParseInteger, RangeAndForm)
{
    EXPECT_EQ(parse_integer("0", "n", 0, 10), 0u);
    EXPECT_EQ(parse_integer("007", "n", 0, 10), 7u);
    EXPECT_EQ(parse_integer("18446744073709551615", "n", 0, ~std::uint64_t{0}), ~std::uint64_t{0});
    EXPECT_EQ(error_of([] { parse_integer("11", "n", 1, 10); }), "n: '11' is too large (at most 10)");
    EXPECT_EQ(error_of([] { parse_integer("0", "n", 1, 10); }), "n: '0' is too small (at least 1)");
    for (const char* text : {"", "-1", "+1", "1.0", "1e3", "0x1", " 1", "1 ", "x", "99999999999999999999999"})
        error_of([&] { parse_integer(text, "n", 0, ~std::uint64_t{0}); });
}

TEST(ParseNumber, RangeAndForm)
{
    EXPECT_EQ(parse_number("0.25", "p", 0, 1), 0.25);
    EXPECT_EQ(parse_number("1", "p", 0, 1), 1.0);
    EXPECT_EQ(parse_number("-0.5", "p", -1, 1), -0.5);
    EXPECT_FALSE(std::signbit(parse_number("-0", "p", -1, 1)));
    for (const char* text : {"", "nan", "inf", "-", "1e-3", "0x1p3", ".5", "5.", "1.5", "-0.1", "0,5", "0.5 ", "1e999"})
        error_of([&] { parse_number(text, "p", 0, 1); });
    EXPECT_EQ(error_of([] { parse_number("2", "p", 0, 1); }), "p: '2' is not within 0 to 1");
}

TEST(ParseDuration, Units)
{
    EXPECT_EQ(parse_duration_ms("1500ms", "t"), 1500u);
    EXPECT_EQ(parse_duration_ms("120s", "t"), 120'000u);
    EXPECT_EQ(parse_duration_ms("2min", "t"), 120'000u);
    EXPECT_EQ(parse_duration_ms("90", "t"), 90'000u);
    for (const char* text : {"", "s", "-1s", "1.5s", "2 min", "2h", "99999999999999999999", "18446744073709551615min"})
        error_of([&] { parse_duration_ms(text, "t"); });
}

TEST(ExactSize, ReadsBackTheSame)
{
    EXPECT_EQ(exact_size(0), "0");
    EXPECT_EQ(exact_size(1), "1");
    EXPECT_EQ(exact_size(1024), "1KiB");
    EXPECT_EQ(exact_size(512 * MiB), "512MiB");
    EXPECT_EQ(exact_size(2048 * MiB), "2GiB");
    EXPECT_EQ(exact_size(70'464'307), "70464307");
    std::mt19937_64 random(1);
    for (int i = 0; i < 10'000; ++i) {
        const std::uint64_t bytes = random() >> (4 + random() % 60) << random() % 4 * 10 & ((std::uint64_t{1} << 60) - 1);
        EXPECT_EQ(parse_size(exact_size(bytes), "x"), bytes);
    }
}

TEST(ExactNumber, ReadsBackTheSame)
{
    EXPECT_EQ(exact_number(0.25), "0.25");
    EXPECT_EQ(exact_number(3), "3");
    EXPECT_EQ(exact_number(1e-7), "0.0000001");
    std::mt19937_64 random(1);
    for (int i = 0; i < 1'000; ++i) {
        const double value = std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 80) - 100);
        EXPECT_EQ(parse_number(exact_number(value), "x", 0, 1e300), value);
    }
}

TEST(HumanText, SizesAndTimes)
{
    EXPECT_EQ(human_size(12), "12 B");
    EXPECT_EQ(human_size(31 * KiB), "31.0 KiB");
    EXPECT_EQ(human_size(1'227'075'092), "1170.23 MiB");
    EXPECT_EQ(human_size(139 * GiB), "139.00 GiB");
    EXPECT_EQ(human_size(std::uint64_t{1} << 60), "1048576.00 TiB");
    EXPECT_EQ(human_time(0), "0 ns");
    EXPECT_EQ(human_time(3.25), "3.2 ns");
    EXPECT_EQ(human_time(412), "412 ns");
    EXPECT_EQ(human_time(3'100), "3.1 us");
    EXPECT_EQ(human_time(999'990), "1.0 ms");
    EXPECT_EQ(human_time(27.4e6), "27.4 ms");
    EXPECT_EQ(human_time(1.25e9), "1.25 s");
    EXPECT_EQ(human_time(-412), "-412 ns");
}

TEST(RoundUp, Multiples)
{
    EXPECT_EQ(round_up(0, 256), 0u);
    EXPECT_EQ(round_up(1, 256), 256u);
    EXPECT_EQ(round_up(40'000, 256), 40'192u);
}

}  // namespace
}  // namespace vrambench
