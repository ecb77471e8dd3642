// Allocators with one mistake each on a real card: the kernels' patterns must find it and name both owners, and the same
// without the mistake must complete. What the simulator judges by order alone has to happen here, so the kernels are long.

#include "tests/card/card.hpp"
#include "tests/runner/broken_allocators.hpp"
#include "tests/runner/story.hpp"
#include "workloads/registry.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace vrambench::test {

namespace {

using ::testing::HasSubstr;

constexpr std::int64_t long_kernel = 50'000'000;     // nanoseconds: the other stream's write falls into it
constexpr std::uint64_t size = 4 * MiB;

/// First fit from one piece of driver memory; the flawed one does not look at the size of a cached block.
class carving_list final : public small_policy {
public:
    carving_list(device& dev, flaw f) : small_policy(dev, f), base_(dev.malloc(total)) { reserved_ = total; }
    ~carving_list() override
    {
        quietly([&] { device_.free(base_); });
    }
    allocation allocate(std::uint64_t bytes, std::uint64_t, stream_id) override
    {
        const auto fits = std::find_if(cached_.begin(), cached_.end(),
                                       [&](const auto& b) { return has(flaw::grants_less) || b.second >= bytes; });
        if (fits != cached_.end()) {
            const device_ptr p = fits->first;
            cached_.erase(fits);
            return {.pointer = p, .granted_bytes = bytes, .how = path::hit};
        }
        top_ += bytes;
        return {.pointer = base_ + top_ - bytes, .granted_bytes = bytes, .how = path::grow};
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id) override
    {
        cached_.emplace_back(pointer, granted_bytes);
        return {};
    }

private:
    static constexpr std::uint64_t total = 64 * MiB;
    device_ptr base_;
    std::uint64_t top_ = 0;
    std::vector<std::pair<device_ptr, std::uint64_t>> cached_;
};

/// Stream 0 still reads block 0 when it is freed; block 1 is asked for on stream 1 and written at once.
story used_on_two_streams()
{
    return story(2).alloc(0, size, 0).kernel(0, 1000, {}, {0}).kernel(0, long_kernel, {0}, {}).free(0, 0)
        .alloc(1, size, 1).kernel(1, 1000, {}, {1}).free(1, 1);
}

story two_that_live_together()
{
    return story().alloc(0, size).alloc(1, size).kernel(0, 1000, {}, {0}).kernel(0, 1000, {}, {1}).kernel(0, 1000, {0}, {})
        .free(1).free(0);
}

/// Block 2 is larger than the cached block 0; what follows it is block 1.
story one_that_does_not_fit()
{
    return story().alloc(0, MiB).alloc(1, size).kernel(0, 1000, {}, {1}).free(0).alloc(2, 2 * MiB).kernel(0, 1000, {}, {2})
        .kernel(0, 1000, {1}, {}).free(2).free(1);
}

}  // namespace

class card_checks : public on_card {
protected:
    static pass_measurement cold(const story& s, const allocator_maker& make, role what = role::verify)
    {
        return run_repetition(card_cell(std::make_shared<story>(s), "direct"), make, {}, what).cold;
    }

    static void expect_corrupted(const pass_measurement& m, const std::string& read, const std::string& found)
    {
        EXPECT_EQ(m.result.what, status::corrupted) << m.result.message;
        EXPECT_EQ(m.result.cause, "pattern-mismatch");
        EXPECT_GT(m.hazard_count, 0u);
        EXPECT_THAT(m.result.message, HasSubstr("read " + read));
        EXPECT_THAT(m.result.message, HasSubstr("found the contents of " + found));
    }
    static void expect_clean(const pass_measurement& m)
    {
        EXPECT_EQ(m.result.what, status::completed) << m.result.message;
        EXPECT_EQ(m.hazard_count, 0u);
    }
};

TEST_F(card_checks, a_block_that_another_stream_still_uses)
{
    expect_corrupted(cold(used_on_two_streams(), make_flawed<event_pool>(flaw::no_wait)), "block 0 (write 1)", "block 1 (write 1)");
    expect_clean(cold(used_on_two_streams(), make_flawed<event_pool>(flaw::none)));
}

/// Timed repetitions verify one group of words in 16.
TEST_F(card_checks, a_sample_finds_it_too)
{
    const auto timed = role::timed;
    expect_corrupted(cold(used_on_two_streams(), make_flawed<event_pool>(flaw::no_wait), timed), "block 0 (write 1)", "block 1 (write 1)");
    expect_clean(cold(used_on_two_streams(), make_flawed<event_pool>(flaw::none), timed));
}

TEST_F(card_checks, a_block_over_another)
{
    expect_corrupted(cold(two_that_live_together(), make_flawed<arena>(flaw::overlaps)), "block 0 (write 1)", "block 1 (write 1)");
    expect_clean(cold(two_that_live_together(), make_flawed<arena>(flaw::none)));
}

TEST_F(card_checks, a_block_that_is_too_small)
{
    expect_corrupted(cold(one_that_does_not_fit(), make_flawed<carving_list>(flaw::grants_less)), "block 1 (write 1)", "block 2 (write 1)");
    expect_clean(cold(one_that_does_not_fit(), make_flawed<carving_list>(flaw::none)));
}

/// A kernel on memory that is not there breaks the context for good: the outcome has call and code, and nothing hangs. In a
/// process of its own, which is started anew.
TEST_F(card_checks, memory_that_is_not_there)
{
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    const story s = story().alloc(0, size).step().kernel(0, 1000, {}, {0}).free(0);
    EXPECT_EXIT(
        {
            const pass_measurement m = cold(s, make_flawed<mapped_one_by_one>(flaw::frees_live));
            std::cerr << to_string(m.result.what) << ": " << m.result.message << '\n';
            std::exit(0);
        },
        ::testing::ExitedWithCode(0), "crashed: [a-z_]+: .*\\([0-9]+\\)");
    expect_clean(cold(s, make_flawed<mapped_one_by_one>(flaw::none)));
}

/// Every word that a kernel reads is verified, over growth, reuse and several streams.
class six_on_card : public on_card, public ::testing::WithParamInterface<const char*> {};

TEST_P(six_on_card, no_mismatch_with_every_word_verified)
{
    for (const char* workload : {"kv-pair:heads=8,head-dim=128,step=512,to=8192",
                                 "random:events=20000,max=4MiB,live=256MiB,order=lifo",
                                 "random:events=20000,max=4MiB,live=256MiB,order=lifo,streams=3,share=0.3,sync=step"}) {
        const repetition r = run_repetition(card_cell(make_trace(workload, 1), GetParam()), {}, role::verify);
        EXPECT_EQ(r.cold.result.what, status::completed) << workload << ": " << r.cold.result.message;
        ASSERT_TRUE(r.steady) << workload;
        EXPECT_EQ(r.steady->result.what, status::completed) << workload << ": " << r.steady->result.message;
    }
}

INSTANTIATE_TEST_SUITE_P(all, six_on_card, ::testing::Values("direct", "legacy", "legacy-retry", "async", "vmm", "ideal"),
                         [](const auto& i) { std::string n = i.param; std::replace(n.begin(), n.end(), '-', '_'); return n; });

}  // namespace vrambench::test
