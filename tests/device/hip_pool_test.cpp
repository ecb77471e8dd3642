// HIP's stream-ordered pool on the simulated device: sequences of calls whose answers come from the reference model
// (fixtures/hip_pool_sequences.txt; its head documents the format), the model's tables, and what the rules let go wrong.

#include "device/sim/hip_rules.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/sim_device.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace vrambench::sim {
namespace {

constexpr std::uint64_t MiB = std::uint64_t{1} << 20, GiB = 1024 * MiB, whole = UINT64_MAX;

/// A card whose calls take no time. One unit of a policy's work is a picosecond, so that a test can let time pass.
struct card {
    std::string rules = "rocm-7.2";
    std::uint64_t total = 16 * GiB, free_bytes = 16 * GiB;
    bool late = false;
    bool check = false;
};

std::unique_ptr<sim_device> open(const card& c)
{
    profile p;
    p.name = "test";
    p.total_bytes = c.total;
    p.free_bytes = c.free_bytes;
    p.physical_block = 2 * MiB;
    p.shared_up_to = 2 * MiB - 4096;
    p.pool_rules = c.rules;
    p.late_markers = c.late;
    p.launch_queue = 1 << 12;
    p.flops_per_second = p.bytes_per_second = 1;
    p.costs_known = false;
    p.work_unit = 1;
    return std::make_unique<sim_device>(p, "sim:test", c.free_bytes, c.check);
}

// ---------------------------------------------------------------------------------------------------- the sequences

/// Plays one sequence of the fixture file and answers each operation in the file's words.
class sequence {
public:
    /// `head` is what follows "S NAME".
    explicit sequence(std::istringstream& head)
    {
        card c;
        std::uint32_t streams = 0;
        int pool_count = 0;
        head >> c.rules >> c.late >> c.free_bytes >> c.total >> streams >> pool_count;
        has_addresses_ = find_hip_rules(c.rules)->vm_heap;
        device_ = open(c);
        device_->set_streams(streams);
        for (int i = 0; i < pool_count; ++i) {
            pool_settings settings;
            head >> settings.threshold >> settings.follow_events >> settings.opportunistic;
            pools_.push_back(device_->create_pool(settings));
        }
    }

    std::string play(const std::string& operation)
    {
        std::istringstream in(operation);
        std::ostringstream out;
        char what = 0;
        std::uint64_t x = 0, y = 0, z = 0, v = 0;
        in >> what >> x >> y >> z >> v;
        const auto stream_x = static_cast<stream_id>(x), stream_y = static_cast<stream_id>(y);
        switch (what) {
            case 'a': allocate(x, y, z, static_cast<stream_id>(v), out); break;
            case 'f': device_->free_async(blocks_.at(x), stream_y); break;
            case 'k': device_->launch(stream_x, static_cast<std::int64_t>(y), {}); break;
            case 't': device_->charge(x); break;
            case 's': device_->sync_stream(stream_x); break;
            case 'd': device_->sync_device(); break;
            case 'r': device_->record(static_cast<event_id>(x), stream_y); break;
            case 'w': device_->wait(static_cast<event_id>(x), stream_y); break;
            case 'm': device_->trim_pool(pools_.at(x), y); break;
            case 'h': device_->set_threshold(pools_.at(x), y); break;
            case 'D':
                if (!(raw_[x] = device_->malloc(y))) out << "- ";
                break;
            case 'E': device_->free(raw_.at(x)); break;
            default: out << "UNKNOWN OPERATION ";
        }
        for (const pool_id p : pools_) {
            const pool_usage u = device_->usage(p);
            out << u.reserved << ' ' << u.reserved_high << ' ' << u.used << ' ' << u.used_high << ' ' << u.pending << ' ';
        }
        out << device_->query_memory().free_bytes << ' ' << device_->clock().now_ps();
        return out.str();
    }

private:
    void allocate(std::uint64_t id, std::uint64_t pool, std::uint64_t bytes, stream_id stream, std::ostringstream& out)
    {
        const std::uint64_t before = device_->usage(pools_.at(pool)).reserved;
        const device_ptr p = device_->malloc_async(bytes, pools_.at(pool), stream);
        blocks_[id] = p;
        if (!p) {
            out << "- ";
        } else if (has_addresses_) {
            out << p % (std::uint64_t{1} << 44) << ' ';
        } else if (device_->usage(pools_.at(pool)).reserved > before) {    // a block of its own, not one from the free heap
            numbers_[p] = ++new_blocks_;
            out << 'n' << new_blocks_ << ' ';
        } else {
            out << 'r' << numbers_.at(p) << ' ';
        }
    }

