// Each defect that the fake runtimes can have shows through the back end, and does not without the switch.

#include "spec/units.hpp"
#include "tests/fake_runtime/fakes.hpp"

#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <iterator>
#include <string>

namespace vrambench::test {

namespace {

std::uint64_t free_bytes(device& d) { return d.query_memory().free_bytes; }

device_ptr grow(device& d, device_ptr at, std::uint64_t n)
{
    const vmm_handle h = d.create(n);
    d.map(at, n, h);
    d.release(h);
    d.set_access(at, n);
    return at + n;
}

bool throws(const std::function<void()>& f)
{
    try {
        f();
        return false;
    } catch (const device_error&) {
        return true;
    }
}

/// Writes the block and reads it after `between`; whether its contents were lost.
bool loses_contents(device& d, device_ptr p, std::uint64_t bytes, const std::function<void()>& between)
{
    kernel_access a{.pointer = p, .bytes = bytes, .block = 1, .write = true};
    d.observer()->allocated(1, p, bytes, bytes, 0, 0);
    d.launch(0, 0, std::array{a});
    between();
    a.write = false;
    d.launch(0, 0, std::array{a});
    d.sync_device();
    return d.observer()->hazard_count() > 0;
}

bool pool_keeps_nothing(device& d)
{
    const pool_id pool = d.create_pool({});
    d.free_async(d.malloc_async(64 * MiB, pool, 0), 0);
    d.sync_device();
    return d.usage(pool).reserved == 0;
}

bool trim_gives_nothing(device& d)
{
    const pool_id pool = d.create_pool({});
    d.free_async(d.malloc_async(64 * MiB, pool, 0), 0);
    d.sync_device();
    d.trim_pool(pool, 0);
    return d.usage(pool).reserved > 0;
}

bool second_range_cannot_grow(device& d)
{
    const std::uint64_t n = d.info().vmm_granularity;
    d.reserve(4 * n);
    const device_ptr at = d.reserve(4 * n);
    return throws([&] { grow(d, grow(d, at, n), n); });
}

/// A handle of 4 KiB is had and mapped, and cannot be opened.
bool takes_4k_and_cannot_open_it(device& d)
{
    const device_ptr at = d.reserve(2 * MiB);
    vmm_handle h = 0;
    if (throws([&] { h = d.create(4 * KiB); })) return false;
    d.map(at, 4 * KiB, h);
    return throws([&] { d.set_access(at, 4 * KiB); });
}

bool pool_blocks_are_zeroed(device& d)
{
    d.set_streams(2);
    const pool_id pool = d.create_pool({.threshold = 0});
    const device_ptr p = d.malloc_async(MiB, pool, 0);
    return loses_contents(d, p, MiB, [&] { d.sync_device(); });
}

bool failure_keeps_memory(device& d)
{
    const pool_id pool = d.create_pool({});
    const std::uint64_t before = free_bytes(d);
    d.malloc_async(before + GiB, pool, 0);
    d.trim_pool(pool, 0);
    return free_bytes(d) + GiB < before;
}

bool failure_sticks(device& d)
{
    d.malloc(free_bytes(d) + GiB);
    return throws([&] { d.sync_device(); });
}

bool free_keeps_memory(device& d)
{
    const std::uint64_t before = free_bytes(d);
    d.free(d.malloc(64 * MiB));
    return free_bytes(d) < before;
}

bool release_leaks(device& d)
{
    const std::uint64_t before = free_bytes(d);
    d.release(d.create(64 * MiB));
    return free_bytes(d) < before;
}

bool unmap_hits_neighbour(device& d)
{
    const std::uint64_t n = d.info().vmm_granularity;
    const device_ptr at = d.reserve(2 * n);
    grow(d, grow(d, at, n), n);
    return loses_contents(d, at + n, n, [&] { d.unmap(at, n); });
}

bool handle_forgets(device& d)
{
    const std::uint64_t n = d.info().vmm_granularity;
    const device_ptr at = d.reserve(n);
    const vmm_handle h = d.create(n);
    d.map(at, n, h), d.set_access(at, n);
    return loses_contents(d, at, n, [&] { d.unmap(at, n), d.map(at, n, h), d.set_access(at, n); });
}

bool peer_copy_is_wrong(device& d) { return d.try_peer(0, 1, 4 * MiB).wrong_words != 0; }

/// Whether the call lets a kernel of 300 ms end, by the real clock.
bool waits(device& d, const std::function<void(device&)>& prepare, const std::function<void(device&)>& call)
{
    prepare(d);
    constexpr std::int64_t kernel_ps = 300'000'000'000;
    const std::int64_t begin = d.clock().now_ps();
    d.launch(0, kernel_ps, {});
    call(d);
    return d.clock().now_ps() - begin >= kernel_ps * 9 / 10;
}

struct question {
    const char* name;
    std::function<bool(device&)> is_bad;
};

const std::vector<question>& questions()
{
    static pool_id pool;
    static device_ptr block, at;
    static vmm_handle handle;
    const auto with_pool = [](device& d) { pool = d.create_pool({}), block = d.malloc_async(MiB, pool, 0), d.sync_device(); };
    const auto with_range = [](device& d) { at = d.reserve(d.info().vmm_granularity), handle = d.create(d.info().vmm_granularity); };
    const auto mapped = [=](device& d) { with_range(d), d.map(at, d.info().vmm_granularity, handle); };
    static const std::vector<question> all = {
        {"threshold-ignored", pool_keeps_nothing},
        {"trim-ignored", trim_gives_nothing},
        {"tail-access-refused", second_range_cannot_grow},
        {"granularity-4k", takes_4k_and_cannot_open_it},
        {"zeros", pool_blocks_are_zeroed},
        {"failure-keeps-memory", failure_keeps_memory},
        {"failure-sticks", failure_sticks},
        {"free-keeps-memory", free_keeps_memory},
        {"release-leaks", release_leaks},
        {"unmap-hits-neighbour", unmap_hits_neighbour},
        {"handle-forgets", handle_forgets},
        {"peer-copy-wrong", peer_copy_is_wrong},
        {"malloc-waits", [](device& d) { return waits(d, [](device&) {}, [](device& x) { x.malloc(4 * MiB); }); }},
        {"malloc-async-waits", [=](device& d) { return waits(d, with_pool, [](device& x) { x.malloc_async(MiB, pool, 0); }); }},
        {"free-async-waits", [=](device& d) { return waits(d, with_pool, [](device& x) { x.free_async(block, 0); }); }},
        {"map-waits", [=](device& d) { return waits(d, with_range, [](device& x) { x.map(at, x.info().vmm_granularity, handle); }); }},
        {"unmap-waits", [=](device& d) { return waits(d, mapped, [](device& x) { x.unmap(at, x.info().vmm_granularity); }); }},
    };
    return all;
}

/// The two that end the process, or never return.
bool ends_the_process(std::string_view name) { return name == "pool-hangs" || name == "pool-crashes"; }

}  // namespace

class fake_defects : public on_fakes {};

TEST_P(fake_defects, each_shows_and_none_without_its_switch)
{
    std::size_t asked = 0;
    for (const auto& q : questions()) {
        SCOPED_TRACE(q.name);
        std::string setting = std::string(q.name).ends_with("-waits") ? "pace=1" : "pace=0";
        if (std::string(q.name).starts_with("peer-")) setting += ";devices=2";
        set(setting);
        EXPECT_FALSE(q.is_bad(*open()));
        set(setting);
        const auto d = open();    // without the defect, which the device's own first calls would meet
        vendor().arm(("defects=" + std::string(q.name)).c_str());
        EXPECT_TRUE(q.is_bad(*d));
        ++asked;
    }
    for (const auto& d : fake::defects) asked += ends_the_process(d.name) ? 1 : 0;
    EXPECT_EQ(asked, std::size(fake::defects));
}

TEST_P(fake_defects, a_pool_call_that_kills)
{
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            set("defects=pool-crashes");
            open();
        },
        ::testing::KilledBySignal(SIGSEGV), "");
}

TEST_P(fake_defects, a_pool_call_that_never_returns)
{
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
            set("defects=pool-hangs");
            alarm(2);    // ends the process
            open();
        },
        ::testing::KilledBySignal(SIGALRM), "");
}

ON_EVERY_FAKE(fake_defects);

}  // namespace vrambench::test
