#include "tests/workloads/trace_tools.hpp"

#include "spec/units.hpp"
#include "workloads/registry.hpp"

namespace vrambench::test {
namespace {

std::unique_ptr<trace> kv_pair(const std::string& keys) { return make_trace("kv-pair:" + keys, 1); }

/// Sizes of all allocations, in order.
std::vector<std::uint64_t> sizes_of(const trace& t)
{
    std::vector<std::uint64_t> out;
    for (const auto& f : events_of(t))
        if (f.e.kind == event_kind::alloc) out.push_back(f.e.bytes);
    return out;
}

TEST(KvPair, EightHeadsTo131072)
{
    const trace_summary s = summarise(*kv_pair("heads=8,head-dim=128,step=512,to=131072"));
    EXPECT_EQ(s.max_live_bytes, 536'870'912u);
    EXPECT_EQ(s.steps, 256u);
    EXPECT_EQ(s.tokens, 131'072u);
    EXPECT_EQ(s.alloc_calls, 512u);
    EXPECT_EQ(s.free_calls, 512u);
    EXPECT_EQ(s.launches, 512u);
    EXPECT_EQ(s.max_live_blocks, 2u);
    EXPECT_EQ(s.block_ids, 2u);
    EXPECT_EQ(s.end_live_blocks, 0u);
    EXPECT_TRUE(s.lifo);
}

TEST(KvPair, LastStepIsCutAndCellsArePadded)
{
    const auto t = kv_pair("heads=32,head-dim=96,step=512,to=40000");
    const trace_summary s = summarise(*t);
    EXPECT_EQ(s.max_live_bytes, 2u * 2 * 32 * 96 * 40'192);
    EXPECT_EQ(s.tokens, 40'000u);
    EXPECT_EQ(s.steps, 79u);
    std::uint64_t last = 0;
    for (const auto& f : events_of(*t))
        if (f.e.kind == event_kind::step) last = f.e.tokens;
    EXPECT_EQ(last, 40'000u - 78 * 512);
}

TEST(KvPair, StepOf16384)
{
    const auto sizes = sizes_of(*kv_pair("heads=8,head-dim=128,step=16384,to=1146880"));
    ASSERT_EQ(sizes.size(), 140u);
    for (std::size_t i = 0; i < sizes.size(); ++i) EXPECT_EQ(sizes[i], (i / 2 + 1) * 32 * MiB);
}

TEST(KvPair, FieldCase07)
{
    const auto t = kv_pair("heads=2,head-dim=256,step=512,to=82944,warm=1MiB/4MiB/8MiB/48MiB+48MiB/64MiB");
    const auto sizes = sizes_of(*t);
    const std::vector<std::uint64_t> warm{MiB, 4 * MiB, 8 * MiB, 48 * MiB, 48 * MiB, 64 * MiB};
    ASSERT_EQ(sizes.size(), warm.size() + 2 * 162);
    EXPECT_TRUE(std::equal(warm.begin(), warm.end(), sizes.begin()));
    for (std::size_t i = 0; i < 324; ++i) EXPECT_EQ(sizes[warm.size() + i], (i / 2 + 1) * 512 * KiB);
    const trace_summary s = summarise(*t);
    EXPECT_EQ(s.max_live_bytes, 162 * MiB);
    EXPECT_EQ(s.steps, 163u);
    EXPECT_EQ(s.tokens, 82'944u);
    EXPECT_TRUE(s.lifo);
}

TEST(KvPair, OrderOfAStep)
{
    const auto t = kv_pair("heads=8,head-dim=128,step=512,to=512,kernel-ns=1500,sync=step");
    const auto& h = t->header();
    EXPECT_EQ(h.phases[0], "prefill");
    const auto e = events_of(*t);
    ASSERT_EQ(e.size(), 8u);
    EXPECT_EQ(e[0].e.kind, event_kind::step);
    EXPECT_EQ(e[0].e.tokens, 512u);
    EXPECT_EQ(h.tags[e[0].e.tag], "step");
    EXPECT_EQ(h.tags[e[1].e.tag], "K");
    EXPECT_EQ(h.tags[e[2].e.tag], "V");
    EXPECT_EQ(e[1].e.bytes, MiB);
    EXPECT_EQ(e[2].e.bytes, MiB);
    EXPECT_EQ(h.tags[e[3].e.tag], "convert");
    EXPECT_EQ(e[3].writes, (ids{0, 1}));
    EXPECT_EQ(e[3].reads, ids{});
    EXPECT_EQ(h.tags[e[4].e.tag], "attend");
    EXPECT_EQ(e[4].reads, (ids{0, 1}));
    EXPECT_EQ(e[3].e.nanoseconds, 1500);
    EXPECT_EQ(e[4].e.nanoseconds, 1500);
    EXPECT_EQ(e[5].e.kind, event_kind::free);
    EXPECT_EQ(e[5].e.id, e[2].e.id);   // V before K
    EXPECT_EQ(e[6].e.id, e[1].e.id);
    EXPECT_EQ(e[7].e.kind, event_kind::sync_stream);
}

TEST(KvPair, RooflineFigures)
{
    const auto e = events_of(*kv_pair("heads=8,head-dim=128,step=512,to=1000"));
    const event &convert = e[10].e, &attend = e[11].e;   // second step: 488 tokens, n_kv 1024
    EXPECT_EQ(convert.nanoseconds, -1);
    EXPECT_EQ(convert.bytes, 2u * 1024 * 1024 * 34 / 32 + 4 * MiB);
    EXPECT_EQ(attend.flops, std::uint64_t{4} * 4 * 8 * 128 * 1024 * 488);
    EXPECT_EQ(attend.bytes, 4 * MiB + 2u * 4 * 4 * 8 * 128 * 488);
}

TEST(KvPair, LayersRepeatThePair)
{
    const auto t = kv_pair("heads=1,head-dim=64,step=256,to=512,layers=3,sync=step");
    EXPECT_EQ(events_of(*t).size(), 2u * (1 + 3 * 6 + 1));
    EXPECT_EQ(summarise(*t).steps, 2u);
    const auto sizes = sizes_of(*t);
    EXPECT_EQ(sizes.size(), 12u);
    EXPECT_TRUE(std::all_of(sizes.begin(), sizes.begin() + 6, [](auto s) { return s == 32 * KiB; }));
    EXPECT_TRUE(std::all_of(sizes.begin() + 6, sizes.end(), [](auto s) { return s == 64 * KiB; }));
}

TEST(KvPair, WarmPartIsOneStepWithoutTokens)
{
    const auto t = kv_pair("heads=1,head-dim=64,step=256,to=256,warm=1MiB/2MiB+3MiB,kernel-ns=9,sync=step");
    const auto e = events_of(*t);
    const auto& h = t->header();
    EXPECT_EQ(h.phases[e[0].e.phase], "warm");
    EXPECT_EQ(e[0].e.tokens, 0u);
    const std::vector<event_kind> kinds{event_kind::step,   event_kind::alloc, event_kind::kernel, event_kind::free,
                                        event_kind::alloc,  event_kind::alloc, event_kind::kernel, event_kind::free,
                                        event_kind::free,   event_kind::sync_stream, event_kind::step};
    ASSERT_GE(e.size(), kinds.size());
    for (std::size_t i = 0; i < kinds.size(); ++i) EXPECT_EQ(e[i].e.kind, kinds[i]) << i;
    EXPECT_EQ(e[6].writes, (ids{0, 1}));
    EXPECT_EQ(e[6].e.bytes, 5 * MiB);
    EXPECT_EQ(e[7].e.id, 1u);
    EXPECT_EQ(e[8].e.id, 0u);
}

TEST(KvPair, CanonicalSpec)
{
    const auto t = kv_pair("to=512,heads=8,head-dim=128,step=512,warm=1024KiB/0.5MiB+512");
    EXPECT_EQ(t->header().spec,
            "kv-pair:heads=8,head-dim=128,step=512,to=512,layers=1,warm=1MiB/512KiB+512,kernel-ns=roofline,sync=none");
    const auto again = make_trace(t->header().spec, 7);
    EXPECT_EQ(again->header().spec, t->header().spec);
    EXPECT_EQ(again->header().params, t->header().params);
    EXPECT_EQ(events_of(*again), events_of(*t));
}

TEST(KvPair, SameEventsEachTimeAndForEver)
{
    const auto t = kv_pair("heads=2,head-dim=256,step=512,to=82944,layers=40,warm=1MiB/48MiB+48MiB");
    EXPECT_EQ(events_of(*t), events_of(*t));
    EXPECT_EQ(hash_of(events_of(*t)), 16275763870467533527u);
}

TEST(KvPair, Refuses)
{
    const auto error = [](const std::string& keys) { return error_of([&] { kv_pair("head-dim=128,step=512," + keys); }); };
    EXPECT_NE(error("to=512").find("heads= must be given"), std::string::npos);
    EXPECT_NE(error("heads=0,to=512").find("too small"), std::string::npos);
    EXPECT_NE(error("heads=8,to=0").find("too small"), std::string::npos);
    EXPECT_NE(error("heads=8,to=512,layers=0").find("too small"), std::string::npos);
    EXPECT_NE(error("heads=8,to=1099511627776").find("exceed 1TiB"), std::string::npos);
    EXPECT_NE(error("heads=8,to=512,sync=token").find("one of none, step"), std::string::npos);
    EXPECT_NE(error("heads=8,to=512,kernel-ns=fast").find("roofline"), std::string::npos);
    for (const char* warm : {"1MB", "/", "1MiB/", "/1MiB", "1MiB++2MiB", "0", "1MiB+0", "2TiB", "None"})
        EXPECT_EQ(error("heads=8,to=512,warm=" + std::string(warm)).rfind("kv-pair: warm: ", 0), 0u) << warm;
    std::string many = "1";
    for (int i = 0; i < 1000; ++i) many += "/1";
    EXPECT_NE(error("heads=8,to=512,warm=" + many).find("more than 1000 blocks"), std::string::npos);
}

}  // namespace
}  // namespace vrambench::test
