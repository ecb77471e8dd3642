#include "tests/workloads/trace_tools.hpp"

#include "spec/units.hpp"
#include "workloads/neighbour.hpp"

namespace vrambench::test {
namespace {

/// Five steps, a kernel with operands in each.
std::shared_ptr<memory_trace> five_steps()
{
    auto t = std::make_shared<memory_trace>();
    t->alloc(9, 10);
    for (std::uint32_t i = 0; i < 5; ++i) {
        t->add({.kind = event_kind::step, .tag = 0, .tokens = 1});
        t->alloc(i, 100).kernel({9}, {i}).free(i);
    }
    t->free(9);
    return t;
}

/// What the adaptor should give, made by hand.
std::vector<full_event> expected(const memory_trace& t, const neighbour_plan& plan)
{
    std::vector<full_event> out;
    const auto tag = static_cast<std::uint16_t>(t.head.tags.size());
    std::uint64_t steps = 0;
    for (const auto& f : t.events) {
        out.push_back(f);
        if (f.e.kind != event_kind::step) continue;
        ++steps;
        if (steps == plan.from_step)
            out.push_back({{.kind = event_kind::external_alloc, .tag = tag, .id = 7, .bytes = plan.bytes}, {}, {}});
        if (steps == plan.to_step) out.push_back({{.kind = event_kind::external_free, .id = 7}, {}, {}});
    }
    return out;
}

TEST(Neighbour, TakesAtOneStepAndGivesBackAtAnother)
{
    for (const std::size_t cut : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{5}, batch_events})
        for (const char* text : {"1GiB@step:1..2", "1GiB@step:2..4", "1GiB@step:5", "1GiB@step:1..5"}) {
            const neighbour_plan plan = parse_neighbour(text);
            const auto inner = five_steps();
            inner->cut = cut;
            const auto t = with_neighbour(inner, 7, plan);
            const auto events = events_of(*t);
            EXPECT_TRUE(events == expected(*inner, plan)) << to_text(plan) << ", batches of " << cut;
            EXPECT_EQ(t->header().tags.back(), "neighbour");
            EXPECT_EQ(summarise(*t).max_external_bytes, GiB);
        }
}

/// Batches stay bounded, also where every one of them is full.
TEST(Neighbour, ALongTrace)
{
    auto inner = std::make_shared<memory_trace>();
    for (int i = 0; i < 10'000; ++i) {
        inner->add({.kind = event_kind::step, .tag = 0});
        inner->alloc(0, 100).free(0);
    }
    const neighbour_plan plan{MiB, 5000, 9999};
    EXPECT_TRUE(events_of(*with_neighbour(inner, 7, plan)) == expected(*inner, plan));
}

TEST(Neighbour, TextAndPlanAreTheSame)
{
    for (const char* text : {"2GiB@step:40", "2GiB@step:40..60", "1@step:1..2"}) EXPECT_EQ(to_text(parse_neighbour(text)), text);
    EXPECT_EQ(to_text(parse_neighbour("1024MiB@step:7")), "1GiB@step:7");
    for (const char* bad : {"", "1GiB", "1GiB@7", "1GiB@step:", "1GiB@step:0", "1GiB@step:3..3", "1GiB@step:3..", "0@step:1", "@step:1",
                            "1GiB@step:1..2..3"})
        EXPECT_NE(error_of([&] { parse_neighbour(bad); }), "") << bad;
}

}  // namespace
}  // namespace vrambench::test
