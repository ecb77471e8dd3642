// Every way in which a run can end, produced on purpose, with the word for it.

#include "bench/failure_cause.hpp"
#include "tests/runner/bench_setup.hpp"
#include "tests/runner/broken_allocators.hpp"
#include "tests/runner/story.hpp"
#include "workloads/registry.hpp"

#include <gtest/gtest.h>

namespace vrambench::test {

namespace {

/// 64 MiB in blocks of 2 MiB, small requests share one.
outcome end_of(const story& s, const std::string& allocator, std::uint64_t limit = 64 * MiB)
{
    return run_repetition(cell_of(std::make_shared<story>(s), allocator, patient_device(), limit), {}).cold.result;
}

std::string words(const outcome& o) { return std::string(to_string(o.what)) + " " + o.cause; }

}  // namespace

// -- out of memory

TEST(causes, live)
{
    const story s = story().step().alloc(0, 40 * MiB).step().alloc(1, 60 * MiB, 0, 128, 1).free(1).free(0);
    constexpr std::uint64_t limit = 98 * MiB;
    for (const char* allocator : {"direct", "legacy", "legacy-retry", "async", "async:retry=sync", "async:retry=trim", "vmm"}) {
        const outcome o = end_of(s, allocator, limit);
        EXPECT_EQ(words(o), "oom live") << allocator;
        EXPECT_EQ(o.event, 3u) << allocator;
        EXPECT_EQ(o.step, 2u) << allocator;
        EXPECT_EQ(o.phase, "prefill") << allocator;
        EXPECT_EQ(o.tag, "second") << allocator;
        EXPECT_EQ(o.wanted_bytes, 60 * MiB) << allocator;
        EXPECT_EQ(o.live_bytes, 40 * MiB) << allocator;
    }
    EXPECT_EQ(words(end_of(s, "ideal", limit)), "oom fragmented");    // at the first request: the arena for both is not there
}

TEST(causes, external_memory_counts_as_live)
{
    const story s = story().external_alloc(0, 40 * MiB).alloc(0, 30 * MiB).free(0).external_free(0);
    EXPECT_EQ(words(end_of(s, "legacy")), "oom live");
}

TEST(causes, retained)
{
    const story s = story().alloc(0, 30 * MiB).free(0).alloc(1, 40 * MiB).free(1);
    const outcome o = end_of(s, "legacy");
    EXPECT_EQ(words(o), "oom retained");
    EXPECT_EQ(o.live_bytes, 0u);
    EXPECT_GE(o.cached_bytes, 30 * MiB);
    EXPECT_EQ(o.driver_free_bytes, 32 * MiB);
    EXPECT_EQ(words(end_of(s, "legacy-retry")), "completed ");
}

/// The list pool's own rounding: 62 MiB would fit, 65.1 do not.
TEST(causes, fragmented_by_rounding)
{
    EXPECT_EQ(words(end_of(story().alloc(0, 62 * MiB).free(0), "legacy")), "oom fragmented");
    EXPECT_EQ(words(end_of(story().alloc(0, 62 * MiB).free(0), "direct")), "completed ");
}

/// 40 MiB are two chunks of 32, and 2 MiB must stay free beside a chunk: with all of 64 MiB free the pool cannot serve it.
TEST(causes, fragmented_by_chunks)
{
    EXPECT_EQ(words(end_of(story().alloc(0, 40 * MiB).free(0), "async")), "oom fragmented");
    EXPECT_EQ(words(end_of(story().alloc(0, 40 * MiB).free(0), "async", 66 * MiB)), "completed ");
}

/// Live blocks take 4 MiB of the card, 60 are left for the 60.9 (62 in blocks) that 58 become; the small cached blocks all
/// share one physical block, so giving them back would not help.
TEST(causes, cached_blocks_that_share_memory_count_once)
{
    story s;
    s.alloc(200, 2 * MiB);
    for (std::uint32_t i = 0; i < 100; ++i) s.alloc(i, 4096);
    for (std::uint32_t i = 0; i < 100; ++i) s.free(i);
    s.alloc(0, 58 * MiB);
    EXPECT_EQ(words(end_of(s, "legacy")), "oom fragmented");
}

/// What the driver keeps free beside a block decides too: by bytes alone all of these would fit.
TEST(causes, the_drivers_margin_counts)
{
    nlohmann::json p = card_profile(true);
    p["raw_margin"] = p["handle_margin"] = 1179649;
    const std::string device = device_of(p);
    const auto end = [&](const story& s, const char* allocator) {
        return words(run_repetition(cell_of(std::make_shared<story>(s), allocator, device, 64 * MiB), {}).cold.result);
    };
    const auto beside = [](std::uint64_t first, std::uint64_t outside, std::uint64_t wanted) {
        return story().alloc(0, first * MiB).free(0).external_alloc(0, outside * MiB).alloc(1, wanted * MiB).free(1).external_free(0);
    };
    EXPECT_EQ(end(beside(30, 32, 32), "vmm"), "oom fragmented");       // 2 MiB are missing and free, and must not be the last
    EXPECT_EQ(end(beside(30, 30, 32), "vmm"), "completed ");
    EXPECT_EQ(end(beside(28, 30, 32), "legacy"), "oom fragmented");    // 33.6 MiB take 34, and that is all there would be
    EXPECT_EQ(end(beside(28, 28, 32), "legacy"), "oom retained");
    EXPECT_EQ(end(beside(28, 34, 1), "legacy"), "starved external");
    EXPECT_EQ(end(beside(28, 64, 1), "legacy"), "oom external");       // not even with the pool's 30 MiB given back
    EXPECT_EQ(end(beside(30, 32, 32), "direct"), "oom fragmented");
}

/// 30 MiB wait on the stream; without them there is less than the 70 wanted.
TEST(causes, pending)
{
    const story s = story().alloc(0, 30 * MiB).kernel(0, 1'000'000'000, {}, {0}).free(0).alloc(1, 70 * MiB).free(1);
    EXPECT_EQ(words(end_of(s, "async", 98 * MiB)), "oom pending");
    EXPECT_EQ(words(end_of(s, "async:retry=sync", 98 * MiB)), "completed ");
}

TEST(causes, external_and_starved)
{
    const story too_large = story().alloc(0, 30 * MiB).external_alloc(0, 50 * MiB, 1).external_free(0).free(0);
    const outcome o = end_of(too_large, "direct");
    EXPECT_EQ(words(o), "oom external");
    EXPECT_EQ(o.tag, "second");
    EXPECT_EQ(o.event, 1u);
    EXPECT_EQ(o.wanted_bytes, 50 * MiB);
    EXPECT_EQ(words(end_of(too_large, "legacy")), "oom external");
    const story held_back = story().alloc(0, 30 * MiB).free(0).external_alloc(0, 50 * MiB).external_free(0);
    EXPECT_EQ(words(end_of(held_back, "legacy")), "starved external");
    EXPECT_EQ(words(end_of(held_back, "vmm")), "starved external");
    EXPECT_EQ(words(end_of(held_back, "direct")), "completed ");
    EXPECT_EQ(words(end_of(held_back, "async")), "starved external");    // nobody synchronised: the pool does not know
    const story synchronised = story().alloc(0, 30 * MiB).free(0).sync().external_alloc(0, 50 * MiB).external_free(0);
    EXPECT_EQ(words(end_of(synchronised, "async")), "completed ");         // the driver empties its pools first
    EXPECT_EQ(words(end_of(synchronised, "legacy")), "starved external");
}

/// Beyond the 32 GiB that the stack reserves, on a card that has more.
TEST(causes, address_space)
{
    const story s = story().alloc(0, 20 * GiB).alloc(1, 20 * GiB).free(1).free(0);
    const repetition r = run_repetition(cell_of(std::make_shared<story>(s), "vmm"), {});
    EXPECT_EQ(words(r.cold.result), "oom address-space");
    EXPECT_EQ(r.cold.result.event, 1u);
}

TEST(causes, injected)
{
    class refuses final : public wrapped {
    public:
        using wrapped::wrapped;
        allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override
        {
            return ++calls_ == 2 ? allocation{.why = failure::injected} : wrapped::allocate(bytes, alignment, stream);
        }

    private:
        int calls_ = 0;
    };
    const story s = story().alloc(0, MiB).alloc(1, MiB).free(1).free(0);
    const auto make = [](device& dev, std::uint32_t) -> std::unique_ptr<allocator> {
        return std::make_unique<refuses>(std::make_unique<list_pool>(dev), dev);
    };
    EXPECT_EQ(words(run_repetition(cell_of(std::make_shared<story>(s), "legacy"), make, {}).cold.result), "oom injected");
}

TEST(causes, a_failed_repetition_has_no_steady_pass_and_a_message)
{
    const repetition r = run_repetition(
        cell_of(std::make_shared<story>(story().alloc(0, 70 * MiB)), "legacy", patient_device(), 64 * MiB), {});
    EXPECT_FALSE(r.steady);
    EXPECT_NE(r.cold.result.message.find("70.00 MiB for first"), std::string::npos) << r.cold.result.message;
    EXPECT_EQ(r.cold.failures, 1u);
    EXPECT_EQ(r.cold.alloc[static_cast<int>(path::fail)].count(), 1u);
}

/// The judge alone: the order of its words.
TEST(causes, the_first_word_that_fits_is_taken)
{
    class holds final : public small_policy {
    public:
        holds(device& dev, std::uint64_t cached, std::uint64_t pending) : small_policy(dev), cached_(cached), pending_(pending) {}
        allocation allocate(std::uint64_t, std::uint64_t, stream_id) override { return {}; }
        deallocation deallocate(device_ptr, std::uint64_t, stream_id) override { return {}; }
        allocator_stats stats() const override
        {
            allocator_stats s;
            s.cached = cached_, s.pending = pending_;
            return s;
        }

    private:
        std::uint64_t cached_, pending_;
    };
    const auto dev = open_device(choose_device(patient_device()), {});
    const holds nothing(*dev, 0, 0), retains(*dev, 50, 0), waits(*dev, 50, 30);
    const failure_scene fits{.wanted = 60, .live = 20, .limit = 100, .driver_free = 30};
    EXPECT_STREQ(judge_failure(fits, nothing), "fragmented");
    EXPECT_STREQ(judge_failure(fits, retains), "retained");
    EXPECT_STREQ(judge_failure(fits, waits), "pending");
    failure_scene too_much = fits;
    too_much.wanted = 81;
    EXPECT_STREQ(judge_failure(too_much, waits), "live");
    too_much.why = failure::address_space;
    EXPECT_STREQ(judge_failure(too_much, waits), "address-space");
    too_much.why = failure::injected;
    EXPECT_STREQ(judge_failure(too_much, waits), "injected");
    failure_scene rounded = fits;
    rounded.asked = 90;
    EXPECT_STREQ(judge_failure(rounded, retains), "fragmented");
    EXPECT_EQ(free_if_given_back(fits, retains), 80u);
}

// -- not supported

TEST(causes, unsupported_before_the_start)
{
    const story queue = story().alloc(0, MiB).alloc(1, MiB).label("breaks").free(0).free(1);
    const outcome fifo = end_of(queue, "vmm");
    EXPECT_EQ(words(fifo), "unsupported ");
    EXPECT_NE(fifo.message.find("at event 2"), std::string::npos) << fifo.message;
    const story aligned = story().alloc(0, MiB, 0, 512).free(0);
    for (const char* allocator : {"direct", "legacy", "async", "vmm"}) {
        const outcome o = end_of(aligned, allocator);
        EXPECT_EQ(words(o), "unsupported ") << allocator;
        EXPECT_NE(o.message.find("alignment of 512"), std::string::npos) << o.message;
    }
    EXPECT_EQ(words(end_of(story().alloc(0, MiB, 0, 256).free(0), "vmm")), "unsupported ");
    EXPECT_EQ(words(end_of(story().alloc(0, MiB, 0, 256).free(0), "legacy")), "completed ");
    const story crossing = story(2).alloc(0, MiB, 0).free(0, 1);
    EXPECT_EQ(words(end_of(crossing, "ideal")), "unsupported ");
    EXPECT_EQ(words(end_of(crossing, "vmm")), "unsupported ");
    EXPECT_EQ(words(end_of(crossing, "async")), "completed ");
}

TEST(causes, unsupported_leaves_no_trace_of_a_run)
{
    const repetition r = run_repetition(
        cell_of(std::make_shared<story>(story().alloc(0, MiB).alloc(1, MiB).free(0).free(1)), "vmm", patient_device()), {});
    EXPECT_EQ(r.cold.events, 0u);
    EXPECT_EQ(r.cold.time_ps, 0);
    EXPECT_FALSE(r.steady);
}

TEST(causes, unsupported_by_the_device)
{
    nlohmann::json p = card_profile(true);
    p["vmm_granularity"] = 0;
    const auto s = std::make_shared<story>(story().alloc(0, MiB).free(0));
    const repetition r = run_repetition(cell_of(s, "vmm", device_of(p)), {});
    EXPECT_EQ(words(r.cold.result), "unsupported ");
    EXPECT_NE(r.cold.result.message.find("no virtual memory"), std::string::npos);
}

/// Stream-ordered allocations inside a capture become graph nodes, which the simulator does not model.
TEST(causes, unsupported_inside_a_capture)
{
    const auto s = std::make_shared<story>(story().graph_begin(0).alloc(0, MiB).writes(0).free(0).graph_end(0).graph_launch(0));
    cell c = cell_of(s, "async", patient_device());
    c.mode = run_mode::graph;
    const outcome o = run_repetition(c, {}).cold.result;
    EXPECT_EQ(words(o), "unsupported ");
    EXPECT_EQ(o.event, 1u);
}

/// A request that fails inside a capture is out of memory like any other.
TEST(causes, out_of_memory_inside_a_capture)
{
    const auto s = std::make_shared<story>(story().graph_begin(0).alloc(0, 70 * MiB).writes(0).free(0).graph_end(0).graph_launch(0));
    cell c = cell_of(s, "ideal", patient_device(), 64 * MiB);
    c.mode = run_mode::graph;
    EXPECT_EQ(words(run_repetition(c, {}).cold.result), "oom live");
}

// -- crashed, timeout, interrupted

namespace {

enum class call { make, prepare, allocate, deallocate, notify };

/// Throws in one of its calls.
template <class Error> class thrower final : public wrapped {
public:
    thrower(std::unique_ptr<allocator> inner, device& dev, call where, Error error)
        : wrapped(std::move(inner), dev), where_(where), error_(std::move(error))
    {
        if (where_ == call::make) throw error_;
    }
    void prepare(const trace&, const trace_summary&) override { maybe(call::prepare); }
    allocation allocate(std::uint64_t bytes, std::uint64_t alignment, stream_id stream) override
    {
        if (++allocations_ == 2) maybe(call::allocate);
        return wrapped::allocate(bytes, alignment, stream);
    }
    deallocation deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id stream) override
    {
        maybe(call::deallocate);
        return wrapped::deallocate(pointer, granted_bytes, stream);
    }
    void notify(notification what) override
    {
        if (what == notification::step) maybe(call::notify);
    }

private:
    void maybe(call here)
    {
        if (here == where_) throw error_;
    }
    call where_;
    Error error_;
    int allocations_ = 0;
};

template <class Error> outcome crash_in(call where, const Error& error)
{
    const auto s = std::make_shared<story>(story().alloc(0, MiB).alloc(1, MiB, 0, 128, 1).free(1).step().free(0));
    const auto make = [&](device& dev, std::uint32_t) -> std::unique_ptr<allocator> {
        return std::make_unique<thrower<Error>>(std::make_unique<list_pool>(dev), dev, where, error);
    };
    return run_repetition(cell_of(s, "legacy", patient_device()), make, {}).cold.result;
}

}  // namespace

TEST(causes, crashed_by_a_device_error_or_a_broken_contract)
{
    const device_error lost(driver_call::launch, 700, "illegal address", "by a test");
    const policy_error broken("a block was freed that is not the last one allocated");
    const std::pair<call, std::uint64_t> places[] = {{call::allocate, 1}, {call::deallocate, 2}, {call::notify, 3}};
    for (const auto& [where, event] : places) {
        const outcome a = crash_in(where, lost), b = crash_in(where, broken);
        EXPECT_EQ(words(a), "crashed ");
        EXPECT_EQ(a.event, event);
        EXPECT_EQ(a.message, "launch: illegal address (700): by a test");
        EXPECT_EQ(words(b), "crashed ");
        EXPECT_EQ(b.event, event);
        EXPECT_EQ(b.message, broken.what());
    }
    EXPECT_EQ(crash_in(call::allocate, lost).tag, "second");
}

/// An allocator that cannot even be made or prepared is an outcome of its cell, not the end of the whole run.
TEST(causes, crashed_before_the_start)
{
    const device_error lost(driver_call::pool_create, 801, "not supported", "by a test");
    EXPECT_EQ(words(crash_in(call::make, lost)), "crashed ");
    EXPECT_EQ(words(crash_in(call::prepare, lost)), "crashed ");
}

TEST(causes, timeout)
{
    const auto t = std::shared_ptr<const trace>(make_trace("random:events=2000000", 1));
    const cell c = cell_of(t, "legacy");
    const repetition r = run_repetition(c, {.timeout = std::chrono::milliseconds(1)});
    EXPECT_EQ(words(r.cold.result), "timeout ");
    EXPECT_NE(r.cold.result.message.find("1 ms"), std::string::npos);
    EXPECT_LT(r.cold.events, c.workload->summary.events);
    EXPECT_EQ(r.cold.result.event, r.cold.events);
    EXPECT_FALSE(r.steady);
}

TEST(causes, interrupted)
{
    const auto t = std::shared_ptr<const trace>(make_trace("random:events=50000", 1));
    const cell c = cell_of(t, "legacy");
    std::atomic<bool> stop = true;
    EXPECT_THROW(run_repetition(c, {.stop = &stop}), run_interrupted);
    stop = false;
    double seen = 0;
    run_controls in_the_middle{.stop = &stop};
    in_the_middle.on_progress = [&](double share) {
        seen = share;
        stop = true;
    };
    EXPECT_THROW(run_repetition(c, in_the_middle), run_interrupted);
    EXPECT_GT(seen, 0.0);
    EXPECT_LT(seen, 1.0);
    stop = false;
    EXPECT_EQ(run_repetition(c, {.stop = &stop}).cold.result.what, status::completed);
}

}  // namespace vrambench::test
