#include "bench/metrics.hpp"

#include "golden.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <stdexcept>
#include <string>

namespace vrambench {
namespace {

nlohmann::json schema() { return nlohmann::json::parse(testing::read_file(VRAMBENCH_RESULT_SCHEMA)); }

TEST(metrics, equal_the_table_of_the_schema)
{
    nlohmann::json table = nlohmann::json::object();
    for (const metric_info& m : metrics()) table[std::string(m.name)] = {{"unit", m.unit}, {"better", to_string(m.direction)}};
    EXPECT_EQ(table, schema().at("x-metrics"));
}

TEST(metrics, have_a_shape_in_the_schema)
{
    std::set<std::string> names, shapes;
    for (const metric_info& m : metrics()) names.emplace(m.name);
    const nlohmann::json properties = schema().at("definitions").at("metrics").at("properties");
    for (const auto& [name, shape] : properties.items()) shapes.insert(name);
    EXPECT_EQ(names, shapes);
}

TEST(metrics, are_found_by_name)
{
    EXPECT_EQ(metric("pp_tokens_per_s").direction, better::higher);
    EXPECT_EQ(metric("peak_live_bytes").direction, better::none);
    EXPECT_THROW(metric("fragmentation"), std::logic_error);
    for (const metric_info& m : metrics()) EXPECT_FALSE(m.help.empty()) << m.name;
}

}  // namespace
}  // namespace vrambench
