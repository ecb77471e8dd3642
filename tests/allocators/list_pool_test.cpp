// ggml's list pool, rule by rule: what it asks of the driver, which block it takes, how much it looked at.

#include "allocators/list_pool.hpp"
#include "spec/units.hpp"
#include "tests/allocators/player.hpp"
#include "tests/allocators/scripted_device.hpp"
#include "tests/allocators/specs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace vrambench::test {
namespace {

constexpr std::uint32_t slots = 256;

class legacy : public testing::Test {
protected:
    /// Puts cached blocks of exactly these sizes into slots 0, 1, 2 ... A size must be one that a miss can ask for.
    void cache(const std::vector<std::uint64_t>& sizes)
    {
        std::vector<device_ptr> blocks;
        for (const auto bytes : sizes) {
            const allocation a = pool.allocate(request_for(bytes), 128, 0);
            ASSERT_EQ(a.granted_bytes, bytes);
            blocks.push_back(a.pointer);
        }
        for (std::size_t i = 0; i < sizes.size(); ++i) pool.deallocate(blocks[i], sizes[i], 0);
        ASSERT_EQ(pool.cached_blocks(), sizes);
    }

    /// The largest request that a miss turns into `granted` bytes (a multiple of 256); larger than any smaller block.
    static std::uint64_t request_for(std::uint64_t granted) { return granted * 20 / 21; }

