// The vendors' back end itself, compiled as for a card: whole repetitions, limits, graphs, tear-down, and a failure at every
// single call.

#include "bench/runner.hpp"
#include "device/registry.hpp"
#include "spec/errors.hpp"
#include "tests/fake_runtime/fakes.hpp"
#include "tests/runner/bench_setup.hpp"
#include "workloads/registry.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <map>

namespace vrambench::test {

namespace {

using ::testing::HasSubstr;

constexpr const char* six[] = {"direct", "legacy", "legacy-retry", "async", "vmm", "ideal"};
constexpr int odd_code = 999;

std::string refusal_of(const std::function<void()>& f)
{
    try {
        f();
    } catch (const input_error& e) {
        return e.what();
    } catch (const unsupported_error& e) {
        return e.what();
    }
    return "no refusal";
}

/// Every kind of call that the device has, each of which a driver may fail. No branch looks at what came before.
void use_everything(device& d)
{
    d.set_streams(2);
    d.settle();
    d.reset_low_water();
    d.query_memory();
    const device_ptr raw = d.malloc(4 * MiB);
    const kernel_access write{.pointer = raw, .bytes = 4 * MiB, .block = 1, .write = true}, read{.pointer = raw, .bytes = 4 * MiB, .block = 1};
    if (raw) d.launch(0, 1'000'000, std::array{write}), d.launch(0, 1'000'000, std::array{read});
    d.record(0, 0), d.wait(0, 1);
    d.capture_begin(0), d.launch(0, 1'000'000, {}), d.capture_end(0, 0), d.graph_launch(0, 1);
    d.sync_stream(1), d.sync_device();
    if (raw) d.free(raw);
    const pool_id pool = d.create_pool({});
    if (const device_ptr p = d.malloc_async(MiB, pool, 0)) d.free_async(p, 0);
    d.usage(pool), d.trim_pool(pool, 0), d.destroy_pool(pool);
    d.usage(d.default_pool());
    const std::uint64_t n = d.info().vmm_granularity;
    if (n) {
        const device_ptr at = d.reserve(n);
        const vmm_handle h = d.create(n);
        if (at && h) d.map(at, n, h), d.set_access(at, n), d.unmap(at, n);
        if (h) d.release(h);
        if (at) d.unreserve(at, n);
    }
    d.activity();
    d.reset_activity();
    d.launch(0, 1'000'000, {});
    d.sync_device();
    d.busy_within_ps(0, 1);
    d.activity();
    if (d.observer()) d.observer()->hazard_count();
    d.condition();
}

}  // namespace

class gpu_device_over : public on_fakes {
protected:
    device_options everything() const
    {
        device_options o;
        o.vram_limit_bytes = 64 * GiB;
        o.stamps = false;    // their cost takes two thousand launches
        o.follow_free_memory = true;
        return o;
    }
    repetition run(const std::string& workload, const std::string& allocator, role what, std::uint64_t limit = 0) const
    {
        return run_repetition(cell_of(make_trace(workload, 1), allocator, vendor().device(), limit), {}, what);
    }
};

TEST_P(gpu_device_over, every_allocator_completes_with_every_chosen_word_verified)
{
    for (const char* a : six)
        for (const char* w : {"kv-pair:heads=8,head-dim=128,step=512,to=4096",
                              "random:events=2000,max=4MiB,live=64MiB,order=lifo,streams=3,share=0.3,sync=step"}) {
            SCOPED_TRACE(std::string(a) + " on " + w);
            set("");
            const repetition r = run(w, a, role::verify);
            EXPECT_EQ(r.cold.result.what, status::completed) << r.cold.result.message;
            ASSERT_TRUE(r.steady);
            EXPECT_EQ(r.steady->result.what, status::completed) << r.steady->result.message;
            EXPECT_EQ(alive(), "");
        }
}

TEST_P(gpu_device_over, out_of_memory_is_an_outcome)
{
    for (const char* a : {"direct", "legacy", "async", "vmm"}) {
        SCOPED_TRACE(a);
        set("");
        const repetition r = run("kv-pair:heads=8,head-dim=128,step=512,to=16384", a, role::memory, 32 * MiB);
        EXPECT_EQ(r.cold.result.what, status::oom) << r.cold.result.message;
        EXPECT_EQ(alive(), "");
    }
}

TEST_P(gpu_device_over, memory_that_is_not_there_breaks_the_card)
{
    const auto d = open();
    const kernel_access nowhere{.pointer = 4096, .bytes = 4096, .block = 1, .write = true};
    d->launch(0, 1'000'000, std::array{nowhere});    // told later, as a card does
    EXPECT_THROW(d->sync_device(), device_error);
}

/// A block whose contents another owner wrote: the kernels' report names both.
TEST_P(gpu_device_over, mismatches_are_reported)
{
    const auto d = open();
    const device_ptr p = d->malloc(MiB);
    for (std::uint32_t block : {1u, 2u}) d->observer()->allocated(block, p, MiB, MiB, 0, 0);
    const auto access = [&](std::uint32_t block, bool write) { return kernel_access{.pointer = p, .bytes = MiB, .block = block, .write = write}; };
    d->launch(0, 1'000'000, std::array{access(1, true)});
    d->launch(0, 1'000'000, std::array{access(2, true)});
    d->launch(0, 1'000'000, std::array{access(1, false)});
    d->sync_device();
    EXPECT_GT(d->observer()->hazard_count(), 0u);
    ASSERT_EQ(d->observer()->hazards().size(), 1u);
    EXPECT_THAT(d->observer()->hazards()[0].message, HasSubstr("read block 1 (write 1)"));
    EXPECT_THAT(d->observer()->hazards()[0].message, HasSubstr("found the contents of block 2 (write 1)"));
    d->free(p);
}

TEST_P(gpu_device_over, graphs_replay_and_are_replaced)
{
    const auto d = open();
    for (int i = 0; i < 2; ++i) {
        d->capture_begin(0);
        d->launch(0, 1'000'000, {});
        d->capture_end(0, 7);
        d->graph_launch(7, 0);
    }
    d->sync_device();
    EXPECT_EQ(d->calls()[static_cast<std::size_t>(driver_call::graph_launch)], 2u);
    EXPECT_LT(d->activity().busy_ps, 0);    // a graph's stamps are those of its first and last replay
    EXPECT_LT(d->busy_within_ps(0, 1), 0);
}

TEST_P(gpu_device_over, a_limit_is_reached_or_refused)
{
    device_options o;
    o.vram_limit_bytes = GiB;
    auto d = open(o);
    d->settle();
    const std::uint64_t free_bytes = d->query_memory().free_bytes;
    EXPECT_TRUE(free_bytes >= GiB && free_bytes < GiB + 2 * MiB) << free_bytes;
    d.reset();
    EXPECT_EQ(alive(), "");
    o.vram_limit_bytes = std::uint64_t{1} << 42;
    d = open(o);
    EXPECT_THAT(refusal_of([&] { d->settle(); }), HasSubstr("are free on the card, the limit is 4096.00 GiB"));
}

/// A block of the ballast that is refused is made up for by smaller ones; where all are refused the limit cannot be set.
TEST_P(gpu_device_over, blocks_of_the_ballast_that_are_refused)
{
    device_options o;
    o.vram_limit_bytes = GiB;
    auto d = open(o);
    vendor().arm("fail=Malloc:1:2");
    d->settle();
    EXPECT_LT(d->query_memory().free_bytes, GiB + 2 * MiB);
    d.reset();
    d = open(o);
    vendor().arm("fail=Malloc:2+:2");
    EXPECT_THAT(refusal_of([&] { d->settle(); }), HasSubstr("could not be set"));
}

TEST_P(gpu_device_over, a_card_without_memory_for_the_ballast)
{
    device_options o;
    o.vram_limit_bytes = GiB;
    const auto d = open(o);
    const device_ptr most = d->malloc(120 * GiB);
    ASSERT_NE(most, 0u);
    d->settle();    // blocks that do not fit are left out
    EXPECT_GE(d->query_memory().free_bytes, GiB);
    d->free(most);
}

TEST_P(gpu_device_over, rates_are_measured)
{
    set("device=sim:h200,vram=1GiB");
    const auto d = open();
    const card_rates r = d->measure_rates().value();
    EXPECT_GT(r.flops_per_second, 0u);
    EXPECT_THAT(r.flops_source, HasSubstr("pairs of f16"));
    EXPECT_GT(r.bytes_per_second, 0u);
    set("device=sim:h200,vram=64MiB");
    const card_rates little = open()->measure_rates().value();
    EXPECT_EQ(little.bytes_per_second, 0u);
    EXPECT_THAT(little.bytes_source, HasSubstr("too little memory"));
}

TEST_P(gpu_device_over, rates_that_cannot_be_measured)
{
    const auto d = open();
    vendor().arm("fail=Malloc:1+:2");
    const card_rates none = d->measure_rates().value();
    EXPECT_EQ(none.bytes_per_second + none.flops_per_second, 0u);
    EXPECT_THAT(none.bytes_source, HasSubstr("too little memory"));
    EXPECT_THAT(none.flops_source, HasSubstr("no memory is free"));
    vendor().arm("fail=Launch:1:999");
    EXPECT_THROW(d->measure_rates(), device_error);
}

/// NVIDIA's management library has a stand-in beside these tests; AMD's is not read.
TEST_P(gpu_device_over, clocks_are_read_or_the_facts_say_why_not)
{
    const auto d = open();
    const auto now = d->condition();
    const std::string fact = d->info().facts.at("clocks");
    if (std::string(vendor().kind) == "cuda") {
        ASSERT_TRUE(now) << fact;
        EXPECT_EQ(now->sm_mhz, 1980u);
        EXPECT_THAT(now->held_by, ::testing::ElementsAre("idle", "power-cap"));
    } else {
        EXPECT_FALSE(now);
        EXPECT_THAT(fact, HasSubstr("of this vendor is not read"));
    }
}

TEST_P(gpu_device_over, devices_that_are_not_there)
{
    const std::string name = "no device '" + vendor().device() + "': ";
    set("devices=0");
    EXPECT_THAT(refusal_of([&] { open(); }), HasSubstr(name));
    set("devices=1");
    const device_choice second = choose_device(std::string(vendor().kind) + ":1");
    EXPECT_THAT(refusal_of([&] { open_device(second, {}); }), HasSubstr("there is 1 (numbered from 0)"));
    set("devices=2");
    EXPECT_EQ(open_device(second, {})->info().spec, std::string(vendor().kind) + ":1");
    EXPECT_THAT(refusal_of([&] { open_device(choose_device(std::string(vendor().kind) + ":2"), {}); }), HasSubstr("there are 2 (numbered from 0)"));
    set("fail=SetDevice:1:46");    // exclusive use by another process
    EXPECT_THAT(refusal_of([&] { open(); }), HasSubstr(name + "it cannot be used: "));
}

TEST_P(gpu_device_over, drivers_that_are_not_there_or_too_old)
{
    if (std::string(vendor().kind) != "cuda") GTEST_SKIP() << "only CUDA's driver has a version of its own";
    set("driver=0");
    EXPECT_THAT(refusal_of([&] { open(); }), HasSubstr("no driver on this machine"));
    set("driver=11040");
    EXPECT_THAT(refusal_of([&] { open(); }), HasSubstr("the driver is for 11.4, this build needs 13.0"));
}

TEST_P(gpu_device_over, without_virtual_memory_there_is_no_granularity)
{
    const std::string call = std::string(vendor().kind) == "cuda" ? "DeviceGetAttribute" : "MemMap";
    set("fail=" + call + ":1:801");
    EXPECT_EQ(open()->info().vmm_granularity, 0u);
}

TEST_P(gpu_device_over, peers_are_tried_and_leave_nothing)
{
    set("devices=2");
    const auto second = open_device(choose_device(std::string(vendor().kind) + ":1"), {});
    const std::uint64_t before = second->query_memory().free_bytes;
    for (const auto& [to, from] : {std::pair{0, 1}, std::pair{1, 0}, std::pair{1, 0}}) {    // access is given back, and had again
        const peer_trial t = second->try_peer(to, from, MiB);
        EXPECT_TRUE(t.stated);
        EXPECT_EQ(t.access_refused + t.copy_refused, "");
        EXPECT_EQ(t.wrong_words, 0u);
        EXPECT_EQ(second->query_memory().free_bytes, before);    // of the second: it is selected again
    }
    EXPECT_FALSE(second->try_peer(1, 1, MiB).stated);    // a device is no peer of itself
    EXPECT_THAT(refusal_of([&] { second->try_peer(0, 1, TiB); }), HasSubstr("device 1 has no 1024.00 GiB free"));
    EXPECT_EQ(second->query_memory().free_bytes, before);
}

/// What is refused is said, or thrown with its code; nothing is kept on the way out.
TEST_P(gpu_device_over, a_failure_at_every_call_between_peers)
{
    set("devices=2");
    const auto d = open();
    const std::uint64_t before = d->query_memory().free_bytes;
    const std::size_t opened = vendor().lines("calls").size();
    d->try_peer(0, 1, MiB);
    std::vector<std::string> calls = vendor().lines("calls");
    calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(opened));
    std::map<std::string, int> heard;
    while (calls.back() != "Memcpy") calls.pop_back();    // what follows gives back
    for (std::size_t n = 1; n <= calls.size(); ++n) {
        SCOPED_TRACE("call " + std::to_string(n) + ", " + calls[n - 1]);
        vendor().arm(("fail=any:" + std::to_string(n) + ":" + std::to_string(odd_code)).c_str());
        try {
            const peer_trial t = d->try_peer(0, 1, MiB);
            if (!t.access_refused.empty() || !t.copy_refused.empty()) ++heard[calls[n - 1]];
            EXPECT_EQ(t.wrong_words, 0u);
        } catch (const device_error& e) {
            EXPECT_EQ(e.code(), odd_code);
            ++heard[calls[n - 1]];
        } catch (const unsupported_error& e) {
            EXPECT_THAT(e.what(), HasSubstr("cannot be used"));
            ++heard[calls[n - 1]];
        }
        EXPECT_EQ(d->query_memory().free_bytes, before);
    }
    for (const char* c : {"DeviceCanAccessPeer", "SetDevice", "DeviceEnablePeerAccess", "Malloc", "Memcpy", "Memset", "MemcpyPeer", "DeviceSynchronize"})
        EXPECT_GT(heard[c], 0) << c;
}

