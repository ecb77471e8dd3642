#include "tests/workloads/trace_tools.hpp"

#include "workloads/describe.hpp"
#include "workloads/registry.hpp"

namespace vrambench::test {
namespace {

TEST(Describe, KvPair)
{
    const auto t = make_trace("kv-pair:heads=8,head-dim=128,step=512,to=131072,kernel-ns=1000", 1);
    EXPECT_EQ(describe(t->header(), summarise(*t)),
              "trace         kv-pair:heads=8,head-dim=128,step=512,to=131072,layers=1,warm=none,kernel-ns=1000,sync=none\n"
              "phases        prefill, warm\n"
              "events        1,792 on 1 stream\n"
              "calls         512 allocations, 512 frees\n"
              "launches      512 kernels\n"
              "kernel time   512.0 us stated\n"
              "steps         256 with 131,072 tokens\n"
              "max live      512.00 MiB (536,870,912 bytes)\n"
              "depth         2 blocks alive at most\n"
              "largest block 256.00 MiB (268,435,456 bytes), alignment 128 bytes at most\n"
              "free order    last in, first out on each stream\n");
}

TEST(Describe, EverythingElse)
{
    memory_trace t;
    t.add({.kind = event_kind::graph_begin}).add({.kind = event_kind::graph_end});
    t.add({.kind = event_kind::external_alloc, .tag = 1, .bytes = 1000});
    t.alloc(0, 1).alloc(1, 1).free(0);
    t.head.seed = 5;
    const std::string text = describe(t.head, summarise(t));
    for (const char* part : {"seed          5\n", "0 kernels, with graphs\n", "external      1,000 bytes",
            "1 block never freed\n",
                             "not last in, first out (first broken by event 5)\n", "largest block 1 byte,"})
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

}  // namespace
}  // namespace vrambench::test