    scripted_device dev;
    list_pool pool{dev};
};

// -- the miss

TEST(legacy_look_ahead, is_1_05_times_truncated_then_rounded_up_to_256)
{
    struct pair { std::uint64_t asked, granted; };
    // int(1.05 * n) in Python's doubles, rounded up to 256.
    for (const auto& [asked, granted] : {pair{1, 256}, {128, 256}, {243, 256}, {244, 256}, {245, 512}, {1000, 1280},
                                         {4096, 4352}, {18432, 19456}, {1048576, 1101056}, {1048577, 1101056},
                                         {5242880, 5505024}, {11027968, 11579392}, {67108864, 70464512},
                                         {268435456, 281857280}, {536870912, 563714560}, {4294967296, 4509715712},
                                         {17179869184, 18038862848}})
        EXPECT_EQ(list_pool::look_ahead(asked), granted) << asked;
}

/// In whole numbers, for sizes at which a double has no say in the result.
TEST(legacy_look_ahead, agrees_with_exact_arithmetic)
{
    for (std::uint64_t n = 1; n < 64 * GiB; n += 1 + n / 97) EXPECT_EQ(list_pool::look_ahead(n), (n * 21 / 20 + 255) / 256 * 256) << n;
}

TEST_F(legacy, a_miss_asks_the_driver_for_more_than_it_was_asked_for)
{
    const allocation a = pool.allocate(MiB, 128, 0);
    EXPECT_EQ(dev.log_since(0), "malloc 1101056");
    EXPECT_EQ(a.granted_bytes, 1101056u);
    EXPECT_EQ(a.how, path::grow);
    EXPECT_EQ(a.work, slots);
    EXPECT_EQ(pool.reserved_bytes(), 1101056u);
    pool.deallocate(a.pointer, a.granted_bytes, 0);
    EXPECT_EQ(dev.log_since(1), "") << "a free keeps the block";
}

// -- the search

TEST_F(legacy, takes_the_smallest_block_that_fits)
{
    cache({512 * 256, 256, 64 * 256, 128 * 256, 32 * 256});
    EXPECT_EQ(pool.allocate(100 * 256, 128, 0).granted_bytes, 128u * 256);
    EXPECT_EQ(pool.allocate(100 * 256, 128, 0).granted_bytes, 512u * 256) << "however much larger";
    EXPECT_EQ(pool.allocate(33 * 256, 128, 0).granted_bytes, 64u * 256);
    EXPECT_EQ(pool.cached_blocks(), (std::vector<std::uint64_t>{256, 32 * 256}));
}

TEST_F(legacy, a_hit_visits_all_slots_and_asks_the_driver_nothing)
{
    cache({1024, 2048});
    const auto lines = dev.log.size();
    const allocation a = pool.allocate(1000, 128, 0);
    EXPECT_EQ(a.how, path::hit);
    EXPECT_EQ(a.granted_bytes, 1024u);
    EXPECT_EQ(a.work, slots);
    EXPECT_EQ(dev.log.size(), lines);
}

TEST_F(legacy, an_exact_fit_ends_the_search)
{
    cache({4096, 1024, 2048, 1024});
    const allocation second = pool.allocate(1024, 128, 0);
    EXPECT_EQ(second.work, 2u);
    const allocation fourth = pool.allocate(1024, 128, 0);
    EXPECT_EQ(fourth.work, 4u) << "slot 1 is empty and was visited all the same";
    const allocation third = pool.allocate(2048, 128, 0);
    EXPECT_EQ(third.work, 3u);
}

TEST_F(legacy, among_equals_takes_the_lowest_slot)
{
    std::vector<allocation> a;
    for (int i = 0; i < 4; ++i) a.push_back(pool.allocate(5000, 128, 0));
    for (const int i : {2, 0, 3, 1}) pool.deallocate(a[i].pointer, a[i].granted_bytes, 0);    // slots 0, 1, 2, 3
    for (const int i : {2, 0, 3, 1}) EXPECT_EQ(pool.allocate(5000, 128, 0).pointer, a[i].pointer);
}

TEST_F(legacy, a_free_goes_to_the_lowest_empty_slot)
{
    cache({1024, 2048, 4096});
    const allocation first = pool.allocate(1024, 128, 0);
    const allocation second = pool.allocate(2048, 128, 0);
    const deallocation d = pool.deallocate(second.pointer, second.granted_bytes, 0);
    EXPECT_EQ(d.work, 1u);
    EXPECT_EQ(d.how, path::hit);
    EXPECT_EQ(pool.cached_blocks(), (std::vector<std::uint64_t>{2048, 4096}));
    EXPECT_EQ(pool.deallocate(first.pointer, first.granted_bytes, 0).work, 2u);
    EXPECT_EQ(pool.cached_blocks(), (std::vector<std::uint64_t>{2048, 1024, 4096}));
}

/// The excess must be below 64 GiB. 20 bytes of request and 64 GiB more: the largest excess that is still taken is one less.
TEST_F(legacy, a_block_that_is_64_gib_too_large_is_not_used)
{
    const std::uint64_t huge = list_pool::look_ahead(64 * GiB);
    cache({huge});
    const std::uint64_t edge = huge - 64 * GiB;
    const allocation refused = pool.allocate(edge, 128, 0);
    EXPECT_EQ(refused.how, path::grow);
    EXPECT_EQ(refused.granted_bytes, list_pool::look_ahead(edge));
    const allocation taken = pool.allocate(edge + 1, 128, 0);
    EXPECT_EQ(taken.how, path::hit);
    EXPECT_EQ(taken.granted_bytes, huge);
}

TEST_F(legacy, a_2_kib_request_may_take_a_256_mib_block)
{
    cache({256 * MiB});
    EXPECT_EQ(pool.allocate(2 * KiB, 128, 0).granted_bytes, 256 * MiB);
}

/// The original's loop, written down plainly, over a table that lives through 200,000 requests and frees.
TEST_F(legacy, finds_what_the_plain_loop_finds)
{
    struct entry { device_ptr pointer; std::uint64_t bytes; };
    std::vector<entry> table(slots), live;
    std::mt19937_64 numbers(7);
    for (int i = 0; i < 200'000; ++i) {
        if (live.size() > 40 + numbers() % 230) {
            std::swap(live[numbers() % live.size()], live.back());
            const auto empty = std::find_if(table.begin(), table.end(), [](const entry& e) { return e.pointer == 0; });
            const deallocation d = pool.deallocate(live.back().pointer, live.back().bytes, 0);
            ASSERT_EQ(d.how == path::driver, empty == table.end());
            if (empty != table.end()) *empty = live.back();
            live.pop_back();
            continue;
        }
        // Few sizes, so that there are ties and exact fits; some far apart, so that the limit on waste matters.
        std::uint64_t bytes = 256 * (1 + numbers() % 40);
        if (numbers() % 16 == 0) bytes = (60 + numbers() % 20) * GiB;
        int best = -1;
        std::uint32_t visited = slots;
        std::uint64_t best_waste = 64 * GiB;
        for (std::uint32_t s = 0; s < slots; ++s) {
            if (table[s].pointer == 0 || table[s].bytes < bytes || table[s].bytes - bytes >= best_waste) continue;
            best = static_cast<int>(s);
            best_waste = table[s].bytes - bytes;
            if (best_waste != 0) continue;
            visited = s + 1;
            break;
        }
        const allocation a = pool.allocate(bytes, 128, 0);
        ASSERT_EQ(a.work, visited);
        ASSERT_EQ(a.how, best < 0 ? path::grow : path::hit);
        if (best >= 0) {
            ASSERT_EQ(a.pointer, table[best].pointer);
            table[best] = {};
        }
        live.push_back({a.pointer, a.granted_bytes});
    }
    for (const auto& b : live) pool.deallocate(b.pointer, b.bytes, 0);
}

// -- the table

TEST_F(legacy, a_full_table_frees_to_the_driver)
{
    std::vector<allocation> a;
    for (std::uint32_t i = 0; i < slots + 2; ++i) a.push_back(pool.allocate(1000, 128, 0));
    const std::uint64_t all = pool.reserved_bytes();
    for (std::uint32_t i = 0; i < slots; ++i) EXPECT_EQ(pool.deallocate(a[i].pointer, 1280, 0).how, path::hit);
    EXPECT_EQ(pool.reserved_bytes(), all);
    const auto epoch = pool.address_epoch();
    const auto lines = dev.log.size();
    const deallocation d = pool.deallocate(a[slots].pointer, 1280, 0);
    EXPECT_EQ(d.how, path::driver);
    EXPECT_EQ(d.work, slots);
    EXPECT_EQ(dev.log_since(lines), "free 1280") << "and no synchronisation of its own";
    EXPECT_EQ(pool.reserved_bytes(), all - 1280);
    EXPECT_GT(pool.address_epoch(), epoch);
    EXPECT_EQ(pool.cached_blocks().size(), slots);
    pool.deallocate(a[slots + 1].pointer, 1280, 0);
}

TEST_F(legacy, destruction_frees_every_slot)
{
    scripted_device other;
    {
        list_pool p(other);
        const allocation a = p.allocate(1000, 128, 0), b = p.allocate(2000, 128, 0);
        p.deallocate(b.pointer, b.granted_bytes, 0);
        p.deallocate(a.pointer, a.granted_bytes, 0);
    }
    EXPECT_EQ(other.log_since(2), "free 2304, free 1280") << "in slot order";
    EXPECT_EQ(other.lent_bytes(), 0u);
}

TEST_F(legacy, without_retry_out_of_memory_is_final_and_frees_nothing)
{
    scripted_device small(4 * MiB);
    list_pool p(small);
    const allocation a = p.allocate(2 * MiB, 128, 0);
    p.deallocate(a.pointer, a.granted_bytes, 0);
    const auto lines = small.log.size();
    const allocation b = p.allocate(3 * MiB, 128, 0);
    EXPECT_EQ(small.log_since(lines), "malloc 3303168 -> oom");
    EXPECT_EQ(b.pointer, 0u);
    EXPECT_EQ(b.why, failure::memory);
    EXPECT_EQ(b.asked_bytes, 3303168u) << "not what was requested: what the driver was asked for";
    EXPECT_EQ(p.stats().failures, 1u);
    EXPECT_EQ(p.allocate(2 * MiB, 128, 0).how, path::hit);
}

// -- trim

TEST_F(legacy, trim_frees_in_slot_order_until_little_enough_is_reserved)
{
    cache({1024, 2048, 4096, 8192});
    const auto lines = dev.log.size();
    EXPECT_EQ(pool.trim(12288), 1024u + 2048);
    EXPECT_EQ(dev.log_since(lines), "free 1024, free 2048");
    EXPECT_EQ(pool.cached_blocks(), (std::vector<std::uint64_t>{4096, 8192}));
    EXPECT_EQ(pool.trim(12288), 0u);
    EXPECT_EQ(pool.trim(0), 12288u);
}

// -- the law of slow growth

/// A request that grows by 1 in 64 steps of less than 5 % strands what it had: reserved tends to 22 times the need.
TEST_F(legacy, slow_growth_strands_blocks)
{
    std::uint64_t n = MiB;
    for (; n <= 64 * MiB; n += 16 * KiB) {
        const allocation a = pool.allocate(n, 128, 0);
        pool.deallocate(a.pointer, a.granted_bytes, 0);
    }
    const double bloat = static_cast<double>(pool.reserved_bytes()) / (64.0 * MiB);
    EXPECT_GT(bloat, 18.0);
    EXPECT_LT(bloat, 1.05 * 1.05 / 0.05);
    EXPECT_EQ(pool.stats().live, 0u);
}

}  // namespace
}  // namespace vrambench::test
