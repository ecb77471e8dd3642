#include "bench/planner.hpp"
#include "bench/vram_limit.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <gtest/gtest.h>

namespace vrambench {
namespace {

trace_summary traffic(std::uint64_t live, std::uint64_t external = 0)
{
    trace_summary s;
    s.max_live_bytes = live;
    s.max_external_bytes = external;
    return s;
}

TEST(vram_limit, sizes_do_not_depend_on_the_trace)
{
    EXPECT_EQ(vram_limit("none", traffic(100)), std::nullopt);
    EXPECT_EQ(vram_limit("40MiB", traffic(100)), 40 * MiB);
    EXPECT_EQ(vram_limit("4096", traffic(100, 50)), 4096u);
}

TEST(vram_limit, a_multiple_leaves_the_external_memory_beside_it)
{
    EXPECT_EQ(vram_limit("1x", traffic(1000)), 1000u);
    EXPECT_EQ(vram_limit("1.25x", traffic(1000)), 1250u);
    EXPECT_EQ(vram_limit("1.25x", traffic(1000, 77)), 1327u);
    EXPECT_EQ(vram_limit("0.5x", traffic(1000)), 500u);
    EXPECT_EQ(vram_limit("1.0001x", traffic(1000)), 1001u) << "rounded up: never less than was asked for";
    EXPECT_EQ(vram_limit("1.1x", traffic(536'870'912)), 590'558'004u);    // 590,558,003.2
    EXPECT_EQ(vram_limit("3x", traffic((std::uint64_t{1} << 53) + 1)), 3 * ((std::uint64_t{1} << 53) + 1)) << "beyond a double";
}

TEST(vram_limit, a_pressure_is_the_share_that_live_memory_takes)
{
    EXPECT_EQ(vram_limit("100%", traffic(1000)), 1000u);
    EXPECT_EQ(vram_limit("80%", traffic(1000)), 1250u);
    EXPECT_EQ(vram_limit("50%", traffic(1000, 10)), 2010u);
    EXPECT_EQ(vram_limit("95%", traffic(1000)), 1053u);       // 1,052.6
    EXPECT_EQ(vram_limit("99.5%", traffic(1000)), 1006u);     // 1,005.03
}

TEST(vram_limit, refuses_what_is_not_a_limit)
{
    for (const char* typed : {"", "x", "%", "0", "0x", "0.0x", "0%", "-1x", "+1x", " 1x", "1 x", "1e3x", "1.x", ".5x", "1.5.5x", "nanx", "infx",
                              "1.1234567891x", "1000001x", "99999999999999999999999x", "1MiBx", "0x100", "1X", "unlimited"})
        EXPECT_THROW(vram_limit(typed, traffic(1000)), input_error) << typed;
    EXPECT_THROW(vram_limit("1000x", traffic(std::uint64_t{1} << 59)), input_error);
    EXPECT_THROW(vram_limit("1x", traffic(0)), input_error);
}

/// A multiple is a way of typing: the cell is that of its bytes.
TEST(vram_limit, a_multiple_makes_the_same_cell_as_its_bytes)
{
    run_request r;
    r.device = "sim:h200";
    r.allocators = {"vmm"};
    r.workloads = {"kv-pair:heads=8,head-dim=128,step=512,to=8192"};    // 32 MiB live
    r.reference = false;
    r.vram_limits = {"1.25x", "80%", "40MiB", "41943040"};
    const run_plan plan = make_plan(r);
    ASSERT_EQ(plan.document.cells.size(), 1u);
    EXPECT_EQ(plan.document.cells.front().vram_limit_bytes, 40 * MiB);
}

}  // namespace
}  // namespace vrambench
