// Driver calls: those that follow from the trace, and those that follow from how the allocator served its requests.

#include "bench/check/pass_rules.hpp"

#include <algorithm>
#include <initializer_list>

namespace vrambench::checking {

namespace {

using enum driver_call;

std::uint64_t count_of(const driver_call_counts& calls, driver_call k) { return calls[static_cast<std::size_t>(k)]; }

std::uint64_t total(const driver_call_counts& calls)
{
    std::uint64_t all = 0;
    for (const std::uint64_t n : calls) all += n;
    return all;
}

/// Calls that an allocator of the suite makes of its own; null for others.
const std::vector<driver_call>* own_calls(const std::string& allocator)
{
    static const std::vector<driver_call> raw{driver_call::malloc, driver_call::free}, none,
        ordered{malloc_async, free_async, pool_create, pool_destroy, pool_trim},
        mapped{reserve, unreserve, create, map, set_access, unmap, release};
    if (allocator == "direct" || allocator == "legacy" || allocator == "legacy-retry") return &raw;
    if (allocator == "async") return &ordered;
    if (allocator == "vmm") return &mapped;
    return allocator == "ideal" ? &none : nullptr;
}

bool is_of_the_engine(driver_call k)
{
    return k == sync || k == record || k == wait || k == launch || k == graph_launch || k == memory_info;
}

std::string named(driver_call k) { return std::string("driver_calls/") + to_string(k); }

void check_kinds(const judged_pass& p, expectations& e)
{
    const auto* own = own_calls(p.of.allocator.name);
    if (!own || p.of.mode == run_mode::graph) return;    // a graph's memory is its own story
    const bool external = p.pass.result.cause == "external" || p.pass.result.cause == "injected";
    for (std::size_t i = 0; i < driver_call_kinds; ++i) {
        const auto k = static_cast<driver_call>(i);
        if (std::find(own->begin(), own->end(), k) != own->end()) continue;
        if (!is_of_the_engine(k)) e.same(named(k), p.pass.calls[i], 0, "what its allocator calls");
        if (!(external && k == driver_call::malloc))
            e.same(std::string("refused_calls/") + to_string(k), p.pass.refused[i], 0, "what its allocator calls");
    }
}

void check_engine_calls(const judged_pass& p, expectations& e)
{
    const auto& calls = p.pass.calls;
    e.same(named(memory_info), count_of(calls, memory_info), p.completed() ? 0 : 1, "its outcome");
    if (p.of.mode == run_mode::graph) return;
    e.same(named(graph_launch), count_of(calls, graph_launch), 0, "the mode");
    if (p.completed()) e.same(named(launch), count_of(calls, launch), p.of.workload->summary.launches, "its workload");
    const trace_position* end = p.end();
    if (!end) return;
    e.same(named(launch), count_of(calls, launch), end->launches, "its trace");
    e.same(named(record), count_of(calls, record), end->records, "its trace");
    e.same(named(wait), count_of(calls, wait), end->waits, "its trace");
    const std::uint64_t tried_again = retry_of(p.of) == "none" ? 0 : p.pass.recoveries + p.pass.failures;    // each after one
    e.same(named(sync), count_of(calls, sync), end->syncs + tried_again, "its trace and recoveries");
}

/// What went wrong on the way: each failed request was refused once, and once more where it was tried again.
void check_refusals(const judged_pass& p, expectations& e)
{
    const pass_measurement& m = p.pass;
    const bool tries_again = retry_of(p.of) != "none";
    e.same("oom/flushes", m.flushes, retry_of(p.of) == "flush" ? m.recoveries + m.failures : 0, "oom/recoveries and failures");
    e.same("oom/flushed_bytes", m.flushed_bytes, retry_of(p.of) == "flush" ? m.recovery.bytes_given_back : 0,
           "oom/bytes_given_back");
    if (!tries_again) e.same("oom/recoveries", m.recoveries, 0, "retry=none");
    const bool gives_back = retry_of(p.of) == "trim" || retry_of(p.of) == "flush";
    if (!gives_back || m.recoveries + m.failures == 0)
        e.same("oom/bytes_given_back", m.recovery.bytes_given_back, 0, "oom/recoveries");
    if (m.result.cause == "address-space" || !p.of.neighbour.empty() || !own_calls(p.of.allocator.name)) return;
    const bool beside = p.ran_out_of_memory() && m.failures == 0;
    // What `ideal` could not get was refused before the clock started.
    const std::uint64_t failures = p.of.allocator.name == "ideal" ? 0 : m.failures;
    e.same("the sum of refused_calls", total(m.refused), m.recoveries + failures * (tries_again ? 2 : 1) + (beside ? 1 : 0),
           "oom/recoveries and failures");
}

/// Calls by the paths that requests took, which the suite's allocators make by construction.
void check_own_calls(const judged_pass& p, expectations& e)
{
    if (p.of.mode == run_mode::graph) return;
    const auto allocs = [&](path k) { return p.pass.alloc[static_cast<std::size_t>(k)].count(); };
    const auto frees = [&](path k) { return p.pass.free[static_cast<std::size_t>(k)].count(); };
    const auto& calls = p.pass.calls;
    const std::string& name = p.of.allocator.name;
    const trace_position* end = p.end();
    const auto equal = [&](driver_call k, std::uint64_t follows, const char* from) {
        e.same(named(k), count_of(calls, k), follows, from);
    };
    const bool asks_each_time = name == "direct" || name == "async";
    if (end && asks_each_time) {
        equal(name == "async" ? malloc_async : driver_call::malloc, end->allocs, "its trace");
        equal(name == "async" ? free_async : driver_call::free, end->frees, "its trace");
    }
    if (name == "vmm") {
        for (const driver_call k : {map, set_access, release}) equal(k, count_of(calls, create), "driver_calls/create");
        for (const driver_call k : {unmap, unreserve}) equal(k, 0, "a stack that never shrinks");
        e.holds(count_of(calls, reserve) <= p.of.workload->summary.streams, "driver_calls/reserve is above one a stream");
        e.same("peak_reserved_bytes", p.pass.peak_reserved_bytes, p.pass.end_reserved_bytes, "a stack that never shrinks");
    }
    if (!p.pass.has_times()) return;    // paths are counted where calls are timed
    if (name == "legacy" || name == "legacy-retry")
        equal(driver_call::malloc, allocs(path::grow) + allocs(path::driver) + allocs(path::flush_retry), "its paths");
    if (name == "legacy") equal(driver_call::free, frees(path::driver), "its paths");
    if (name == "vmm") equal(create, allocs(path::grow), "its paths");
}

}  // namespace

void check_calls(const judged_pass& p, expectations& e)
{
    check_kinds(p, e);
    check_engine_calls(p, e);
    check_refusals(p, e);
    check_own_calls(p, e);
}

}  // namespace vrambench::checking