/// Whatever call fails, with whatever code, the device says so as an error of that code, or as out of memory, or ignores it
/// where it must: nothing crashes, and what can be given back is.
TEST_P(gpu_device_over, a_failure_at_every_call)
{
    use_everything(*open(everything()));
    const std::vector<std::string> calls = vendor().lines("calls");
    ASSERT_GT(calls.size(), 100u);
    std::map<std::string, int> thrown;
    for (std::size_t n = 1; n <= calls.size(); ++n) {
        SCOPED_TRACE("call " + std::to_string(n) + ", " + calls[n - 1]);
        set("fail=any:" + std::to_string(n) + ":" + std::to_string(odd_code));
        std::unique_ptr<device> d;
        try {
            d = open(everything());
            use_everything(*d);
        } catch (const device_error& e) {
            EXPECT_EQ(e.code(), odd_code);
            ++thrown[calls[n - 1]];
        } catch (const input_error& e) {
            EXPECT_THAT(e.what(), HasSubstr("no device"));
            ++thrown[calls[n - 1]];
        }
    }
    for (const char* c : {"GetDeviceCount", "SetDevice", "GetDeviceProperties", "DeviceGetPCIBusId", "Malloc", "Free", "Memset", "Memcpy", "MemGetInfo",
                          "StreamCreateWithFlags", "StreamSynchronize", "DeviceSynchronize", "EventCreateWithFlags", "EventRecord",
                          "StreamWaitEvent", "MemPoolCreate", "MemPoolDestroy", "MemPoolSetAttribute", "MemPoolGetAttribute", "MemPoolTrimTo",
                          "DeviceGetDefaultMemPool", "MallocFromPoolAsync", "FreeAsync", "StreamBeginCapture", "StreamEndCapture",
                          "GraphInstantiate", "GraphLaunch", "GraphDestroy", "MemAddressReserve", "MemAddressFree", "MemCreate", "MemMap",
                          "MemSetAccess", "MemUnmap", "MemRelease", "Launch"})
        EXPECT_GT(thrown[c], 0) << c;
}

/// Out of memory is a value wherever memory is asked for.
TEST_P(gpu_device_over, out_of_memory_at_every_request)
{
    for (const char* call : {"Malloc", "MallocFromPoolAsync", "MemCreate", "MemAddressReserve"}) {
        SCOPED_TRACE(call);
        set("");
        const auto d = open();
        const pool_id pool = d->create_pool({});
        const std::uint64_t n = d->info().vmm_granularity;
        const auto ask = [&]() -> std::uint64_t {
            if (std::string(call) == "Malloc") return d->malloc(n);
            if (std::string(call) == "MallocFromPoolAsync") return d->malloc_async(n, pool, 0);
            return std::string(call) == "MemCreate" ? d->create(n) : d->reserve(n);
        };
        vendor().arm(("fail=" + std::string(call) + ":1:2").c_str());
        EXPECT_EQ(ask(), 0u);
        EXPECT_NE(ask(), 0u);
        d->sync_device();    // and nothing is left behind
    }
}

ON_EVERY_FAKE(gpu_device_over);

}  // namespace vrambench::test
