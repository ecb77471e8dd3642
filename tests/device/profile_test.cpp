// Profile files: what may be left out, what is refused, and what the optional parts make the simulated device do.

#include "device/registry.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/sim_device.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "tests/plain_device.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <fstream>

using namespace vrambench;
using namespace vrambench::sim;
using nlohmann::json;

namespace {

constexpr std::int64_t ns = 1000;
constexpr std::int64_t us = 1000 * ns;
constexpr std::int64_t ms = 1000 * us;

/// A profile without any optional part.
json plain()
{
    std::ifstream in(test::plain_profile_path);
    return json::parse(in);
}

profile parsed(const json& j) { return parse_profile(j.dump(), "test"); }

std::string refusal(const json& j)
{
    try {
        parsed(j);
    } catch (const input_error& e) {
        return e.what();
    }
    return "accepted";
}

sim_device device_of(const json& j, std::uint64_t free_bytes = 4 * GiB) { return sim_device(parsed(j), "sim:test", free_bytes, true); }

template <class F> std::int64_t cost(device& dev, F f)
{
    const std::int64_t begin = dev.clock().now_ps();
    f();
    return dev.clock().now_ps() - begin;
}

}  // namespace

TEST(profile, optional_parts_may_be_absent)
{
    const profile p = parsed(plain());
    EXPECT_EQ(p.raw_margin, 0u);
    EXPECT_EQ(p.handle_margin, 0u);
    EXPECT_EQ(p.memory_cleaning.bytes_per_second, 0u);
    EXPECT_FALSE(p.malloc.shared);
    EXPECT_FALSE(p.create.refused);
    EXPECT_EQ(p.pool.per_trimmed, p.pool.per_released);
    EXPECT_EQ(p.pool.stream_gap, 0);
}

TEST(profile, what_is_there_for_people_is_not_read)
{
    json j = plain();
    j["measured"] = {{"anything", 1}};
    j["spread"] = {{"malloc", {{"idle", {{1, 2, 3, 4}}}}}};
    EXPECT_NO_THROW(parsed(j));
    j["spread"] = 5;
    EXPECT_NE(refusal(j).find("\"spread\" must be an object"), std::string::npos) << refusal(j);
}

TEST(profile, a_document_that_is_no_object_and_a_name_that_is_empty_are_refused)
{
    EXPECT_NE(refusal(json::array()).find("must be a JSON object"), std::string::npos);
    json j = plain();
    j["name"] = "";
    EXPECT_NE(refusal(j).find("\"name\" must be text, and not empty"), std::string::npos);
}

TEST(profile, wrong_optional_parts_are_named)
{
    const auto expect = [](const char* pointer, json value, const std::string& words) {
        json j = plain();
        j[json::json_pointer(pointer)] = std::move(value);
        EXPECT_NE(refusal(j).find(words), std::string::npos) << pointer << ": " << refusal(j);
    };
    expect("/raw_margin", -1, "\"raw_margin\" must be a whole number");
    expect("/handle_margin", "2MiB", "\"handle_margin\"");
    expect("/cleaning", 5, "\"cleaning\" must be an object");
    expect("/cleaning", json::object(), "\"wait_ns\" is missing");
    expect("/cleaning", {{"wait_ns", 5}}, "\"bytes_per_second\" is missing");
    expect("/cleaning", {{"wait_ns", 5}, {"bytes_per_second", 0}}, "must be above 0");
    expect("/cleaning", {{"wait_ns", -5}, {"bytes_per_second", 1}}, "\"wait_ns\"");
    expect("/cleaning", {{"wait_ns", 5}, {"bytes_per_second", 1}, {"watt", 1}}, "unknown key 'watt'");
    expect("/pool_ns/stream_gap", -1, "\"stream_gap\"");
    expect("/pool_ns/per_trimmed_chunk", 1.5, "\"per_trimmed_chunk\"");
    expect("/pool_ns/stream_gab", 1, "unknown key 'stream_gab', did you mean 'stream_gap'?");
    expect("/calls_ns/malloc/shared", json::array(), "\"shared\" must be a list");
    expect("/calls_ns/malloc/refused", {{5, 1}, {4, 1}}, "\"refused\" must have rising sizes");
    expect("/calls_ns/malloc/scarce", {{5, 1}}, "unknown key 'scarce'");
}

