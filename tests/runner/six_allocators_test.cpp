// The allocators as they are, over random traffic on one to four streams: the checker has nothing to say. Together with
// the seeded faults this is what makes its word worth something.

#include "tests/runner/bench_setup.hpp"
#include "tests/runner/story.hpp"
#include "workloads/registry.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vrambench::test {

namespace {

/// The policy and the order of frees. About 2 x 10^5 events each, spread over one to four streams.
struct combination {
    std::string allocator;
    std::string order;
};

void PrintTo(const combination& c, std::ostream* out) { *out << c.allocator << " " << c.order; }

std::vector<combination> combinations()
{
    std::vector<combination> all;
    for (const char* allocator : {"direct", "legacy", "legacy-retry", "async", "async:retry=sync", "async:retry=trim",
                                  "async:threshold=0", "vmm", "ideal"})
        for (const char* order : {"lifo", "fifo", "shuffled"})
            if (std::string(allocator) != "vmm" || std::string(order) == "lifo") all.push_back({allocator, order});
    return all;
}

std::string name_of(const combination& c)
{
    std::string name = c.allocator + "_" + c.order;
    for (char& ch : name)
        if (!std::isalnum(static_cast<unsigned char>(ch))) ch = '_';
    return name;
}

std::shared_ptr<const trace> traffic(const std::string& order, int streams, int events, const std::string& more)
{
    return make_trace("random:events=" + std::to_string(events) + ",streams=" + std::to_string(streams) + ",order=" + order +
                          ",share=0.3,max=32MiB,live=512MiB,blocks=96," + more,
                      static_cast<std::uint64_t>(streams));
}

void expect_no_hazard(const pass_measurement& m)
{
    EXPECT_EQ(m.hazard_count, 0u) << (m.hazards.empty() ? "" : m.hazards.front().message);
    EXPECT_TRUE(m.result.what == status::completed || m.result.what == status::oom)
        << to_string(m.result.what) << ": " << m.result.message;
}

class six_allocators : public ::testing::TestWithParam<combination> {};

TEST_P(six_allocators, raise_nothing)
{
    const combination& c = GetParam();
    for (int streams = 1; streams <= 4; ++streams) {
        const std::string sync = streams % 2 ? "sync=none,step=100" : "sync=step,step=100";
        const repetition r = run_repetition(cell_of(traffic(c.order, streams, 25'000, sync), c.allocator), {});
        EXPECT_EQ(r.cold.result.what, status::completed) << r.cold.result.message;
        expect_no_hazard(r.cold);
        ASSERT_TRUE(r.steady) << streams << " streams";
        expect_no_hazard(*r.steady);
    }
}

/// The same where memory is short, so that flushes, trims and retries happen. It may run out; it may not corrupt.
TEST_P(six_allocators, raise_nothing_where_memory_is_short)
{
    const combination& c = GetParam();
    std::uint64_t rescued = 0;
    for (int streams = 1; streams <= 4; ++streams)
        for (const std::uint64_t limit : {640 * MiB, 800 * MiB, 1200 * MiB}) {
            const repetition r = run_repetition(
                cell_of(traffic(c.order, streams, 4'000, "sync=none,alloc=0.6,kernel-ns=3000000"), c.allocator, "sim:h200", limit), {});
            expect_no_hazard(r.cold);
            rescued += r.cold.recoveries;
            if (r.steady) expect_no_hazard(*r.steady);
        }
    if (c.allocator == "legacy-retry") { EXPECT_GT(rescued, 0u); }
}

/// The list pool's flush synchronises for a device whose free does not wait; pools, stacks and plans free nothing.
TEST_P(six_allocators, raise_nothing_where_free_does_not_wait)
{
    const combination& c = GetParam();
    if (c.allocator == "direct") {    // it relies on a free that waits
        const repetition r = run_repetition(cell_of(traffic(c.order, 2, 4'000, "kernel-ns=3000000"), "direct", impatient_device()), {});
        EXPECT_EQ(r.cold.result.cause, "released-in-use");
        return;
    }
    std::uint64_t rescued = 0;
    for (int streams = 1; streams <= 4; ++streams)
        for (const std::uint64_t limit : {640 * MiB, 800 * MiB, 1200 * MiB}) {
            const repetition r = run_repetition(
                cell_of(traffic(c.order, streams, 4'000, "sync=none,alloc=0.6,kernel-ns=3000000"), c.allocator, impatient_device(), limit), {});
            expect_no_hazard(r.cold);
            rescued += r.cold.recoveries;
        }
    if (c.allocator == "legacy-retry") { EXPECT_GT(rescued, 0u); }
}

/// The host may learn very late that a block's free is done, when the freeing stream has long waited for others again: the
/// pool moves the block's memory then, and what the free was behind must not have been forgotten.
TEST(long_traffic, a_free_that_the_host_sees_late_is_still_behind_its_uses)
{
    for (const int edges : {10, 200, 300, 1000, 5000}) {
        story s(2);
        s.alloc(0, 32 * MiB, 1).alloc(2, 32 * MiB, 1).kernel(0, 10, {}, {0}).record(0, 0).wait(0, 1).free(0, 1);
        for (int i = 0; i < edges; ++i) s.kernel(0, 10).record(0, 0).wait(0, 1);
        s.alloc(1, 64 * MiB, 1).free(1, 1).free(2, 1);    // too large for what is pending: the pool polls, and remaps its memory
        const repetition r = run_repetition(cell_of(std::make_shared<story>(s), "async"), {});
        SCOPED_TRACE(std::to_string(edges) + " edges");
        expect_no_hazard(r.cold);
        EXPECT_EQ(r.cold.result.what, status::completed);
    }
}

/// So many waits that what the streams knew has to be sifted again and again, on pools that poll and remap.
TEST(long_traffic, many_waits_on_pools_that_remap_raise_nothing)
{
    for (const char* allocator : {"async", "async:retry=sync", "async:retry=trim", "async:threshold=0"})
        for (int streams = 2; streams <= 4; ++streams) {
            const std::shared_ptr<const trace> t =
                make_trace("random:events=150000,max=256MiB,live=4GiB,order=lifo,share=0.3,kernels=0.4,streams=" + std::to_string(streams),
                           23u + static_cast<unsigned>(streams));
            const repetition r = run_repetition(cell_of(t, allocator), {});
            SCOPED_TRACE(std::string(allocator) + " on " + std::to_string(streams) + " streams");
            EXPECT_EQ(r.cold.result.what, status::completed);
            expect_no_hazard(r.cold);
            ASSERT_TRUE(r.steady);
            expect_no_hazard(*r.steady);
        }
}

INSTANTIATE_TEST_SUITE_P(all, six_allocators, ::testing::ValuesIn(combinations()),
                         [](const auto& chosen) { return name_of(chosen.param); });

}  // namespace

}  // namespace vrambench::test
