// What holds for every allocator over any trace, held against many small random ones.

#include "tests/runner/bench_setup.hpp"
#include "tests/runner/story.hpp"
#include "workloads/random_numbers.hpp"
#include "workloads/registry.hpp"
#include "workloads/trace_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace vrambench::test {

namespace {

const std::vector<std::string>& allocators()
{
    static const std::vector<std::string> all = {"ideal", "direct", "legacy", "legacy-retry", "async", "async:retry=sync",
                                                 "async:retry=trim", "async:threshold=0", "vmm"};
    return all;
}

/// The n-th small random trace: any order, sizes, depth and number of streams.
std::shared_ptr<const trace> random_trace(std::uint64_t n, const std::string& sizes = "")
{
    random_numbers r(n);
    const auto pick = [&](std::initializer_list<const char*> words) { return std::string(words.begin()[r.below(words.size())]); };
    std::string spec = "random:events=" + std::to_string(100 + r.below(500));
    spec += ",order=" + pick({"lifo", "lifo", "fifo", "shuffled"}) + ",streams=" + pick({"1", "1", "2", "3"});
    const std::string largest = pick({"4KiB", "1MiB", "8MiB", "8MiB"});
    spec += "," + (sizes.empty() ? "max=" + largest : sizes);
    spec += ",live=" + pick({"16MiB", "64MiB"}) + ",share=" + pick({"0", "0.3"});
    spec += ",sync=" + pick({"none", "step"}) + ",step=" + pick({"10", "50"}) + ",alloc=" + pick({"0.5", "0.7"});
    spec += ",kernel-ns=" + pick({"roofline", "20000", "500000"}) + ",seed=" + std::to_string(n);
    return make_trace(spec, 0);
}

/// Runs each trace with each allocator that can run it. Blocks of 256 bytes, so that sizes reconcile to the byte.
void for_each_run(std::uint64_t traces, const std::function<void(const std::string& allocator, const cell&, const repetition&)>& check,
                  const std::string& device = "sim:h200,block=256", const std::string& sizes = "")
{
    std::uint64_t runs = 0;
    for (std::uint64_t n = 1; n <= traces; ++n) {
        const auto t = random_trace(n, sizes);
        for (const auto& name : allocators()) {
            const cell c = cell_of(t, name, device);
            if (name == "vmm" && !c.workload->summary.lifo) continue;
            SCOPED_TRACE(name + " on " + t->header().spec);
            const repetition r = run_repetition(c, {});
            ASSERT_EQ(r.cold.result.what, status::completed) << r.cold.result.message;
            ASSERT_TRUE(r.steady);
            ASSERT_EQ(r.steady->result.what, status::completed) << r.steady->result.message;
            check(name, c, r);
            ++runs;
        }
    }
    EXPECT_GE(runs, 8 * traces);
}

std::uint64_t calls(const pass_measurement& m, driver_call call) { return m.calls[static_cast<std::size_t>(call)]; }
std::uint64_t count(const pass_measurement& m, path how) { return m.alloc[static_cast<int>(how)].count(); }

std::uint64_t total(const std::array<histogram, path_kinds>& paths)
{
    std::uint64_t n = 0;
    for (const auto& h : paths) n += h.count();
    return n;
}

bool is_async(const std::string& name) { return name.starts_with("async"); }
bool is_list(const std::string& name) { return name.starts_with("legacy"); }

}  // namespace