// -- memory that is cleaned before it is handed out again

TEST(cleaning, only_a_request_that_the_clean_part_cannot_serve_waits)
{
    std::int64_t now = 0;
    physical_memory m(1000, {.wait_ps = 50, .bytes_per_second = 1'000'000'000'000}, &now);    // a byte a picosecond
    EXPECT_TRUE(m.take(600));
    EXPECT_EQ(m.take_wait_ps(), 0);
    m.give(600);                      // clean: 400
    EXPECT_TRUE(m.take(400));
    EXPECT_EQ(m.take_wait_ps(), 0);
    EXPECT_TRUE(m.take(1));           // none is clean
    EXPECT_EQ(m.take_wait_ps(), 600);
    EXPECT_TRUE(m.take(599));         // after a wait all is
    EXPECT_EQ(m.take_wait_ps(), 0);
    EXPECT_FALSE(m.take(1));
    EXPECT_EQ(m.take_wait_ps(), 0) << "a refused request does not wait";
}

TEST(cleaning, goes_on_by_itself)
{
    std::int64_t now = 0;
    physical_memory m(1000, {.wait_ps = 50, .bytes_per_second = 1'000'000'000'000}, &now);
    m.take(1000);
    m.give(300), m.give(300);         // 600 ps of work
    now = 590;
    EXPECT_TRUE(m.take(590));
    EXPECT_EQ(m.take_wait_ps(), 0);
    EXPECT_TRUE(m.take(10));
    EXPECT_EQ(m.take_wait_ps(), 50) << "the least wait, though 10 ps would do";
}

