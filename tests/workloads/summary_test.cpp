#include "tests/workloads/trace_tools.hpp"

#include "spec/units.hpp"

namespace vrambench::test {
namespace {

std::string summary_error(const memory_trace& t)
{
    return error_of([&] { summarise(t); });
}

TEST(Summary, Figures)
{
    memory_trace t;
    t.add({.kind = event_kind::step, .tag = 0, .tokens = 512});
    t.alloc(0, 100).alloc(1, 1000).kernel({}, {0, 1}, 7).kernel({0}, {1}, 5).kernel({}, {}).free(1).alloc(1,
            50).free(1).free(0);
    t.add({.kind = event_kind::step, .tag = 0, .tokens = 88});
    t.add({.kind = event_kind::external_alloc, .tag = 1, .id = 2, .bytes = GiB});
    t.add({.kind = event_kind::external_alloc, .tag = 1, .id = 0, .bytes = MiB});
    t.add({.kind = event_kind::external_free, .id = 2});
    t.add({.kind = event_kind::external_alloc, .tag = 1, .id = 2, .bytes = MiB});
    t.add({.kind = event_kind::alloc, .tag = 1, .id = 5, .alignment = 4096, .bytes = 3});
    t.add({.kind = event_kind::record, .id = 3}).add({.kind = event_kind::wait, .id = 3});
    t.add({.kind = event_kind::sync_stream}).add({.kind = event_kind::sync_device});
    for (const std::size_t cut : {std::size_t{1}, std::size_t{3}, batch_events}) {
        t.cut = cut;
        const trace_summary s = summarise(t);
        EXPECT_EQ(s.events, t.events.size());
        EXPECT_EQ(s.alloc_calls, 4u);
        EXPECT_EQ(s.free_calls, 3u);
        EXPECT_EQ(s.launches, 3u);
        EXPECT_EQ(s.stated_kernel_ns, 12u);
        EXPECT_EQ(s.steps, 2u);
        EXPECT_EQ(s.tokens, 600u);
        EXPECT_EQ(s.max_live_bytes, 1100u);
        EXPECT_EQ(s.max_live_blocks, 2u);
        EXPECT_EQ(s.max_block_bytes, 1000u);
        EXPECT_EQ(s.max_alignment, 4096u);
        EXPECT_EQ(s.end_live_blocks, 1u);
        EXPECT_EQ(s.max_external_bytes, GiB + MiB);
        EXPECT_EQ(s.block_ids, 6u);
        EXPECT_EQ(s.external_ids, 3u);
        EXPECT_EQ(s.event_ids, 4u);
        EXPECT_EQ(s.graph_ids, 0u);
        EXPECT_EQ(s.streams, 1u);
        EXPECT_FALSE(s.graphs);
        EXPECT_TRUE(s.lifo);
    }
}

TEST(Summary, EmptyTrace)
{
    const trace_summary s = summarise(memory_trace{});
    EXPECT_EQ(s.events, 0u);
    EXPECT_TRUE(s.lifo);
}

TEST(Summary, GraphLaunchesCountWhenTheyExecute)
{
    memory_trace t;
    const auto graph = [&](event_kind k) { t.add({.kind = k, .id = 1}); };
    graph(event_kind::graph_begin);
    t.alloc(0, 10).kernel({}, {0}, 5).kernel({0}, {}, 6).free(0);
    graph(event_kind::graph_end);
    EXPECT_EQ(summarise(t).launches, 0u);
    for (int i = 0; i < 3; ++i) graph(event_kind::graph_launch);
    graph(event_kind::graph_begin);   // recorded anew
    t.kernel({}, {}, 1);
    graph(event_kind::graph_end);
    graph(event_kind::graph_launch);
    const trace_summary s = summarise(t);
    EXPECT_EQ(s.launches, 7u);
    EXPECT_EQ(s.stated_kernel_ns, 34u);
    EXPECT_TRUE(s.graphs);
    EXPECT_EQ(s.graph_ids, 2u);
}

TEST(Summary, LifoIsJudgedByStream)
{
    memory_trace t;
    t.head.streams = 2;
    t.alloc(0, 1, 0).alloc(1, 1, 1).alloc(2, 1, 0).free(1, 1).free(2, 0).free(0, 0);
    EXPECT_TRUE(summarise(t).lifo);

    memory_trace fifo;
    fifo.alloc(0, 1).alloc(1, 1).free(0).free(1).alloc(0, 1).free(0);
    EXPECT_FALSE(summarise(fifo).lifo);
    EXPECT_EQ(summarise(fifo).first_non_lifo_event, 2u);

    memory_trace crossing;   // freed on a stream that did not allocate it
    crossing.head.streams = 2;
    crossing.alloc(0, 1, 0).free(0, 1);
    EXPECT_FALSE(summarise(crossing).lifo);
    EXPECT_EQ(summarise(crossing).first_non_lifo_event, 1u);
}

TEST(Summary, RefusesMisusedBlocks)
{
    EXPECT_EQ(summary_error(memory_trace().alloc(3, 1).alloc(3, 1)),
            "test: event 1 (alloc): block 3 is allocated while alive");
    EXPECT_EQ(summary_error(memory_trace().free(3)), "test: event 0 (free): block 3 is freed while not alive");
    EXPECT_EQ(summary_error(memory_trace().alloc(0, 1).free(0).free(0)),
            "test: event 2 (free): block 0 is freed while not alive");
    EXPECT_EQ(summary_error(memory_trace().kernel({7}, {})), "test: event 0 (kernel): block 7 is read while not alive");
    EXPECT_EQ(summary_error(memory_trace().alloc(0, 1).free(0).kernel({}, {0})),
            "test: event 2 (kernel): block 0 is written while not alive");
    const event external{.kind = event_kind::external_alloc, .tag = 1, .id = 0, .bytes = 1};
    EXPECT_NE(summary_error(memory_trace().add(external).add(external)).find("allocated while alive"), std::string::npos);
    EXPECT_NE(summary_error(memory_trace().add({.kind = event_kind::external_free})).find("freed while not alive"),
            std::string::npos);
}

TEST(Summary, RefusesAbsurdFigures)
{
    EXPECT_NE(summary_error(memory_trace().alloc(0, 0)).find("zero bytes"), std::string::npos);
    EXPECT_NE(summary_error(memory_trace().alloc(0, 2048 * TiB)).find("absurd"), std::string::npos);
    EXPECT_NE(summary_error(memory_trace().alloc(1u << 24, 1)).find("ids must be dense"), std::string::npos);
    EXPECT_NE(summary_error(memory_trace().alloc(~0u, 1)).find("ids must be dense"), std::string::npos);
    EXPECT_NE(summary_error(memory_trace().kernel({}, {}, INT64_MAX)).find("absurd"), std::string::npos);
    for (const std::uint32_t alignment : {0u, 3u, 1u << 31})
        EXPECT_NE(summary_error(memory_trace().add({.kind = event_kind::alloc, .alignment = alignment,
                .bytes = 1})).find("power of two"),
                  std::string::npos);
    memory_trace many;
    for (std::uint32_t i = 0; i < 1025; ++i) many.alloc(i, 1024 * TiB);
    EXPECT_NE(summary_error(many).find("event 1024 (alloc): more than 1048576TiB alive"), std::string::npos);
}

TEST(Summary, RefusesWhatIsOutOfRange)
{
    const auto refused = [](event e, const std::string& part) {
        EXPECT_NE(summary_error(memory_trace().add(e)).find(part), std::string::npos) << part;
    };
    for (const auto kind : {event_kind::alloc, event_kind::kernel, event_kind::record, event_kind::sync_stream,
            event_kind::graph_begin})
        refused({.kind = kind, .tag = 1, .stream = 1, .bytes = 1}, "stream 1 of 1");
    for (const auto kind : {event_kind::alloc, event_kind::kernel, event_kind::external_alloc, event_kind::step})
        refused({.kind = kind, .tag = 2, .bytes = 1}, "tag 2 of 2");
    refused({.kind = event_kind::step, .phase = 1}, "phase 1 of 1");
    refused({.kind = static_cast<event_kind>(99)}, "unknown kind 99");
    refused({.kind = event_kind::wait, .id = 4}, "waits for event 4, which was never recorded");
    memory_trace t;
    t.head.phases.clear();
    EXPECT_NE(summary_error(t).find("no phase"), std::string::npos);
    t.head.phases = {"p"};
    for (const std::uint32_t streams : {0u, 65u}) {
        t.head.streams = streams;
        EXPECT_NE(summary_error(t).find("streams"), std::string::npos);
    }
}

TEST(Summary, RefusesUnbalancedGraphs)
{
    using k = event_kind;
    const auto error = [](std::vector<std::pair<k, std::uint32_t>> events) {
        memory_trace t;
        for (const auto& [kind, id] : events) t.add({.kind = kind, .id = id});
        return summary_error(t);
    };
    EXPECT_EQ(error({{k::graph_begin, 0}}), "test: the trace ends inside graph 0");
    EXPECT_NE(error({{k::graph_begin, 0}, {k::graph_begin, 1}}).find("graph 1 begins inside graph 0"), std::string::npos);
    EXPECT_NE(error({{k::graph_begin, 0}, {k::graph_end, 1}}).find("graph 1 ends without"), std::string::npos);
    EXPECT_NE(error({{k::graph_end, 0}}).find("graph 0 ends without"), std::string::npos);
    EXPECT_NE(error({{k::graph_launch, 0}}).find("never recorded"), std::string::npos);
    EXPECT_NE(error({{k::graph_begin, 0}, {k::graph_launch, 0}}).find("launches a graph inside"), std::string::npos);
    EXPECT_NE(error({{k::graph_begin, 0}, {k::sync_device, 0}}).find("synchronises inside graph 0"), std::string::npos);
    EXPECT_NE(error({{k::graph_begin, 0}, {k::sync_stream, 0}}).find("synchronises inside graph 0"), std::string::npos);
}

TEST(EventKind, Names)
{
    EXPECT_STREQ(to_string(event_kind::alloc), "alloc");
    EXPECT_STREQ(to_string(event_kind::graph_launch), "graph_launch");
    EXPECT_STREQ(to_string(static_cast<event_kind>(event_kinds)), "unknown");
}

}  // namespace
}  // namespace vrambench::test