TEST(properties, a_completed_pass_lived_through_the_whole_trace)
{
    for_each_run(40, [](const std::string&, const cell& c, const repetition& r) {
        const trace_summary& s = c.workload->summary;
        for (const pass_measurement* m : {&r.cold, &*r.steady}) {
            EXPECT_EQ(m->peak_live_bytes, s.max_live_bytes);
            EXPECT_EQ(m->events, s.events);
            EXPECT_EQ(total(m->alloc), s.alloc_calls);
            EXPECT_EQ(total(m->free), s.free_calls);
            EXPECT_EQ(calls(*m, driver_call::launch), s.launches);
            EXPECT_EQ(m->failures, 0u);
            std::uint64_t steps = 0;
            std::int64_t time = 0;
            for (const auto& p : m->phases) steps += p.steps, time += p.time_ps;
            EXPECT_EQ(steps, s.steps);
            EXPECT_EQ(time, m->time_ps);    // these traces begin with a step
            EXPECT_EQ(m->activity.span_ps, m->time_ps);
            EXPECT_LE(m->activity.busy_ps, m->time_ps);
            EXPECT_LE(m->activity.empty_queue_ps, m->time_ps);
            EXPECT_GE(m->reserved_byte_ps, m->live_byte_ps);
        }
    });
}

TEST(properties, reserved_bytes_reconcile_with_the_device)
{
    for_each_run(40, [](const std::string& name, const cell& c, const repetition& r) {
        const trace_summary& s = c.workload->summary;
        for (const pass_measurement* m : {&r.cold, &*r.steady}) {
            EXPECT_GE(m->peak_reserved_bytes, s.max_live_bytes);
            EXPECT_GE(m->peak_device_bytes, m->peak_reserved_bytes);
            EXPECT_LE(m->end_reserved_bytes, m->peak_reserved_bytes);
            // One driver allocation a block is rounded up to 256 bytes, an arena of the plan once a stream; the others
            // ask for whole units.
            const std::uint64_t slack = name == "direct" ? 255 * s.max_live_blocks : name == "ideal" ? 255 * s.streams : 0;
            EXPECT_LE(m->peak_device_bytes, m->peak_reserved_bytes + slack);
        }
    });
}

/// With 2 MiB blocks that small requests share, the driver's view is never the smaller one.
TEST(properties, the_driver_sees_at_least_what_is_reserved)
{
    for_each_run(15, [](const std::string& name, const cell&, const repetition& r) {
        // Small blocks may lie in the one that the process holds anyway.
        EXPECT_GE(r.cold.peak_device_bytes + 2 * MiB, r.cold.peak_reserved_bytes);
        if (is_async(name) || name == "vmm") { EXPECT_EQ(r.cold.peak_device_bytes, r.cold.peak_reserved_bytes); }
    }, "sim:h200");
}

TEST(properties, driver_calls_are_the_paths_that_asked)
{
    for_each_run(40, [](const std::string& name, const cell& c, const repetition& r) {
        const trace_summary& s = c.workload->summary;
        for (const pass_measurement* m : {&r.cold, &*r.steady}) {
            if (name == "direct") {
                EXPECT_EQ(count(*m, path::driver), s.alloc_calls);
                EXPECT_EQ(calls(*m, driver_call::malloc), s.alloc_calls);
                EXPECT_EQ(calls(*m, driver_call::free), s.free_calls);
            } else {
                EXPECT_EQ(calls(*m, driver_call::malloc), is_list(name) ? count(*m, path::grow) : 0);
                EXPECT_EQ(calls(*m, driver_call::free), m->free[static_cast<int>(path::driver)].count());
            }
            for (const auto call : {driver_call::create, driver_call::map, driver_call::release, driver_call::set_access})
                EXPECT_EQ(calls(*m, call), name == "vmm" ? count(*m, path::grow) : 0);
            EXPECT_EQ(calls(*m, driver_call::malloc_async), is_async(name) ? s.alloc_calls : 0);
            EXPECT_EQ(calls(*m, driver_call::free_async), is_async(name) ? s.free_calls : 0);
            if (name == "ideal") { EXPECT_EQ(count(*m, path::hit), s.alloc_calls); }
            EXPECT_EQ(count(*m, path::fail) + count(*m, path::flush_retry), 0u);
        }
        for (const auto call : {driver_call::malloc, driver_call::malloc_async, driver_call::create})
            EXPECT_EQ(r.steady->teardown_calls[static_cast<std::size_t>(call)], 0u);
    });
}

