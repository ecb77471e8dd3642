#include "workloads/engine/target.hpp"

#include "spec/errors.hpp"
#include "workloads/engine/kernel_tables.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <map>

namespace vrambench::engine {
namespace {

std::string complaint(const std::function<void()>& f)
{
    try {
        f();
        return {};
    } catch (const input_error& e) {
        return e.what();
    }
}

TEST(EngineTarget, ShippedTargets)
{
    const std::map<std::string, std::pair<std::uint64_t, family>> known{
        {"h200", {132, family::hopper}},   {"rtx-5090", {170, family::blackwell}},
        {"rtx-4090", {128, family::ada}},  {"rtx-3090", {82, family::ampere}},
        {"mi300x", {304, family::cdna3}},  {"rx-7900-xtx", {48, family::rdna3}},
        {"radeon-vii", {60, family::gcn}}, {"rx-7800-xt", {30, family::rdna3}},
    };
    ASSERT_EQ(built_in_targets().size(), known.size());
    for (const auto& [name, text] : built_in_targets()) {
        const target t = find_target(name);
        EXPECT_EQ(t.name, name);
        EXPECT_EQ(t.multiprocessors, known.at(name).first);
        EXPECT_EQ(t.family, known.at(name).second);
        EXPECT_FALSE(t.source.empty());
    }
    EXPECT_EQ(find_target("h200").compute_capability, 90u);
}

TEST(EngineTarget, AutoNamesAShippedTargetOrWritesTheFigures)
{
    EXPECT_EQ(target_text("nvidia", "9.0", 132, 1, 1), "h200");
    EXPECT_EQ(target_text("amd", "gfx942:sramecc+:xnack-", 304, 1, 1), "mi300x");
    const std::string text = target_text("nvidia", "9.0", 114, 790'000'000'000'000, 4'321'000'000'001);
    EXPECT_EQ(text, "nvidia/9.0/114/790e12/4321000000001");
    const target t = find_target(text);
    EXPECT_EQ(t.name, text);
    EXPECT_EQ(t.multiprocessors, 114u);
    EXPECT_EQ(t.flops_per_second, 790'000'000'000'000u);
    EXPECT_EQ(t.bytes_per_second, 4'321'000'000'001u);
    EXPECT_FALSE(t.occupancies.empty());    // those of the h200, which has the same architecture
    EXPECT_EQ(find_target("nvidia/9.0/114/790000e9/4321000000001").name, text);
    EXPECT_TRUE(find_target("nvidia/10.0/148/2000e12/8000e9").occupancies.empty());
    EXPECT_EQ(find_target("nvidia/8.9/76/97e12/736e9").vector_tokens_k_quants, 7u);    // as the rtx-4090
}

TEST(EngineTarget, Architectures)
{
    const std::map<std::string, family> known{
        {"nvidia/6.1", family::pascal},     {"nvidia/7.0", family::volta},  {"nvidia/7.5", family::turing},
        {"nvidia/8.0", family::ampere},     {"nvidia/8.9", family::ada},    {"nvidia/9.0", family::hopper},
        {"nvidia/12.0", family::blackwell}, {"amd/gfx900", family::gcn},    {"amd/gfx906", family::gcn},
        {"amd/gfx908", family::cdna1},      {"amd/gfx90a", family::cdna2},  {"amd/gfx942", family::cdna3},
        {"amd/gfx1010", family::rdna1},     {"amd/gfx1030", family::rdna2}, {"amd/gfx1151", family::rdna3},
        {"amd/gfx1201", family::rdna4},
    };
    for (const auto& [text, f] : known)
        EXPECT_EQ(to_string(find_target(text + "/40/1e12/1e9").family), std::string(to_string(f))) << text;
}

TEST(EngineTarget, BadText)
{
    const auto say = [](const char* text) { return complaint([text] { find_target(text); }); };
    EXPECT_NE(say("h20").find("unknown target 'h20', did you mean 'h200'?"), std::string::npos) << say("h20");
    EXPECT_NE(say("nvidia/9.0/132").find("must be VENDOR/ARCHITECTURE/MULTIPROCESSORS/FLOPS/BYTES"), std::string::npos);
    EXPECT_EQ(say("intel/1/1/1/1"), "target: unknown vendor 'intel' (nvidia or amd)");
    EXPECT_EQ(say("nvidia/9/1/1/1").rfind("target: unknown architecture '9'", 0), 0u);
    EXPECT_EQ(say("nvidia/3.5/1/1/1").rfind("target: unknown architecture '3.5'", 0), 0u);
    EXPECT_EQ(say("amd/gfx700/1/1/1").rfind("target: unknown architecture 'gfx700'", 0), 0u);
    EXPECT_EQ(say("nvidia/9.0/0/1/1").rfind("target: multiprocessors", 0), 0u);
    EXPECT_EQ(say("nvidia/9.0/1/0/1").rfind("target: flops a second", 0), 0u);
    EXPECT_EQ(say("nvidia/9.0/1/1/9e18").rfind("target: bytes a second", 0), 0u);
    EXPECT_EQ(say("nvidia/9.0/1/1e/1").rfind("target: flops a second", 0), 0u);
}

TEST(EngineTarget, BadFiles)
{
    const auto say = [](const std::function<void(nlohmann::json&)>& spoil) {
        auto j = nlohmann::json::parse(built_in_targets().front().second);
        spoil(j);
        return complaint([&j] { parse_target(j.dump(), "t.json"); });
    };
    EXPECT_EQ(say([](auto&) {}), "");
    EXPECT_EQ(say([](auto& j) { j["multiprocessors"] = 0; }),
              "t.json: \"multiprocessors\" must be a whole number from 1 to 4096");
    EXPECT_EQ(say([](auto& j) { j["multiprocesors"] = 1; }),
              "t.json: unknown key 'multiprocesors', did you mean 'multiprocessors'?");
    EXPECT_EQ(say([](auto& j) { j["occupancies"][1]["tile"] = "8"; }),
              "t.json: occupancies[1]: \"tile\" must be COLUMNSxGROUPS, such as 4x16");
    EXPECT_EQ(say([](auto& j) { j["occupancies"][1]["kernel"] = "wmma"; }),
              "t.json: occupancies[1]: \"kernel\" must be vec, tile or mma");
}

TEST(EngineTarget, TablesOfTheProducts)
{
    const auto widths = [](family f, bool whole) {
        const auto w = product_widths(f, whole);
        return std::vector<std::uint64_t>(w.begin(), w.end());
    };
    using list = std::vector<std::uint64_t>;
    const list nvidia{8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128};
    for (const family f :
         {family::volta, family::turing, family::ampere, family::ada, family::hopper, family::blackwell}) {
        EXPECT_EQ(widths(f, true), nvidia);
        EXPECT_EQ(widths(f, false), (list{8, 16, 32, 64, 128}));
        EXPECT_TRUE(products_split(f));
    }
    for (const family f : {family::rdna3, family::rdna4}) {
        EXPECT_EQ(widths(f, true), (list{16, 32, 48, 64, 80, 96, 112, 128}));
        EXPECT_EQ(widths(f, false), (list{16, 32, 64, 128}));
        EXPECT_FALSE(products_split(f));
    }
    for (const family f : {family::pascal, family::gcn, family::rdna2}) {
        EXPECT_EQ(widths(f, true), (list{8, 16, 24, 32, 40, 48, 64}));
        EXPECT_EQ(widths(f, false), (list{8, 16, 32, 64}));
        EXPECT_FALSE(products_split(f));
    }
    EXPECT_EQ(widths(family::cdna3, true), (list{16, 32, 48, 64}));
    EXPECT_EQ(widths(family::cdna3, false), (list{16, 32, 64}));
    EXPECT_TRUE(products_split(family::cdna3));
}

TEST(EngineTarget, MeasuredOccupancyBeforeLaunchBound)
{
    const target h200 = find_target("h200"), ada = find_target("rtx-4090");
    const auto of = [](const target& t, attention_kernel k, std::uint64_t head, std::uint64_t c1, std::uint64_t c2,
                       tensor_type cache,
                       era e = era::reserved_fa) { return tuning_of(t, e, k, head, c1, c2, cache).occupancy; };
    EXPECT_EQ(of(h200, attention_kernel::vector, 128, 1, 1, tensor_type::f16), 3u);
    EXPECT_EQ(of(h200, attention_kernel::vector, 128, 1, 1, tensor_type::bf16), 3u);
    EXPECT_EQ(of(h200, attention_kernel::vector, 128, 1, 1, tensor_type::q4_0), 2u);
    EXPECT_EQ(of(ada, attention_kernel::vector, 128, 1, 1, tensor_type::f16), 1u);
    EXPECT_EQ(of(h200, attention_kernel::matrix, 64, 1, 8, tensor_type::f16), 3u);
    EXPECT_EQ(of(h200, attention_kernel::matrix, 64, 8, 8, tensor_type::f16), 2u);
    EXPECT_EQ(of(h200, attention_kernel::matrix, 128, 4, 4, tensor_type::f16, era::pool_fa_early), 3u);
    EXPECT_EQ(of(h200, attention_kernel::matrix, 128, 4, 4, tensor_type::f16), 2u);
    EXPECT_EQ(
        tuning_of(find_target("rx-7900-xtx"), era::reserved_fa, attention_kernel::tile, 128, 1, 8, tensor_type::f16)
            .rows,
        64u);
}

}  // namespace
}  // namespace vrambench::engine
