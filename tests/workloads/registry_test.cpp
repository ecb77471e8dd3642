#include "tests/workloads/trace_tools.hpp"

#include "workloads/registry.hpp"

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
    EXPECT_EQ(names, (std::vector<std::string>{"kv-pair", "random", "file"}));
}

TEST(Workloads, UnknownNames)
{
    EXPECT_EQ(error_of([] { make_trace("kvpair:heads=1", 1); }),
              "unknown workload 'kvpair', did you mean 'kv-pair'? (vrambench list workloads)");
    EXPECT_EQ(error_of([] { make_trace("file", 1); }), "file: a path must be given: file:PATH");
    EXPECT_EQ(error_of([] { make_trace("file:a.jsonl,format=json", 1); }), "file: unknown key 'format' (it has no keys)");
    EXPECT_EQ(error_of([] { make_trace("random:lifo", 1); }),
            "random: 'lifo' is not key=value, did you mean 'order=lifo'?");
    EXPECT_NE(error_of([] { make_trace("file:/nowhere/a.jsonl", 1); }).find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace vrambench::test