TEST(cleaning, a_device_lets_the_time_pass_whoever_gave_back_and_whoever_asks)
{
    json j = plain();
    j["cleaning"] = {{"wait_ns", 7'500'000}, {"bytes_per_second", 560'000'000'000}};
    constexpr std::uint64_t bytes = 320 * MiB, left = 420 * MiB;
    const auto raw = [](device& d) { d.free(d.malloc(bytes)); };
    const auto handle = [](device& d) { d.release(d.create(bytes)); };
    const auto pool = [](device& d) {
        const pool_id p = d.create_pool({.threshold = 0});
        d.free_async(d.malloc_async(bytes, p, 0), 0);
        d.sync_device();
    };
    using use = void (*)(device&);
    for (const use gives : {use(raw), use(handle), use(pool)})
        for (const use asks : {use(raw), use(handle), use(pool)}) {
            sim_device with = device_of(j, left), without = device_of(plain(), left);
            gives(with), gives(without);
            EXPECT_EQ(cost(with, [&] { asks(with); }) - cost(without, [&] { asks(without); }), 7'500 * us);
            with.launch(0, ms, {}), without.launch(0, ms, {});    // 320 MiB are clean after 0.6 ms
            with.sync_device(), without.sync_device();
            EXPECT_EQ(cost(with, [&] { asks(with); }), cost(without, [&] { asks(without); }));
        }
}

// -- margins, refusals, shared blocks

TEST(margins, raw_memory_and_handles_leave_them_free)
{
    json j = plain();
    j["raw_margin"] = 3 * MiB;
    j["handle_margin"] = 5 * MiB;
    sim_device d = device_of(j, 16 * MiB);
    EXPECT_EQ(d.create(12 * MiB), 0u);
    const vmm_handle h = d.create(10 * MiB);
    EXPECT_NE(h, 0u);
    EXPECT_EQ(d.malloc(4 * MiB), 0u);
    EXPECT_NE(d.malloc(2 * MiB), 0u);
    EXPECT_NE(d.malloc(512), 0u) << "the small block that the process holds has room";
    EXPECT_NE(d.malloc(MiB), 0u);
    EXPECT_EQ(d.malloc(MiB), 0u) << "4 MiB are left, and that one is full: another would take two of them";
}

/// The shipped profile's margin lies between zero and one block of 2 MiB: of 16 MiB the last block is not to be had.
TEST(margins, the_shipped_card_has_them)
{
    const profile p = parse_profile(built_in_profiles().front().second, "test");
    for (const std::uint64_t margin : {p.raw_margin, p.handle_margin}) {
        EXPECT_GT(margin, 0u);
        EXPECT_LT(margin, p.physical_block);
    }
    const auto raw = open_device(choose_device("sim:h200,vram=16MiB"), {}), virt = open_device(choose_device("sim:h200,vram=16MiB"), {});
    EXPECT_EQ(raw->malloc(16 * MiB), 0u);
    EXPECT_NE(raw->malloc(14 * MiB), 0u);
    EXPECT_EQ(virt->create(16 * MiB), 0u);
    EXPECT_NE(virt->create(14 * MiB), 0u);
}

TEST(margins, the_byte_exact_device_has_none)
{
    const auto raw = open_device(choose_device("sim:h200,vram=16MiB,block=256"), {});
    EXPECT_NE(raw->malloc(16 * MiB), 0u);
    const auto virt = open_device(choose_device("sim:h200,vram=16MiB,block=256"), {});
    EXPECT_NE(virt->create(16 * MiB), 0u);
}

TEST(refusals, cost_by_what_is_free)
{
    json j = plain();
    j["calls_ns"]["malloc"]["refused"] = {{GiB, 100}, {5 * GiB, 500}};
    j["calls_ns"]["create"]["refused"] = {{GiB, 7}};
    sim_device d = device_of(j, 4 * GiB);
    EXPECT_EQ(cost(d, [&] { d.malloc(8 * GiB); }), 400 * ns);
    EXPECT_EQ(cost(d, [&] { d.create(8 * GiB); }), 7 * ns);
    d.malloc(2 * GiB);
    EXPECT_EQ(cost(d, [&] { d.malloc(3 * GiB); }), 200 * ns);
}

TEST(shared_blocks, cost_what_they_cost_while_others_hold_their_memory)
{
    json j = plain();
    j["calls_ns"]["malloc"]["shared"] = {{256, 3}};
    j["calls_ns"]["free"]["shared"] = {{256, 5}};
    sim_device d = device_of(j);
    device_ptr first = 0, second = 0;
    EXPECT_EQ(cost(d, [&] { d.malloc(MiB); }), 3 * ns) << "beside the small block that the process holds";
    EXPECT_EQ(cost(d, [&] { first = d.malloc(MiB); }), 70 * us) << "which has no room for a second one";
    EXPECT_EQ(cost(d, [&] { second = d.malloc(MiB); }), 3 * ns);
    EXPECT_EQ(cost(d, [&] { d.free(first); }), 5 * ns);
    EXPECT_EQ(cost(d, [&] { d.free(second); }), 27 * us) << "the last of its memory gives it back";
}

// -- what a pool's free and an unmapping cost

TEST(stream_gap, delays_the_next_kernel_of_the_stream_once)
{
    json j = plain();
    j["pool_ns"]["stream_gap"] = 1300;
    sim_device d = device_of(j);
    d.set_streams(2);
    const pool_id p = d.create_pool({});
    const device_ptr a = d.malloc_async(MiB, p, 0), b = d.malloc_async(MiB, p, 0);
    d.launch(0, 100 * us, {});
    const std::int64_t end = d.busy_until_ps();
    d.free_async(a, 0), d.free_async(b, 0);
    d.launch(1, us, {});
    EXPECT_EQ(d.busy_until_ps(), end) << "another stream is not delayed";
    d.launch(0, 10 * us, {});
    EXPECT_EQ(d.busy_until_ps(), end + 1300 * ns + 10 * us);
    d.launch(0, 10 * us, {});
    EXPECT_EQ(d.busy_until_ps(), end + 1300 * ns + 20 * us);
}

TEST(trim, has_its_own_price_per_chunk)
{
    json j = plain();
    j["pool_ns"]["per_trimmed_chunk"] = 1;
    sim_device d = device_of(j);
    const pool_id p = d.create_pool({});
    d.free_async(d.malloc_async(64 * MiB, p, 0), 0);
    d.sync_device();
    EXPECT_EQ(cost(d, [&] { d.trim_pool(p, 0); }), 1000 * ns + 2 * ns);
}

TEST(unmapping, costs_by_the_number_of_mappings)
{
    sim_device d = device_of(plain());
    const device_ptr at = d.reserve(16 * MiB);
    for (std::uint64_t i = 0; i < 4; ++i) d.map(at + i * 2 * MiB, 2 * MiB, d.create(2 * MiB));
    EXPECT_EQ(cost(d, [&] { d.unmap(at, 8 * MiB); }), 4 * 22 * us);
}
