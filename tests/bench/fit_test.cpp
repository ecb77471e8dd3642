// What fit makes of the search: limits and values, on sim and on a card, with a runner that only pretends.

#include "bench/fit/document.hpp"
#include "bench/fit/fit.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <nlohmann/json.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace vrambench::fit {
namespace {

using ::testing::HasSubstr;

const std::string pair = "kv-pair:heads=8,head-dim=128,step=512,to=8192";    // 32 MiB live

cell some_cell(bool simulated = true)
{
    cell c;
    c.on = choose_device("sim:h200");
    c.on.simulated = simulated;
    c.allocator = choose_allocator("vmm");
    c.workload = plan_workload(pair, 1, 0);
    return c;
}

const run_forecast unheard = [](std::uint64_t) {};

/// Completes where `completes` says so of the limit, and without one.
struct pretender {
    std::function<bool(std::uint64_t limit)> completes;
    std::uint64_t peak_bytes = 100 * MiB;
    std::uint64_t free_bytes = 100 * GiB;
    std::set<std::uint64_t> limits = {};

    runner run()
    {
        return [this](const cell& c, bool watch_memory) {
            trial t{{}, 0, free_bytes};
            if (watch_memory) t.peak_device_bytes = peak_bytes;
            if (!c.vram_limit_bytes) return t;
            limits.insert(*c.vram_limit_bytes);
            if (!completes(*c.vram_limit_bytes)) t.end.what = status::oom, t.end.cause = "retained";
            return t;
        };
    }
};

TEST(fit, on_sim_every_limit_of_a_small_case_is_tried)
{
    pretender p{[](std::uint64_t limit) { return limit >= 70 * MiB || limit == 41 * MiB || limit == 42 * MiB; }};
    const result r = smallest_limit(some_cell(), p.run(), unheard);
    EXPECT_EQ(r.best, 41 * MiB);
    EXPECT_FALSE(r.monotonic);
    ASSERT_EQ(r.islands.size(), 2u);
    EXPECT_EQ(r.islands[0].from, 41 * MiB);
    EXPECT_EQ(r.islands[0].to, 42 * MiB);
    EXPECT_EQ(r.islands[1].from, 70 * MiB);
    EXPECT_EQ(r.resolution, MiB);
    ASSERT_TRUE(r.beyond);
    EXPECT_EQ(r.beyond->cause, "retained");
    EXPECT_EQ(r.tried, p.limits.size() + 1);
    for (std::uint64_t limit = 32 * MiB; limit <= 53 * MiB; limit += MiB) EXPECT_TRUE(p.limits.contains(limit)) << limit;
    EXPECT_FALSE(p.limits.contains(31 * MiB)) << "nobody could";
}

TEST(fit, max_live_is_the_least)
{
    pretender p{[](std::uint64_t) { return true; }};
    const result r = smallest_limit(some_cell(), p.run(), unheard);
    EXPECT_EQ(r.best, 32 * MiB);
    EXPECT_TRUE(r.monotonic);
    EXPECT_EQ(r.beyond->cause, "live");
}

TEST(fit, on_a_card_three_limits_above_are_tried)
{
    pretender p{[](std::uint64_t limit) { return limit >= 600 * MiB && limit != 848 * MiB; }};
    p.peak_bytes = 2 * GiB;
    const result r = smallest_limit(some_cell(false), p.run(), unheard);
    EXPECT_EQ(r.resolution, 16 * MiB);
    EXPECT_EQ(r.best, 608 * MiB);    // 32 + 36 x 16
    EXPECT_TRUE(p.limits.contains(592 * MiB));
    std::vector<std::uint64_t> near;
    for (const auto limit : p.limits)
        if (limit > 608 * MiB && limit <= 791 * MiB) near.push_back(limit / MiB);
    EXPECT_THAT(near, ::testing::IsSupersetOf({656u, 704u, 752u}));    // 10 % are three steps
    EXPECT_LT(r.tried, 20u);
}

TEST(fit, no_limit_is_above_what_was_free)
{
    pretender p{[](std::uint64_t limit) { return limit >= 95 * MiB; }};
    p.free_bytes = 99 * MiB;
    const result r = smallest_limit(some_cell(), p.run(), unheard);
    EXPECT_EQ(r.best, 95 * MiB);
    EXPECT_LE(*p.limits.rbegin(), 99 * MiB);
}

TEST(fit, what_fails_without_a_limit_has_none)
{
    const runner fails = [](const cell&, bool) {
        trial t;
        t.end.what = status::unsupported;
        t.end.message = "frees must be last in, first out";
        return t;
    };
    const result r = smallest_limit(some_cell(), fails, unheard);
    EXPECT_FALSE(r.best);
    EXPECT_EQ(r.beyond->what, status::unsupported);
    EXPECT_EQ(r.tried, 1u);
}

/// The largest `to` whose live bytes (4 KiB a token) are at most `most`.
result largest_to(std::uint64_t most, const std::string& range, std::uint64_t limit = 0, std::uint64_t resident = 0)
{
    variation v = parse_variation(range);
    cell c = some_cell();
    c.resident_bytes = resident;
    if (limit) c.vram_limit_bytes = limit;
    const auto workload_at = [&](std::uint64_t to) { return plan_workload(with_key(pair, "to", std::to_string(to)), 1, resident); };
    v.step = own_step(c.workload->recipe->header(), v);
    return largest_value(c, v, workload_at, [&](const cell& at, bool) {
        trial t;
        if (at.workload->summary.max_live_bytes > most) t.end.what = status::oom, t.end.cause = "retained";
        return t;
    }, unheard);
}

TEST(fit, runs_that_are_left_are_told_before_each)
{
    pretender p{[](std::uint64_t limit) { return limit >= 70 * MiB; }};
    std::vector<std::uint64_t> told;
    const result r = smallest_limit(some_cell(), p.run(), [&](std::uint64_t runs) { told.push_back(runs); });
    ASSERT_EQ(told.size(), r.tried - 1) << "of the first run nobody knows";
    for (std::size_t i = 0; i < told.size(); ++i) {
        const double left = static_cast<double>(told.size() - i);
        EXPECT_LE(static_cast<double>(told[i]), 1.5 * left + 3) << "run " << i << " of " << told.size();
        EXPECT_GE(static_cast<double>(told[i]), left / 1.5 - 3) << "run " << i << " of " << told.size();
    }
    EXPECT_LE(told.back(), 3u);
}

TEST(fit, largest_value)
{
    const result r = largest_to(40 * MiB, "to=1024..65536");
    EXPECT_EQ(r.best, 10240u);
    EXPECT_EQ(r.max_live_bytes, 40 * MiB);
    EXPECT_EQ(r.resolution, 512u);
    EXPECT_TRUE(r.monotonic);
    EXPECT_EQ(r.beyond->cause, "retained");
    EXPECT_EQ(largest_to(40 * MiB, "to=1000..65536:100").best, 10200u);
    EXPECT_EQ(largest_to(GiB, "to=1024..65600").best, 65536u) << "no value beyond the range";
    EXPECT_FALSE(largest_to(GiB, "to=1024..65536").beyond);
    EXPECT_FALSE(largest_to(MiB, "to=1024..65536").best);
}

TEST(fit, nobody_can_serve_more_than_the_limit)
{
    const result r = largest_to(GiB, "to=1024..65536", 100 * MiB, 60 * MiB);
    EXPECT_EQ(r.best, 10240u) << "60 + 40 MiB";
    EXPECT_EQ(r.beyond->cause, "live");
    const result none = largest_to(GiB, "to=1024..65536", 100 * MiB, 100 * MiB);
    EXPECT_FALSE(none.best);
    EXPECT_EQ(none.beyond->cause, "live");
    EXPECT_EQ(none.tried, 0u);
}

TEST(fit, variations_are_read)
{
    const variation v = parse_variation("to=4096..262144");
    EXPECT_EQ(v.key, "to");
    EXPECT_EQ(v.from, 4096u);
    EXPECT_EQ(v.to, 262144u);
    EXPECT_EQ(v.step, 0u);
    EXPECT_EQ(parse_variation("live=1MiB..1GiB:16MiB").step, 16 * MiB);
    for (const char* bad : {"", "to", "to=", "to=1", "to=1..", "to=..2", "=1..2", "to=2..1", "to=1..2:0", "to=1..2:", "to=a..b", "to=-1..2",
                            "1..2=to"})
        EXPECT_THROW(parse_variation(bad), input_error) << bad;
    EXPECT_EQ(with_key("kv-pair:heads=8,to=5,step=512", "to", "7"), "kv-pair:heads=8,to=7,step=512");
    EXPECT_EQ(with_key("kv-pair:heads=8", "to", "7"), "kv-pair:heads=8,to=7");
    EXPECT_EQ(with_key("random", "events", "7"), "random:events=7");
    trace_header no_step;
    no_step.name = "other";
    EXPECT_THROW(own_step(no_step, v), input_error);
    EXPECT_THROW(own_step(no_step, parse_variation("to=0..2000000:1")), input_error);
    EXPECT_EQ(own_step(no_step, parse_variation("to=0..2000000:2048")), 2048u);
}

TEST(fit, the_table_shows_islands)
{
    pretender p{[](std::uint64_t limit) { return limit >= 70 * MiB || limit == 41 * MiB || limit == 42 * MiB; }};
    document d;
    d.cells.push_back({some_cell(), pair, std::nullopt, smallest_limit(some_cell(), p.run(), unheard)});
    EXPECT_THAT(table(d, {}), HasSubstr("not monotonic: completes at 41MiB to 42MiB, 70MiB to"));
    EXPECT_THAT(table(d, {}), HasSubstr("1.28x"));
    EXPECT_THAT(markdown(d), HasSubstr("| vmm | 41MiB | 1.28x | oom: retained |"));
    const auto j = nlohmann::json::parse(file_text(d));
    EXPECT_EQ(j["kind"], "fit");
    EXPECT_EQ(j["cells"][0]["smallest_passing_limit_bytes"], 41 * MiB);
    EXPECT_EQ(j["cells"][0]["islands"][0][1], 42 * MiB);
}

}  // namespace
}  // namespace vrambench::fit