/// The stack and the plan never ask twice. The list pool asks again in a second pass where sizes differ, because what it
/// kept is handed out in another order; where all requests are equal it does not.
TEST(properties, a_steady_pass_does_not_ask_the_driver)
{
    const auto asks = [](const pass_measurement& m) { return calls(m, driver_call::malloc) + calls(m, driver_call::create); };
    std::uint64_t list_asked = 0;
    for_each_run(30, [&](const std::string& name, const cell&, const repetition& r) {
        if (name == "vmm" || name == "ideal") {
            EXPECT_EQ(asks(*r.steady), 0u);
            EXPECT_EQ(r.steady->peak_reserved_bytes, r.cold.peak_reserved_bytes);
        }
        if (is_list(name)) list_asked += asks(*r.steady);
    });
    EXPECT_GT(list_asked, 0u);
    for_each_run(10, [&](const std::string& name, const cell&, const repetition& r) {
        if (is_list(name) || name == "vmm" || name == "ideal") { EXPECT_EQ(asks(*r.steady), 0u); }
    }, "sim:h200", "min=4KiB,max=4KiB,blocks=200");
}

/// Virtual time is built from sums and maxima: calls that cost nothing and never wait can only make everything earlier.
TEST(properties, no_allocator_is_faster_than_the_reference)
{
    std::int64_t cold = 0, steady = 0;    // the reference comes first
    for_each_run(40, [&](const std::string& name, const cell&, const repetition& r) {
        if (name == "ideal") {
            cold = r.cold.time_ps, steady = r.steady->time_ps;
            EXPECT_EQ(cold, steady);
            return;
        }
        EXPECT_GE(r.cold.time_ps, cold);
        EXPECT_GE(r.steady->time_ps, steady);
        EXPECT_EQ(r.cold.activity.busy_ps > 0, r.cold.time_ps > 0);
    });
}

namespace {

void expect_same(const pass_measurement& a, const pass_measurement& b)
{
    EXPECT_EQ(a.result.what, b.result.what);
    EXPECT_EQ(a.result.cause, b.result.cause);
    EXPECT_EQ(a.result.event, b.result.event);
    EXPECT_EQ(a.result.tag, b.result.tag);
    EXPECT_EQ(a.events, b.events);
    EXPECT_EQ(a.time_ps, b.time_ps);
    EXPECT_EQ(a.calls, b.calls);
    EXPECT_EQ(a.refused, b.refused);
    EXPECT_EQ(a.teardown_calls, b.teardown_calls);
    EXPECT_EQ(a.cached_blocks, b.cached_blocks);
    EXPECT_EQ(std::tie(a.peak_live_bytes, a.peak_reserved_bytes, a.peak_device_bytes, a.end_reserved_bytes),
              std::tie(b.peak_live_bytes, b.peak_reserved_bytes, b.peak_device_bytes, b.end_reserved_bytes));
    EXPECT_EQ(std::tie(a.live_byte_ps, a.reserved_byte_ps), std::tie(b.live_byte_ps, b.reserved_byte_ps));
    EXPECT_EQ(std::tie(a.activity.busy_ps, a.activity.empty_queue_ps, a.activity.span_ps),
              std::tie(b.activity.busy_ps, b.activity.empty_queue_ps, b.activity.span_ps));
    for (int i = 0; i < path_kinds; ++i) {
        EXPECT_EQ(a.alloc[i].bins(), b.alloc[i].bins());
        EXPECT_EQ(a.free[i].bins(), b.free[i].bins());
    }
    ASSERT_EQ(a.phases.size(), b.phases.size());
    for (std::size_t i = 0; i < a.phases.size(); ++i) EXPECT_EQ(a.phases[i].step.bins(), b.phases[i].step.bins());
}

void expect_same(const repetition& a, const repetition& b)
{
    expect_same(a.cold, b.cold);
    ASSERT_EQ(a.steady.has_value(), b.steady.has_value());
    if (a.steady) expect_same(*a.steady, *b.steady);
}

}  // namespace

