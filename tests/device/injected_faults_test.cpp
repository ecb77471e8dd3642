// Out of memory on purpose: which calls are refused, and that nothing else changes.

#include "device/injected_faults.hpp"
#include "device/registry.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace vrambench {
namespace {

std::unique_ptr<device> open_with(const std::string& fault, std::uint64_t seed = 1)
{
    device_options options;
    options.inject = parse_fault_rule(fault, seed);
    auto dev = open_device(choose_device("sim:h200"), options);
    dev->set_streams(1);
    return dev;
}

/// Numbers (from 1) of the calls to malloc that are refused among `n`.
std::vector<int> refused_mallocs(device& dev, int n)
{
    std::vector<int> refused;
    for (int i = 1; i <= n; ++i) {
        const device_ptr p = dev.malloc(MiB);
        EXPECT_EQ(dev.refused_on_purpose(), p == 0);
        if (p) dev.free(p);
        else refused.push_back(i);
    }
    return refused;
}

std::uint64_t count(const driver_call_counts& calls, driver_call which) { return calls[static_cast<std::size_t>(which)]; }

TEST(injected_faults, refuse_one_call_or_every_nth)
{
    EXPECT_EQ(refused_mallocs(*open_with("oom@1"), 10), (std::vector{1}));
    EXPECT_EQ(refused_mallocs(*open_with("oom@7"), 10), (std::vector{7}));
    EXPECT_EQ(refused_mallocs(*open_with("oom@11"), 10), (std::vector<int>{}));
    EXPECT_EQ(refused_mallocs(*open_with("oom@every:3"), 10), (std::vector{3, 6, 9}));
    EXPECT_EQ(refused_mallocs(*open_with("oom@every:1"), 3), (std::vector{1, 2, 3}));
}

TEST(injected_faults, chance_follows_the_seed)
{
    const auto five = refused_mallocs(*open_with("oom@p:0.05", 5), 2000);
    EXPECT_EQ(refused_mallocs(*open_with("oom@p:0.05", 5), 2000), five);
    EXPECT_EQ(refused_mallocs(*open_with("oom@p:0.05/seed:5", 9), 2000), five) << "a typed seed comes first";
    EXPECT_NE(refused_mallocs(*open_with("oom@p:0.05", 6), 2000), five);
    EXPECT_GT(five.size(), 50u);    // 100 expected, standard deviation below 10
    EXPECT_LT(five.size(), 150u);
    EXPECT_EQ(refused_mallocs(*open_with("oom@p:1"), 3), (std::vector{1, 2, 3}));
}

TEST(injected_faults, count_the_calls_that_take_memory_and_no_other)
{
    const auto dev = open_with("oom@4");
    const pool_id pool = dev->create_pool({});
    const device_ptr first = dev->malloc(MiB);                   // 1
    dev->free(first);
    const std::uint64_t granule = dev->info().vmm_granularity;
    const vmm_handle handle = dev->create(granule);              // 2
    const device_ptr addresses = dev->reserve(granule);
    dev->map(addresses, granule, handle);
    dev->set_access(addresses, granule);
    const device_ptr block = dev->malloc_async(MiB, pool, 0);    // 3
    ASSERT_TRUE(first && handle && addresses && block);
    EXPECT_FALSE(dev->refused_on_purpose());
    EXPECT_EQ(dev->malloc_async(MiB, pool, 0), 0u);              // 4
    EXPECT_TRUE(dev->refused_on_purpose());
    EXPECT_NE(dev->malloc_async(MiB, pool, 0), 0u);
    EXPECT_FALSE(dev->refused_on_purpose());
    EXPECT_EQ(count(dev->calls(), driver_call::malloc_async), 2u);
    EXPECT_EQ(count(dev->refused_calls(), driver_call::malloc_async), 1u);
}

TEST(injected_faults, may_concern_one_kind_of_call)
{
    const auto dev = open_with("create:oom@2");
    for (int i = 0; i < 5; ++i) EXPECT_NE(dev->malloc(MiB), 0u);
    EXPECT_NE(dev->create(2 * MiB), 0u);
    EXPECT_EQ(dev->create(2 * MiB), 0u);
    EXPECT_NE(dev->create(2 * MiB), 0u);
    EXPECT_EQ(refused_mallocs(*open_with("malloc:oom@every:2"), 5), (std::vector{2, 4}));
    EXPECT_EQ(refused_mallocs(*open_with("malloc_async:oom@1"), 5), (std::vector<int>{}));
}

/// Real want of memory is told apart from a fault, and both are counted.
TEST(injected_faults, a_real_refusal_is_not_on_purpose)
{
    device_options options{64 * MiB, integrity_check::off};
    options.inject = parse_fault_rule("oom@1", 1);
    const auto dev = open_device(choose_device("sim:h200"), options);
    dev->set_streams(1);
    EXPECT_EQ(dev->malloc(MiB), 0u);
    EXPECT_TRUE(dev->refused_on_purpose());
    EXPECT_EQ(dev->malloc(65 * MiB), 0u);
    EXPECT_FALSE(dev->refused_on_purpose());
    EXPECT_EQ(count(dev->refused_calls(), driver_call::malloc), 2u);
    EXPECT_EQ(dev->query_memory().free_bytes, 64 * MiB);
}

TEST(injected_faults, a_refused_call_takes_no_time_and_the_others_take_theirs)
{
    const auto plain = open_device(choose_device("sim:h200"), {});
    plain->set_streams(1);
    const auto faulty = open_with("oom@2");
    const auto time_of_malloc = [](device& dev) {
        const std::int64_t begin = dev.clock().now_ps();
        dev.malloc(MiB);
        return dev.clock().now_ps() - begin;
    };
    const std::int64_t usual = time_of_malloc(*plain);
    EXPECT_GT(usual, 0);
    EXPECT_EQ(time_of_malloc(*faulty), usual);
    EXPECT_EQ(time_of_malloc(*faulty), 0);
    EXPECT_EQ(time_of_malloc(*faulty), time_of_malloc(*plain));
}

TEST(injected_faults, text_and_rule_are_the_same)
{
    for (const char* text : {"oom@1", "oom@every:10", "malloc:oom@3", "create:oom@every:10", "malloc_async:oom@p:0.25/seed:7",
                             "oom@p:0.01/seed:18446744073709551615", "oom@18446744073709551615"})
        EXPECT_EQ(to_text(parse_fault_rule(text, 3)), text);
    EXPECT_EQ(to_text(parse_fault_rule("oom@p:0.010", 3)), "oom@p:0.01/seed:3");
}

TEST(injected_faults, refuse_what_is_no_rule)
{
    for (const char* text : {"", "oom", "oom@", "oom@0", "oom@-1", "oom@x", "oom@1.5", "oom@every:0", "oom@every:", "oom@evry:2", "oom@p:0",
                             "oom@p:-0.1", "oom@p:1.01", "oom@p:", "oom@p:x", "oom@p:0.1/seed:", "oom@p:0.1/seed:-1", "oom@p:0.1/sed:1",
                             "free:oom@1", "mallc:oom@1", ":oom@1", "malloc oom@1", "malloc:", "mallocoom@1", "oom@18446744073709551616"})
        EXPECT_THROW(parse_fault_rule(text, 1), input_error) << text;
    try {
        parse_fault_rule("mallc:oom@1", 1);
    } catch (const input_error& e) {
        EXPECT_NE(std::string(e.what()).find("did you mean 'malloc'?"), std::string::npos) << e.what();
    }
}

}  // namespace
}  // namespace vrambench