    std::unique_ptr<sim_device> device_;
    std::vector<pool_id> pools_;
    std::map<std::uint64_t, device_ptr> blocks_, raw_;
    std::map<device_ptr, std::uint64_t> numbers_;      ///< of new blocks, in their order
    std::uint64_t new_blocks_ = 0;
    bool has_addresses_ = false;
};

/// Plays every sequence of `in`; the first difference of each goes to `report`. Returns how many sequences differ.
std::size_t play_sequences(std::istream& in, std::size_t& played, std::ostream& report)
{
    std::size_t different = 0;
    std::unique_ptr<sequence> now;
    std::string line, name;
    while (std::getline(in, line)) {
        if (line.empty() || line[0] == '#') continue;
        if (line[0] == 'S') {
            std::istringstream head(line.substr(1));
            head >> name;
            now = std::make_unique<sequence>(head);
            ++played;
            continue;
        }
        if (!now) continue;
        const auto at = line.find(" > ");
        const std::string have = now->play(line.substr(0, at));
        if (at != std::string::npos && have == line.substr(at + 3)) continue;
        report << "sequence " << name << ": " << line << "\n  answered " << have << '\n';
        ++different;
        now.reset();
    }
    return different;
}

TEST(hip_pool_sequences, agree_with_the_reference_model)
{
    std::ifstream in(VRAMBENCH_TEST_DATA "/hip_pool_sequences.txt");
    ASSERT_TRUE(in) << "no fixture file in " VRAMBENCH_TEST_DATA;
    std::size_t played = 0;
    std::ostringstream report;
    EXPECT_EQ(play_sequences(in, played, report), 0u) << report.str();
    EXPECT_EQ(played, 300u);
}

// ---------------------------------------------------------------------------------------------------- the model's tables

constexpr std::int64_t long_kernel = 1'000'000'000'000;    // outlasts every test

enum class retry : std::uint8_t { none, sync, trim };

/// K and V of k x 32 MiB on one stream, both used, V freed before K; 4,080 MiB are free.
struct growing_pair {
    const char* rules;
    bool busy = false, sync = false;
    std::uint64_t threshold = 0;
    retry after = retry::none;
    std::uint64_t total = 16 * GiB;
    bool late = false;
};

class pair_player {
public:
    explicit pair_player(const growing_pair& p)
        : how_(p), dev_(open({p.rules, p.total, 4080 * MiB, p.late})), pool_(dev_->create_pool({.threshold = p.threshold}))
    {
    }

    /// The first step that fails.
    unsigned failing_step()
    {
        for (unsigned k = 1; k < 100; ++k)
            if (!step(k * 32 * MiB)) return k;
        return 0;
    }

private:
    bool step(std::uint64_t bytes)
    {
        const device_ptr key = allocate(bytes), value = key ? allocate(bytes) : 0;
        if (!value) return false;
        if (how_.busy) dev_->launch(0, long_kernel, {});
        dev_->free_async(value, 0);
        dev_->free_async(key, 0);
        if (how_.sync) dev_->sync_stream(0);
        return true;
    }
    device_ptr allocate(std::uint64_t bytes)
    {
        const device_ptr p = dev_->malloc_async(bytes, pool_, 0);
        if (p || how_.after == retry::none) return p;
        dev_->sync_stream(0);
        if (how_.after == retry::trim) dev_->trim_pool(pool_, 0);
        return dev_->malloc_async(bytes, pool_, 0);
    }

