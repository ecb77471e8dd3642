// Reading a trace for its summary: it is told how far it is, and can be stopped.

#include "bench/interrupt.hpp"
#include "bench/reading.hpp"
#include "bench/runner.hpp"
#include "workloads/registry.hpp"
#include "workloads/watched_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <vector>

namespace vrambench::test {

TEST(reading, tells_after_every_batch_and_ends_with_what_is_thrown)
{
    const auto t = make_trace("random:events=50000", 1);
    std::vector<std::uint64_t> told;
    const trace_summary s = summarise(*t, [&](std::uint64_t events) { told.push_back(events); });
    ASSERT_GT(told.size(), 3u);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), s.events);
    std::uint64_t last = 0;
    const auto stop = [&](std::uint64_t events) {
        last = events;
        if (events >= told[1]) throw run_interrupted();
    };
    EXPECT_THROW(summarise(*t, stop), run_interrupted);
    EXPECT_EQ(last, told[1]);
}

TEST(reading, stops_at_sigint)
{
    const auto t = make_trace("random:events=50000", 1);
    {
        const interrupt_guard guard;
        EXPECT_EQ(summarise_telling(*t).events, summarise(*t).events);
        std::raise(SIGINT);
        EXPECT_THROW(summarise_telling(*t), run_interrupted);
    }
    const interrupt_guard another;    // and the next command begins anew
    EXPECT_NO_THROW(summarise_telling(*t));
}

}  // namespace vrambench::test