/// On a simulator a process has no temper of its own: what follows the passes is what a fresh process measures.
TEST(properties, the_reference_in_the_same_process_is_that_of_its_own)
{
    for_each_run(4, [](const std::string& name, const cell& c, const repetition& plain) {
        run_controls controls;
        controls.reference = true;
        const repetition r = run_repetition(c, controls);
        expect_same(plain, r);    // it follows, so it changes nothing
        const bool completed = (r.steady ? *r.steady : r.cold).result.what == status::completed;
        EXPECT_EQ(r.reference.has_value(), completed) << name;
        if (!r.reference) return;
        cell line = c;
        line.allocator = choose_allocator("ideal");
        const repetition own = run_repetition(line, {});
        // What `async` freed last delays one more kernel of each stream.
        const std::int64_t late = name.starts_with("async") ? 2'000'000 * line.workload->summary.streams : 0;
        EXPECT_GE(r.reference->time_ps, own.cold.time_ps) << name;
        EXPECT_LE(r.reference->time_ps, own.cold.time_ps + late) << name;
    });
}

TEST(properties, the_same_run_again_is_the_same)
{
    for_each_run(8, [](const std::string&, const cell& c, const repetition& r) { expect_same(r, run_repetition(c, {})); });
}

TEST(properties, a_trace_written_and_read_runs_the_same)
{
    const std::string path = ::testing::TempDir() + "vrambench_properties_" + std::to_string(::getpid()) + ".trace";
    for (const auto format : {trace_format::json_lines, trace_format::packed})
        for (std::uint64_t n = 1; n <= 6; ++n) {
            const auto t = random_trace(n);
            write_trace(*t, path, format);
            const std::shared_ptr<const trace> read = open_trace_file(path);
            for (const auto& name : allocators()) {
                SCOPED_TRACE(name + " on " + t->header().spec);
                const std::uint64_t limit = n % 2 ? 0 : 24 * MiB;    // some run out of memory: that must be the same too
                expect_same(run_repetition(cell_of(t, name, "sim:h200", limit), {}),
                            run_repetition(cell_of(read, name, "sim:h200", limit), {}));
            }
        }
    std::remove(path.c_str());
}

// -- out of memory

namespace {

/// What the trace alone says of its event `index`.
struct place {
    event e;
    std::uint64_t step = 0;
    std::uint64_t live = 0;
};

place place_of(const trace& t, std::uint64_t index)
{
    place p;
    std::map<std::uint32_t, std::uint64_t> bytes;
    const auto source = t.open();
    event_batch batch;
    for (std::uint64_t i = 0; source->fill(batch);)
        for (const event& e : batch.events) {
            p.e = e;
            if (i++ == index) return p;
            if (e.kind == event_kind::step) ++p.step;
            if (e.kind == event_kind::alloc) p.live += bytes[e.id] = e.bytes;
            if (e.kind == event_kind::free) p.live -= bytes[e.id];
        }
    return p;
}

/// From half of what the trace needs to all of it.
std::uint64_t tight_limit(const trace_summary& s, std::uint64_t n)
{
    return std::max<std::uint64_t>(MiB, s.max_live_bytes * (5 + n % 6) / 10);
}

void check_failure(const std::string& name, const trace& t, const pass_measurement& m)
{
    const outcome& o = m.result;
    const place p = place_of(t, o.event);
    ASSERT_EQ(p.e.kind, event_kind::alloc);
    EXPECT_EQ(m.events, o.event);
    EXPECT_EQ(o.step, p.step);
    EXPECT_EQ(o.tag, t.header().tags[p.e.tag]);
    EXPECT_EQ(o.phase, "random");
    EXPECT_EQ(o.wanted_bytes, p.e.bytes);
    EXPECT_EQ(o.live_bytes, p.live);
    EXPECT_EQ(m.failures, 1u);
    EXPECT_EQ(count(m, path::fail), 1u);
    const std::vector<std::string> possible = {"live", "retained", "fragmented", "pending"};
    EXPECT_NE(std::find(possible.begin(), possible.end(), o.cause), possible.end()) << o.cause;
    if (!is_async(name)) { EXPECT_NE(o.cause, "pending"); }    // only a driver's pool waits for its frees
}

}  // namespace