    growing_pair how_;
    std::unique_ptr<sim_device> dev_;
    pool_id pool_;
};

unsigned failing_step(const growing_pair& p) { return pair_player(p).failing_step(); }

struct table_row {
    const char* rules;
    std::uint64_t total;
    unsigned idle_early, idle_late, busy, synced_0, synced_max, retry_sync;
};

class growing_pair_table : public testing::TestWithParam<table_row> {};

TEST_P(growing_pair_table, fails_where_the_model_says)
{
    const table_row& r = GetParam();
    const growing_pair idle{.rules = r.rules, .total = r.total};
    const auto with = [&](auto change) {
        growing_pair p = idle;
        change(p);
        return failing_step(p);
    };
    EXPECT_EQ(failing_step(idle), r.idle_early);
    EXPECT_EQ(with([](auto& p) { p.late = true; }), r.idle_late);
    EXPECT_EQ(with([](auto& p) { p.busy = true; }), r.busy);
    EXPECT_EQ(with([](auto& p) { p.busy = p.sync = true; }), r.synced_0);
    EXPECT_EQ(with([](auto& p) { p.busy = p.sync = true, p.threshold = whole; }), r.synced_max);
    EXPECT_EQ(with([](auto& p) { p.busy = true, p.after = retry::sync; }), r.retry_sync);
}

INSTANTIATE_TEST_SUITE_P(releases, growing_pair_table,
                         testing::Values(table_row{"rocm-5.7", 16 * GiB, 11, 11, 11, 11, 11, 11},
                                         table_row{"rocm-6.1", 16 * GiB, 11, 11, 11, 64, 11, 64},
                                         table_row{"rocm-6.3", 16 * GiB, 43, 43, 33, 64, 43, 64},
                                         table_row{"rocm-7.2", 16 * GiB, 43, 32, 32, 64, 63, 33},
                                         table_row{"rocm-7.2", 192 * GiB, 43, 43, 43, 64, 64, 43},
                                         table_row{"rocm-7.2-vmheap0", 16 * GiB, 43, 43, 33, 64, 43, 64}));

TEST(growing_pair, trim_rescues_what_a_synchronisation_does_not_in_5_7)
{
    EXPECT_EQ(failing_step({.rules = "rocm-5.7", .busy = true, .after = retry::sync}), 11u);
    EXPECT_EQ(failing_step({.rules = "rocm-5.7", .busy = true, .after = retry::trim}), 64u);
}

/// "reuse" or "new", for a block of `tenths` tenths of MiB and a request of 100 MiB: on the stream that freed it, and on another
/// after the GPU is past the free.
std::vector<std::string> window(const std::string& rules, std::uint64_t tenths)
{
    std::vector<std::string> out;
    for (const stream_id s : {0u, 1u}) {
        const auto dev = open({.rules = rules});
        dev->set_streams(2);
        const pool_id pool = dev->create_pool({});
        dev->malloc_async(GiB, pool, 0);                   // more is used than free: no pressure
        const device_ptr freed = dev->malloc_async(tenths * MiB / 10, pool, 0);
        dev->free_async(freed, 0);
        const std::uint64_t used = dev->usage(pool).used;
        dev->malloc_async(100 * MiB, pool, s);
        out.push_back(dev->usage(pool).used - used == tenths * MiB / 10 ? "reuse" : "new");
    }
    return out;
}

TEST(hip_window, ends_at_nine_eighths_except_for_safe_streams_in_6_3)
{
    const std::vector<std::string> both{"reuse", "reuse"}, safe{"reuse", "new"}, neither{"new", "new"};
    for (const char* rules : {"rocm-5.7", "rocm-6.1", "rocm-6.3", "rocm-7.2"}) EXPECT_EQ(window(rules, 1100), both) << rules;
    for (const char* rules : {"rocm-5.7", "rocm-6.1", "rocm-7.2"}) EXPECT_EQ(window(rules, 1150), neither) << rules;
    EXPECT_EQ(window("rocm-6.3", 1150), safe);
    EXPECT_EQ(window("rocm-6.3", 4000), safe);
    EXPECT_EQ(window("rocm-7.2", 4000), neither);
}

/// MiB reserved with 1 GiB alive and eight blocks of 64 MiB freed, after a synchronisation. `late`: the threshold is set
/// behind the first allocations.
std::uint64_t kept_at(const std::string& rules, std::uint64_t threshold, bool late = false)
{
    const auto dev = open({.rules = rules});
    const pool_id pool = dev->create_pool({.threshold = late ? 0 : threshold});
    dev->malloc_async(GiB, pool, 0);
    std::vector<device_ptr> blocks;
    for (int i = 0; i < 8; ++i) blocks.push_back(dev->malloc_async(64 * MiB, pool, 0));
    if (late) dev->set_threshold(pool, threshold);
    for (const auto b : blocks) dev->free_async(b, 0);
    dev->sync_stream(0);
    return dev->usage(pool).reserved / MiB;
}

TEST(hip_threshold, is_compared_with_what_is_free_and_lost_where_the_vm_heap_is_not_used_yet)
{
    for (const std::uint64_t threshold : {std::uint64_t{0}, 256 * MiB, whole}) EXPECT_EQ(kept_at("rocm-5.7", threshold), 1536u);
    EXPECT_EQ(kept_at("rocm-6.3", 0), 1024u);
    EXPECT_EQ(kept_at("rocm-6.3", 256 * MiB), 1280u);
    EXPECT_EQ(kept_at("rocm-6.3", whole), 1536u);
    EXPECT_EQ(kept_at("rocm-7.2", 0), 1056u);
    EXPECT_EQ(kept_at("rocm-7.2", 256 * MiB), 1280u);
    EXPECT_EQ(kept_at("rocm-7.2", whole), 1312u);
    EXPECT_EQ(kept_at("rocm-7.2", whole, true), 1568u);
}

std::uint64_t kept_by_trim(const std::string& rules, bool busy, std::uint64_t keep = 0)
{
    const auto dev = open({.rules = rules});
    const pool_id pool = dev->create_pool({});
    dev->malloc_async(GiB, pool, 0);
    std::vector<device_ptr> blocks;
    for (int i = 0; i < 4; ++i) blocks.push_back(dev->malloc_async(64 * MiB, pool, 0));
    if (busy) dev->launch(0, long_kernel, {});
    for (const auto b : blocks) dev->free_async(b, 0);
    dev->trim_pool(pool, keep);
    return dev->usage(pool).reserved / MiB;
}

TEST(hip_trim, keeps_free_bytes_and_what_is_not_seen_done)
{
    EXPECT_EQ(kept_by_trim("rocm-5.7", false), 1024u);
    EXPECT_EQ(kept_by_trim("rocm-5.7", true), 1280u);
    EXPECT_EQ(kept_by_trim("rocm-6.3", false), 1024u);
    EXPECT_EQ(kept_by_trim("rocm-6.3", true), 1280u);
    EXPECT_EQ(kept_by_trim("rocm-6.3", false, 128 * MiB), 1152u);
    EXPECT_EQ(kept_by_trim("rocm-7.2", false), 1056u);
    EXPECT_EQ(kept_by_trim("rocm-7.2", true), 1312u);
}

// Public reports.

TEST(hip_reports, rocm_systems_11690_keeps_64_mib_at_the_largest_threshold)
{
    for (const char* rules : {"rocm-7.2", "rocm-7.2-vmheap0"}) {
        const auto dev = open({.rules = rules});
        const pool_id pool = dev->create_pool({});
        std::vector<device_ptr> blocks;
        for (int i = 0; i < 3; ++i) blocks.push_back(dev->malloc_async(64 * MiB, pool, 0));
        dev->sync_stream(0);
        for (const auto b : blocks) dev->free_async(b, 0);
        dev->sync_stream(0);
        EXPECT_EQ(dev->usage(pool).reserved, 64 * MiB) << rules;
    }
}

TEST(hip_reports, rocm_systems_11642_a_failed_call_takes_the_rest_of_the_card)
{
    const auto dev = open({"rocm-7.2", 24560 * MiB, 24560 * MiB});
    ASSERT_NE(dev->malloc(16 * GiB), 0u);
    const pool_id pool = dev->create_pool({.threshold = 0});
    EXPECT_EQ(dev->malloc_async(9 * GiB, pool, 0), 0u);
    EXPECT_EQ(dev->query_memory().free_bytes, 16 * MiB);
}

// ---------------------------------------------------------------------------------------------------- what goes wrong

/// A block that stream 0 allocates and hands to stream 1 by an event; a kernel there uses it, and it is freed there. Then
/// stream 0 asks for as much and writes. Returns the kinds of the hazards.
std::vector<std::string> freed_on_another_stream(const std::string& rules, bool waits_back)
{
    const auto dev = open({.rules = rules, .check = true});
    dev->set_streams(2);
    block_observer& seen = *dev->observer();
    const pool_id pool = dev->create_pool({});
    const std::uint64_t bytes = 64 * MiB;
    std::uint64_t event = 0;
    const auto next = [&] { seen.at_event(event++); };
    const auto allocate = [&](std::uint32_t block) {
        next();
        const device_ptr p = dev->malloc_async(bytes, pool, 0);
        seen.allocated(block, p, bytes, bytes, 256, 0);
        return p;
    };
    const device_ptr first = allocate(0);
    next(), dev->record(0, 0);
    next(), dev->wait(0, 1);
    next(), dev->launch(1, long_kernel, std::vector<kernel_access>{{first, bytes, 0, true}});
    next(), seen.freed(0, first, bytes, 1), dev->free_async(first, 1);
    next(), dev->record(1, 1);
    if (waits_back) next(), dev->wait(1, 0);
    const device_ptr second = allocate(1);
    next(), dev->launch(0, long_kernel, std::vector<kernel_access>{{second, bytes, 1, true}});
    std::vector<std::string> kinds;
    for (const hazard& h : seen.hazards()) kinds.push_back(h.kind);
    return kinds;
}

TEST(hip_hazards, a_block_freed_on_another_stream_is_at_once_the_first_ones_again)
{
    for (const hip_rules& r : all_hip_rules()) {
        EXPECT_THAT(freed_on_another_stream(r.name, false), testing::Contains("reuse-before-ordered")) << r.name;
        EXPECT_THAT(freed_on_another_stream(r.name, true), testing::IsEmpty()) << r.name;
    }
    EXPECT_THAT(freed_on_another_stream("cuda", false), testing::IsEmpty());
}

/// Stream 1 waits for an event that stream 0 recorded before it used and freed the block, and then asks for one.
std::vector<std::string> freed_after_the_record(const std::string& rules)
{
    const auto dev = open({.rules = rules, .check = true});
    dev->set_streams(2);
    block_observer& seen = *dev->observer();
    const pool_id pool = dev->create_pool({});
    const std::uint64_t bytes = 64 * MiB;
    std::uint64_t event = 0;
    const auto next = [&] { seen.at_event(event++); };
    next();
    const device_ptr first = dev->malloc_async(bytes, pool, 0);
    seen.allocated(0, first, bytes, bytes, 256, 0);
    next(), dev->record(0, 0);
    next(), dev->launch(0, long_kernel, std::vector<kernel_access>{{first, bytes, 0, true}});
    next(), seen.freed(0, first, bytes, 0), dev->free_async(first, 0);
    next(), dev->wait(0, 1);
    next();
    const device_ptr second = dev->malloc_async(bytes, pool, 1);
    seen.allocated(1, second, bytes, bytes, 256, 1);
    next(), dev->launch(1, long_kernel, std::vector<kernel_access>{{second, bytes, 1, true}});
    std::vector<std::string> kinds;
    for (const hazard& h : seen.hazards()) kinds.push_back(h.kind);
    return kinds;
}

TEST(hip_hazards, from_6_2_a_wait_covers_frees_behind_its_event)
{
    EXPECT_THAT(freed_after_the_record("rocm-6.3"), testing::Contains("reuse-before-ordered"));
    EXPECT_THAT(freed_after_the_record("rocm-6.1"), testing::IsEmpty());
    EXPECT_THAT(freed_after_the_record("cuda"), testing::IsEmpty());
}

// ---------------------------------------------------------------------------------------------------- raw memory

TEST(rocr, blocks_of_two_mib_are_shared_below_and_whole_above)
{
    const auto taken = [](std::uint64_t bytes, int times) {
        const auto dev = open({});
        for (int i = 0; i < times; ++i) EXPECT_NE(dev->malloc(bytes), 0u);
        return (16 * GiB - dev->query_memory().free_bytes) / MiB;
    };
    EXPECT_EQ(taken(3 * MiB, 1), 4u);
    EXPECT_EQ(taken(2 * MiB + 1, 1), 4u);
    EXPECT_EQ(taken(2 * MiB, 1), 2u);
    EXPECT_EQ(taken(4096, 1000), 4u);
}

TEST(rocr, one_allocation_is_at_most_85_per_cent_of_the_card_to_6_3)
{
    const std::uint64_t limit = 16 * GiB / 100 * 85 + 16 * GiB % 100 * 85 / 100;
    EXPECT_NE(open({.rules = "rocm-6.3"})->malloc(limit), 0u);
    EXPECT_EQ(open({.rules = "rocm-6.3"})->malloc(limit + 1), 0u);
    EXPECT_NE(open({.rules = "rocm-7.2"})->malloc(16 * GiB), 0u);
}

}  // namespace
}  // namespace vrambench::sim
