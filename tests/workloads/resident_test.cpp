#include "tests/workloads/trace_tools.hpp"

#include "spec/units.hpp"
#include "workloads/resident.hpp"

namespace vrambench::test {
namespace {

std::shared_ptr<memory_trace> some_traffic()
{
    auto t = std::make_shared<memory_trace>();
    t->add({.kind = event_kind::step, .tag = 0, .tokens = 1});
    t->add({.kind = event_kind::external_alloc, .tag = 1, .id = 3, .bytes = MiB});
    t->alloc(0, 100).alloc(1, 200).kernel({0}, {1}).free(0).free(1);    // not last in, first out
    t->add({.kind = event_kind::external_free, .id = 3});
    return t;
}

TEST(Resident, IsTakenFirstAndKept)
{
    const auto inner = some_traffic();
    const trace_summary before = summarise(*inner);
    const auto t = with_resident(inner, before.external_ids, GiB);
    const auto events = events_of(*t);
    ASSERT_EQ(events.size(), inner->events.size() + 1);
    EXPECT_EQ(events[0].e.kind, event_kind::external_alloc);
    EXPECT_EQ(events[0].e.bytes, GiB);
    EXPECT_EQ(t->header().tags.at(events[0].e.tag), "resident");
    EXPECT_EQ(t->header().spec, inner->header().spec);
    for (std::size_t i = 0; i < inner->events.size(); ++i) EXPECT_TRUE(events[i + 1] == inner->events[i]) << i;
    EXPECT_EQ(events_of(*t).size(), events.size()) << "opened again";
}

TEST(Resident, SummaryIsThatOfTheTrace)
{
    const auto inner = some_traffic();
    const trace_summary before = summarise(*inner);
    const trace_summary told = with_resident(before, GiB), read = summarise(*with_resident(inner, before.external_ids, GiB));
    EXPECT_EQ(read.max_external_bytes, GiB + MiB);
    EXPECT_EQ(told.max_external_bytes, read.max_external_bytes);
    EXPECT_EQ(told.events, read.events);
    EXPECT_EQ(told.external_ids, read.external_ids);
    EXPECT_EQ(told.first_non_lifo_event, read.first_non_lifo_event);
    EXPECT_EQ(told.max_live_bytes, read.max_live_bytes);
    EXPECT_EQ(told.block_ids, read.block_ids);
}

}  // namespace
}  // namespace vrambench::test
