#include "bench/environment.hpp"

#include <gtest/gtest.h>

#include <map>

namespace vrambench {
namespace {

TEST(environment, says_what_ran_where)
{
    std::map<std::string, environment_fact> facts;
    for (const environment_fact& f : host_environment()) EXPECT_TRUE(facts.emplace(f.key, f).second) << f.key;
    for (const char* key : {"version", "commit", "compiler", "build_type", "google_benchmark", "host", "os", "kernel", "cpu", "timer"}) {
        ASSERT_TRUE(facts.count(key)) << key;
        EXPECT_FALSE(facts.at(key).text.empty()) << key;
    }
    EXPECT_GT(facts.at("cpu_cores").number, 0u);
    EXPECT_GT(facts.at("memory_bytes").number, 0u);
    EXPECT_GT(facts.at("timer_cost_ps").number, 0u);
}

TEST(environment, keeps_devices_apart)
{
    device_info info;
    info.spec = "sim:h200";
    info.simulated = true;
    info.total_bytes = 5;
    const auto facts = device_environment(info);
    for (const environment_fact& f : facts) EXPECT_EQ(f.key.rfind("device.sim:h200.", 0), 0u) << f.key;
}

TEST(environment, finds_no_cost_in_a_virtual_clock)
{
    std::int64_t now = 5;
    const timer_figures t = measure_timer(host_clock(&now, 1));
    EXPECT_EQ(t.cost_ps, 0u);
    EXPECT_EQ(t.step_ps, 0u);
}

}  // namespace
}  // namespace vrambench
