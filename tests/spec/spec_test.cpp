#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace vrambench {
namespace {

using strings = std::vector<std::string>;

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

const entry pool{
    .name = "async",
    .help = "driver pool",
    .origin = "",
    .keys = {
        {.name = "threshold", .type = key_type::size, .default_value = "max", .unit = "bytes", .help = "",
         .choices = {"max"}, .most = GiB},
        {.name = "retry", .type = key_type::choice, .default_value = "none", .unit = "", .help = "",
         .choices = {"none", "sync", "trim"}},
        {.name = "slots", .type = key_type::integer, .default_value = "256", .unit = "", .help = "", .least = 1, .most = 4096},
        {.name = "share", .type = key_type::number, .default_value = "0.50", .unit = "", .help = "", .most = 1},
        {.name = "note", .type = key_type::text, .default_value = "none", .unit = "", .help = ""},
    }};
const entry simulator{
    .name = "sim",
    .help = "",
    .origin = "",
    .keys = {{.name = "vram", .type = key_type::size, .default_value = "", .unit = "bytes", .help = "capacity", .least = 1}},
    .positional_help = "profile or @file.json"};

config resolved(const entry& e, const std::string& text) { return resolve(e, parse_spec(text)); }

TEST(ParseSpec, Parts)
{
    EXPECT_EQ(parse_spec("legacy").name, "legacy");
    const spec s = parse_spec("async:retry=sync,threshold=0");
    EXPECT_EQ(s.name, "async");
    EXPECT_EQ(s.positional, "");
    ASSERT_EQ(s.values.size(), 2u);
    EXPECT_EQ(s.values[0], (std::pair<std::string, std::string>{"retry", "sync"}));
    EXPECT_EQ(s.values[1], (std::pair<std::string, std::string>{"threshold", "0"}));
    EXPECT_EQ(parse_spec("a:k=v=w").values[0].second, "v=w");
}

TEST(ParseSpec, Positional)
{
    EXPECT_EQ(parse_spec("sim:h200,vram=4GiB").positional, "h200");
    EXPECT_EQ(parse_spec("sim:@my.json").positional, "@my.json");
    EXPECT_EQ(parse_spec("file:/tmp/a=b.jsonl").positional, "/tmp/a=b.jsonl");
    EXPECT_EQ(parse_spec("cuda:0").positional, "0");
}

TEST(ParseSpec, Refuses)
{
    for (const char* text : {"", ":", ":a=b", "a:", "a:,", "a:k=v,", "a:,k=v", "a:k=v,,l=w", "a:=v", "a:k=",
            "a:k=v,k=w", "a:k=v,word", "a=b", "a,b"})
        EXPECT_NE(error_of([&] { parse_spec(text); }), "") << text;
    EXPECT_NE(error_of([] { parse_spec("a:k=v,k=w"); }).find("'k' is given twice"), std::string::npos);
}

TEST(SplitSpecs, Lists)
{
    EXPECT_EQ(split_specs("legacy"), strings{"legacy"});
    EXPECT_EQ(split_specs("legacy,async:retry=sync,threshold=0,vmm"),
              (strings{"legacy", "async:retry=sync,threshold=0", "vmm"}));
    EXPECT_EQ(split_specs("sim:h200,vram=4GiB"), strings{"sim:h200,vram=4GiB"});
    EXPECT_EQ(split_specs("sim:h200,vram=4GiB,sim:w7900"), (strings{"sim:h200,vram=4GiB", "sim:w7900"}));
    EXPECT_EQ(split_specs("async,retry=sync"), strings{"async:retry=sync"});
    EXPECT_EQ(split_specs("file:/tmp/a=b,vmm"), (strings{"file:/tmp/a=b", "vmm"}));
    for (const char* text : {"", ",", "a,", ",a", "a,,b", "k=v", "k=v,a"}) error_of([&] { split_specs(text); });
}

TEST(SplitSpecs, RepeatedOptions)
{
    EXPECT_EQ(split_specs(strings{"legacy,async:retry=sync,threshold=0", "vmm"}),
              (strings{"legacy", "async:retry=sync,threshold=0", "vmm"}));
    EXPECT_EQ(split_specs(strings{}), strings{});
}

TEST(SplitWords, EmptyItemsStay)
{
    EXPECT_EQ(split_words({"none,40MiB", "1GiB"}), (strings{"none", "40MiB", "1GiB"}));
    EXPECT_EQ(split_words({"1,,2,"}), (strings{"1", "", "2", ""}));
    EXPECT_EQ(split_words({""}), strings{""});
    EXPECT_EQ(split_words({}), strings{});
}

TEST(Errors, AreOneLine)
{
    EXPECT_EQ(in_quotes("a\nb\x1b[31m\x7f"), "'a?b?[31m?'");
    EXPECT_EQ(in_quotes(std::string(121, 'x')), "'" + std::string(120, 'x') + "...'");
    EXPECT_EQ(in_quotes(std::string(120, 'x')), "'" + std::string(120, 'x') + "'");
    EXPECT_EQ(in_quotes(std::string(119, 'x') + "\xc3\xa4"), "'" + std::string(119, 'x') + "...'") << "no half character";
    EXPECT_EQ(error_of([] { parse_spec("two\nlines:x=1,y"); }), "two?lines: 'y' is not key=value");
}

TEST(Resolve, Multiples)
{
    const entry e{.name = "vmm", .help = "", .origin = "", .keys = {
        {.name = "handle", .type = key_type::size, .default_value = "64KiB", .unit = "bytes", .help = "", .choices = {},
         .least = 64 * KiB, .multiple = 64 * KiB}}};
    EXPECT_EQ(canonical(e, resolved(e, "vmm:handle=131072")), "vmm:handle=128KiB");
    EXPECT_EQ(error_of([&] { resolved(e, "vmm:handle=3"); }), "vmm: handle: 3 is too small (at least 64KiB)");
    EXPECT_EQ(error_of([&] { resolved(e, "vmm:handle=65537"); }), "vmm: handle: 65537 is not a multiple of 64KiB");
}

TEST(Resolve, DefaultsAndCanonicalForm)
{
    EXPECT_EQ(canonical(pool, resolved(pool, "async")), "async:threshold=max,retry=none,slots=256,share=0.5,note=none");
    EXPECT_EQ(canonical(pool, resolved(pool, "async:share=0.125000,slots=010,threshold=1024KiB,retry=trim,note=a:b")),
              "async:threshold=1MiB,retry=trim,slots=10,share=0.125,note=a:b");
    EXPECT_EQ(canonical(simulator, resolved(simulator, "sim:h200,vram=2.5KiB"), "h200"), "sim:h200,vram=2560");
    EXPECT_EQ(canonical(entry{.name = "direct", .help = "", .origin = "", .keys = {}}, config{}), "direct");
}

TEST(Resolve, CanonicalIsAFixedPoint)
{
    for (const char* text : {"async", "async:threshold=67.20MiB", "async:share=0.1", "async:share=0",
            "async:share=1.0", "async:threshold=0,slots=4096"}) {
        const config c = resolved(pool, text);
        const std::string again = canonical(pool, c);
        EXPECT_EQ(resolved(pool, again).values(), c.values()) << text;
        EXPECT_EQ(canonical(pool, resolved(pool, again)), again) << text;
    }
}

TEST(Resolve, Values)
{
    const config c = resolved(pool, "async:threshold=67.20MiB,share=0.1,slots=7");
    EXPECT_EQ(c.size("threshold"), 70'464'307u);
    EXPECT_EQ(c.number("share"), 0.1);
    EXPECT_EQ(c.integer("slots"), 7u);
    EXPECT_TRUE(c.is("retry", "none"));
    EXPECT_THROW(c.text("thresold"), std::logic_error);
    EXPECT_THROW(resolved(pool, "async").size("threshold"), std::logic_error);   // it is the word "max"
}

TEST(Resolve, RefusesWithAHint)
{
    const auto error = [](const std::string& text) { return error_of([&] { resolved(pool, text); }); };
    EXPECT_EQ(error("async:treshold=0"), "async: unknown key 'treshold', did you mean 'threshold'?");
    EXPECT_EQ(error("async:zzz=0"), "async: unknown key 'zzz' (keys: threshold, retry, slots, share, note)");
    EXPECT_EQ(error("async:retry=snyc"), "async: retry: 'snyc' is not one of none, sync, trim, did you mean 'sync'?");
    EXPECT_EQ(error("async:threshold=mx"), "async: threshold: 'mx' is not a size or one of max, did you mean 'max'?");
    EXPECT_EQ(error("async:threshold=1MB"), "async: threshold: '1MB' uses a decimal unit: write 1MiB");
    EXPECT_EQ(error("async:threshold=2GiB"), "async: threshold: 2GiB is too large (at most 1GiB)");
    EXPECT_EQ(error("async:slots=0"), "async: slots: '0' is too small (at least 1)");
    EXPECT_EQ(error("async:slots=5000"), "async: slots: '5000' is too large (at most 4096)");
    EXPECT_EQ(error("async:share=1.5"), "async: share: '1.5' is not within 0 to 1");
    EXPECT_EQ(error("async:sync"), "async: 'sync' is not key=value, did you mean 'retry=sync'?");
    EXPECT_EQ(error("async:whatever"), "async: 'whatever' is not key=value");
    EXPECT_EQ(error_of([] { resolved(simulator, "sim:h200"); }), "sim: vram= must be given (capacity)");
    EXPECT_EQ(error_of([] { resolved(simulator, "sim:h200,vram=0"); }), "sim: vram: 0 is too small (at least 1)");
}

TEST(FindEntry, NearestName)
{
    const std::vector<const entry*> entries{&pool, &simulator};
    EXPECT_EQ(&find_entry(entries, "sim", "device"), &simulator);
    EXPECT_EQ(error_of([&] { find_entry(entries, "asinc", "allocator"); }),
              "unknown allocator 'asinc', did you mean 'async'? (vrambench list allocators)");
    EXPECT_EQ(error_of([&] { find_entry(entries, "caching", "allocator"); }),
              "unknown allocator 'caching' (vrambench list allocators)");
}

TEST(Nearest, Distance)
{
    const strings words{"legacy", "legacy-retry", "vmm", "async"};
    EXPECT_EQ(nearest("legcay", words), "legacy");
    EXPECT_EQ(nearest("LEGACY", words), "legacy");
    EXPECT_EQ(nearest("legacy-rety", words), "legacy-retry");
    EXPECT_EQ(nearest("vm", words), "vmm");
    EXPECT_EQ(nearest("xyz", words), "");
    EXPECT_EQ(nearest("", words), "");
    EXPECT_EQ(nearest("a", {}), "");
}

}  // namespace
}  // namespace vrambench