/// The outcome names the event, and nothing stays behind: the same allocator runs again, and gives everything back.
TEST(properties, out_of_memory_is_told_exactly_and_leaks_nothing)
{
    std::map<std::string, int> failed;
    for (std::uint64_t n = 1; n <= 40; ++n) {
        const auto t = random_trace(n, "min=64KiB,max=8MiB");
        for (const auto& name : allocators()) {
            SCOPED_TRACE(name + " on " + t->header().spec);
            const trace_summary s = summarise(*t);
            if (name == "vmm" && !s.lifo) continue;
            workbench w(*t, "sim:h200", maker_of(name), tight_limit(s, n));
            for (int pass = 0; pass < 2; ++pass) {
                const pass_measurement m = w.run();
                ASSERT_TRUE(m.result.what == status::oom || m.result.what == status::completed) << m.result.message;
                EXPECT_EQ(m.hazard_count, 0u);
                if (m.result.what != status::oom) continue;
                ++failed[name];
                check_failure(name, *t, m);
                EXPECT_EQ(w.alloc().stats().live, 0u);
                if (name == "ideal") break;    // its plan is for whole passes
            }
            w.drop_allocator();
            EXPECT_EQ(w.dev().query_memory().free_bytes, w.start_free());
        }
    }
    for (const auto& name : allocators()) EXPECT_GT(failed[name], 0) << name;
}

/// A request refused by everybody's bound is refused by everybody; one that the bound allows is never called `live`.
TEST(properties, live_means_that_nobody_could)
{
    for (std::uint64_t n = 1; n <= 20; ++n) {
        const auto t = random_trace(n, "min=64KiB,max=8MiB");
        const std::uint64_t max_live = summarise(*t).max_live_bytes;
        for (const auto& name : allocators()) {
            SCOPED_TRACE(name + " on " + t->header().spec);
            const auto below = run_repetition(cell_of(t, name, "sim:h200,block=256", max_live - 1), {}).cold.result;
            EXPECT_NE(below.what, status::completed);
            const auto at = run_repetition(cell_of(t, name, "sim:h200,block=256", max_live), {}).cold.result;
            EXPECT_NE(at.cause, "live");
        }
    }
}

/// Weights and a cache that the engine takes beside the allocator are neither its bytes nor its calls.
TEST(properties, external_memory_is_not_the_allocators)
{
    constexpr std::uint64_t MiB = std::uint64_t{1} << 20;
    const auto alone = std::make_shared<story>(story().alloc(0, 4 * MiB).free(0).alloc(0, 6 * MiB).free(0));
    const auto beside = std::make_shared<story>(
        story().external_alloc(0, 1000 * MiB).alloc(0, 4 * MiB).free(0).external_free(0).alloc(0, 6 * MiB).free(0));
    for (const auto& name : allocators()) {
        const auto a = run_repetition(cell_of(alone, name), {}).cold, b = run_repetition(cell_of(beside, name), {}).cold;
        EXPECT_EQ(a.peak_device_bytes, b.peak_device_bytes) << name;
        EXPECT_EQ(a.peak_reserved_bytes, b.peak_reserved_bytes) << name;
        EXPECT_EQ(a.calls, b.calls) << name;
        EXPECT_GT(a.peak_device_bytes, 0u) << name;
    }
}

}  // namespace vrambench::test
