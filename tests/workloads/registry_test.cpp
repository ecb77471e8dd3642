#include "tests/workloads/trace_tools.hpp"

#include "workloads/registry.hpp"
#include "workloads/trace_file.hpp"

#include <cstdio>

namespace vrambench::test {
namespace {

TEST(Workloads, EntriesAreComplete)
{
    std::vector<std::string> names;
    for (const entry* e : workload_entries()) {
        names.push_back(e->name);
        EXPECT_FALSE(e->help.empty());
        for (const auto& k : e->keys) EXPECT_FALSE(k.help.empty()) << e->name << " " << k.name;
    }
    EXPECT_EQ(names, (std::vector<std::string>{"fattn-prefill", "fattn-decode", "fattn-session", "server", "turns", "speculative",
                                               "kv-pair", "random", "file"}));
}

TEST(Workloads, UnknownNames)
{
    EXPECT_EQ(error_of([] { make_trace("kvpair:heads=1", 1); }),
              "unknown workload 'kvpair', did you mean 'kv-pair'? (vrambench list workloads)");
    EXPECT_EQ(error_of([] { make_trace("file", 1); }), "file: a path must be given: file:PATH");
    EXPECT_EQ(error_of([] { make_trace("file:", 1); }), "file: a path must be given: file:PATH");
    EXPECT_EQ(error_of([] { make_trace("random:lifo", 1); }),
            "random: 'lifo' is not key=value, did you mean 'order=lifo'?");
    EXPECT_NE(error_of([] { make_trace("file:/nowhere/a.jsonl", 1); }).find("No such file"), std::string::npos);
}

/// What separates specs elsewhere is part of a path.
TEST(Workloads, PathsOfFiles)
{
    for (const char* path : {"a,b.jsonl", "a=b.jsonl", "a:b,c=d.jsonl", "file:a", "@a", "a,,b,"}) {
        EXPECT_EQ(error_of([&] { make_trace(std::string("file:") + path, 1); }),
                  "cannot read '" + std::string(path) + "': No such file or directory");
        const std::string there = ::testing::TempDir() + path;
        write_trace(*make_trace("kv-pair:heads=1,head-dim=64,step=512,to=512", 1), there, trace_format::json_lines);
        const auto t = make_trace("file:" + there, 1);
        EXPECT_EQ(t->header().spec, "file:" + there);
        EXPECT_EQ(summarise(*make_trace(t->header().spec, 1)).events, 7u);
        std::remove(there.c_str());
    }
}

TEST(Workloads, MessagesNameTheFile)
{
    const std::string path = ::testing::TempDir() + "two\nlines.jsonl";
    memory_trace broken;
    broken.free(3);
    write_trace(broken, path, trace_format::packed);
    EXPECT_EQ(error_of([&] { summarise(*make_trace("file:" + path, 1)); }),
              "file:" + ::testing::TempDir() + "two?lines.jsonl: event 0 (free): block 3 is freed while not alive");
    std::remove(path.c_str());
}

}  // namespace
}  // namespace vrambench::test
