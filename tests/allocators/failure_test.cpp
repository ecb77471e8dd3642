// A driver that fails at any call. Every allocator plays a small trace again and again, and each time another call is the
// one that fails, by answering "out of memory" or with an error. Whatever happens, the books stay right, nothing is
// given back twice, and everything that the driver is willing to take back comes back.

#include "tests/allocators/player.hpp"
#include "tests/allocators/scripted_device.hpp"
#include "tests/allocators/specs.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string_view>
#include <tuple>

namespace vrambench::test {
namespace {

struct run_result {
    std::uint64_t calls = 0;               ///< that the device saw
    std::uint64_t calls_before_end = 0;    ///< before the allocator was destroyed
    std::uint64_t outcomes = 0;            ///< null answers and errors that the caller saw
};

/// The number at the end of a line of the device's log: "unmap +0 2097152 -> error" has 2097152.
std::uint64_t bytes_in(std::string line)
{
    line = line.substr(0, line.find(" -> "));
    const std::string last = line.substr(line.rfind(' ') + 1);
    return last == "release" || last == "pool_destroy" ? 0 : std::stoull(last);
}

bool can_answer_out_of_memory(std::string_view line)
{
    for (const std::string_view call : {"malloc ", "malloc_async ", "create ", "reserve "})
        if (line.starts_with(call)) return true;
    return false;
}

class any_call_fails : public testing::TestWithParam<std::tuple<std::string, std::uint32_t>> {
protected:
    std::string spec() const { return std::get<0>(GetParam()); }
    std::uint32_t streams() const { return std::get<1>(GetParam()); }

    /// Grows, reuses, trims and grows again on every stream, last in, first out.
    script small() const
    {
        script s(streams());
        for (std::uint32_t stream = 0; stream < streams(); ++stream) {
            const std::uint32_t a = 3 * stream, b = a + 1, c = a + 2;
            s.alloc(a, 3 * MiB, stream).alloc(b, 5 * MiB, stream).free(b, stream);
            s.alloc(b, 2 * MiB, stream).alloc(c, 9 * MiB, stream).free(c, stream).free(b, stream);
        }
        s.sync();
        for (std::uint32_t stream = 0; stream < streams(); ++stream) s.free(3 * stream, stream);
        return s;
    }

    /// Plays it with the faults set on `dev`, trimming in between, destroys the allocator and checks what must hold.
    run_result run(scripted_device& dev)
    {
        run_result r;
        try {
            const auto a = make(spec(), dev, streams());
            play(*a, dev, r);
            r.calls_before_end = dev.calls_made();
        } catch (const device_error&) {
            r.calls_before_end = dev.calls_made();    // it could not be made
        }
        r.calls = dev.calls_made();
        EXPECT_TRUE(dev.misuse.empty()) << dev.misuse.front() << "\n" << dev.log_since(0);
        expect_nothing_left(dev, r);
        return r;
    }

    void play(allocator& a, scripted_device& dev, run_result& r)
    {
        const script s = small();
        try {
            a.prepare(s, summarise(s));
        } catch (const device_error&) {
            return;    // the run does not start
        }
        player p(dev, a);
        std::optional<scripted_device::off_the_record> quiet;    // the player's own questions do not count
        p.before_checks = [&] { quiet.emplace(dev); };
        p.after_checks = [&] {
            EXPECT_EQ(dev.lent_bytes(), a.reserved_bytes()) << dev.log_since(0);
            quiet.reset();
        };
        p.play(s);
        p.trim(6 * MiB);
        p.trim(0);
        p.play(s);
        for (int tries = 0; tries < 3; ++tries) p.free_all();    // what the driver would not take the first time
        quiet.emplace(dev);
        EXPECT_TRUE(p.held.empty());
        EXPECT_EQ(a.stats().live, 0u);
        r.outcomes = p.failures + p.errors;
    }

    /// A destructor cannot ask twice: what a driver refuses to take back then may stay, but nothing beside it.
    void expect_nothing_left(scripted_device& dev, const run_result& r)
    {
        std::uint64_t may_stay = 0, reservations = 0, pools = 0;
        for (std::uint64_t n = r.calls_before_end + 1; n <= r.calls; ++n) {
            const std::string& line = dev.call_at(n);
            if (!line.ends_with("-> error")) continue;
            may_stay += line.starts_with("pool_destroy") ? dev.lent_bytes() : bytes_in(line);
            reservations += line.starts_with("un") ? 1 : 0;
            pools += line.starts_with("pool_destroy") ? 1 : 0;
        }
        if (spec() != "async:pool=default") { EXPECT_LE(dev.lent_bytes(), may_stay) << dev.log_since(0); }
        EXPECT_LE(dev.reservations(), reservations) << dev.log_since(0);
        EXPECT_LE(dev.own_pools(), pools) << dev.log_since(0);
    }
};

TEST_P(any_call_fails, without_faults_all_is_well)
{
    scripted_device dev;
    EXPECT_EQ(run(dev).outcomes, 0u);
}

TEST_P(any_call_fails, each_call_once)
{
    scripted_device whole;
    const std::uint64_t calls = run(whole).calls;
    for (const fault how : {fault::out_of_memory, fault::error})
        for (std::uint64_t n = 1; n <= calls && !HasFailure(); ++n) {
            SCOPED_TRACE("call " + std::to_string(n) + (how == fault::error ? " breaks" : " is out of memory"));
            scripted_device dev;
            dev.fail_call(n, how);
            run(dev);
        }
}

/// Out of memory first, then anything at any later call: the way back from the first failure fails too.
TEST_P(any_call_fails, out_of_memory_and_then_any_later_call)
{
    if (streams() > 1) return;    // the same pools three times over
    scripted_device whole;
    const std::uint64_t calls = run(whole).calls;
    for (std::uint64_t n = 1; n <= calls; ++n) {
        if (!can_answer_out_of_memory(whole.call_at(n))) continue;
        for (std::uint64_t m = n + 1; m <= n + 24; ++m)
            for (const fault how : {fault::out_of_memory, fault::error}) {
                SCOPED_TRACE("calls " + std::to_string(n) + " and " + std::to_string(m));
                scripted_device dev;
                dev.fail_call(n, fault::out_of_memory);
                dev.fail_call(m, how);
                run(dev);
                if (HasFailure()) return;
            }
    }
}

/// The list pool's table overflows: blocks go straight back to a driver that fails.
TEST(list_pool_fails, a_free_that_the_driver_refuses_leaves_the_block_with_the_caller)
{
    scripted_device dev;
    {
        const auto a = make("legacy", dev);
        player p(dev, *a);
        for (std::uint32_t id = 0; id < 258; ++id) p.allocate(id, 1000);
        for (std::uint32_t id = 0; id < 256; ++id) p.free(id);
        dev.fail_call(dev.calls_made() + 1, fault::error);
        p.free(256);
        EXPECT_EQ(p.errors, 1u);
        EXPECT_TRUE(p.held.contains(256));
        p.free(256);
        p.free(257);
        EXPECT_EQ(a->stats().live, 0u);
    }
    EXPECT_EQ(dev.lent_bytes(), 0u);
    EXPECT_TRUE(dev.misuse.empty());
}

INSTANTIATE_TEST_SUITE_P(allocators, any_call_fails, testing::Combine(testing::ValuesIn(all_specs()), testing::Values(1u, 3u)),
                         [](const auto& p) {
                             return test_name(std::get<0>(p.param)) + "_" + std::to_string(std::get<1>(p.param));
                         });

}  // namespace
}  // namespace vrambench::test
