// CUDA's stream-ordered pool: one test a rule, with the numbers that were measured, and sequences of calls whose results
// come from the reference model (fixtures/cuda_pool_sequences.txt; its head documents the format).

#include "device/sim/cuda_pool.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace vrambench::sim {
namespace {

constexpr std::uint64_t KiB = 1024, MiB = 1024 * KiB, GiB = 1024 * MiB;
constexpr std::uint64_t chunk = cuda_pool::chunk_bytes;
constexpr std::uint64_t h200_bytes = 150109880320;
constexpr std::uint64_t none = stream_pool::none;
constexpr std::int64_t us = 1'000'000;                 // in ps
using route = pool_work::route;

/// Follows where the pool has memory, and holds it to its word: nothing appears twice or leaves twice.
class slot_listener final : public pool_listener {
public:
    struct observation {
        std::uint32_t stream;
        mark up_to;
        bool operator==(const observation&) const = default;
    };

    void backed(std::uint64_t offset, std::uint64_t bytes) override
    {
        note('+', offset, bytes);
        for (std::uint64_t at = offset; at < offset + bytes; at += chunk)
            if (!slots.insert(at).second) faults += " backed twice: " + std::to_string(at);
    }
    void unbacked(std::uint64_t offset, std::uint64_t bytes) override
    {
        note('-', offset, bytes);
        for (std::uint64_t at = offset; at < offset + bytes; at += chunk)
            if (slots.erase(at) == 0) faults += " taken twice: " + std::to_string(at);
    }
    void observed(std::uint32_t stream, mark up_to) override { seen.push_back({stream, up_to}); }
    void depends(std::uint32_t stream, std::uint32_t on, mark up_to) override
    {
        log += " " + std::to_string(stream) + "<" + std::to_string(on) + "@" + std::to_string(up_to);
    }
    bool holds(std::uint64_t offset, std::uint64_t bytes) const
    {
        for (std::uint64_t at = offset / chunk * chunk; at < offset + bytes; at += chunk)
            if (!slots.contains(at)) return false;
        return true;
    }

    std::set<std::uint64_t> slots;
    std::string log;                                   ///< "+first:count" and "-first:count" in slots; "s<t@mark"
    std::string faults;
    std::vector<observation> seen;

private:
    void note(char what, std::uint64_t offset, std::uint64_t bytes)
    {
        if (offset % chunk != 0 || bytes % chunk != 0 || bytes == 0) faults += " not whole slots";
        log += std::string(" ") + what + std::to_string(offset / chunk) + ":" + std::to_string(bytes / chunk);
    }
};

/// A device reduced to what pools see, with the calls as a device would make them.
class bench {
public:
    explicit bench(std::uint64_t free_bytes, std::uint64_t total_bytes = h200_bytes, std::uint32_t streams = 4)
        : memory(free_bytes), order(streams), total_bytes_(total_bytes)
    {
    }
    cuda_pool& add_pool(const pool_settings& settings = {})
    {
        const pool_environment env{memory, order, now, pools, total_bytes_};
        owned.push_back(std::make_unique<cuda_pool>(env, settings));
        return *owned.back();
    }
    /// A kernel that starts as soon as the stream lets it.
    void kernel(std::uint32_t stream, std::int64_t duration, std::int64_t delay = 0)
    {
        order.kernel(stream, now + delay, duration);
    }
    std::uint32_t sync(std::uint32_t stream)
    {
        now = std::max(now, order.end_ps(stream));
        const knowledge known = order.covered_by_sync(stream);
        return tell(&known);
    }
    std::uint32_t sync_event(std::uint32_t event)
    {
        if (!order.recorded(event)) return 0;
        now = std::max(now, order.event_end_ps(event));
        return tell(&order.event_know(event));
    }
    std::uint32_t sync_device()
    {
        for (std::uint32_t s = 0; s < order.streams(); ++s) now = std::max(now, order.end_ps(s));
        return tell(nullptr);
    }
    /// A raw allocation in the driver's steps of 2 MiB; the bytes taken, or 0.
    std::uint64_t raw_malloc(std::uint64_t bytes)
    {
        bytes = (bytes + 2 * MiB - 1) / (2 * MiB) * (2 * MiB);
        if (memory.take(bytes)) return bytes;
        for (stream_pool* p : pools) p->release_completed();
        return memory.take(bytes) ? bytes : 0;
    }

    physical_memory memory;
    stream_order order;
    std::int64_t now = 0;
    std::vector<stream_pool*> pools;
    std::vector<std::unique_ptr<cuda_pool>> owned;

private:
    std::uint32_t tell(const knowledge* known)
    {
        pool_work work;
        for (stream_pool* p : pools) p->synchronised(known, work);
        return work.released;
    }
    std::uint64_t total_bytes_;
};

// ---------------------------------------------------------------------------------------------------- the sequences

/// Plays one sequence of the fixture file and answers each operation in the file's words.
class sequence {
public:
    /// `head` is what follows "S NAME".
    explicit sequence(std::istringstream& head)
    {
        std::uint64_t free_bytes = 0, total_bytes = 0;
        int pool_count = 0;
        head >> free_bytes >> total_bytes >> pool_count;
        bench_.emplace(free_bytes, total_bytes);
        listeners_.resize(static_cast<std::size_t>(pool_count));
        for (auto& listener : listeners_) {
            pool_settings settings;
            head >> settings.threshold >> settings.follow_events >> settings.opportunistic >> settings.internal_dependencies;
            bench_->add_pool(settings).set_listener(&listener);
        }
    }
    ~sequence() { bench_.reset(); }                    // the pools report to the listeners

    std::string play(const std::string& operation)
    {
        std::istringstream in(operation);
        std::ostringstream out;
        char what = 0;
        in >> what;
        switch (what) {
            case 'a': allocate(in, out); break;
            case 'f': free(in, out); break;
            case 'm': trim(in, out); break;
            case 's': case 'e': case 'd': synchronise(what, in, out); break;
            case 'D': case 'E': raw(what, in, out); break;
            case 'z': sum_up(out); break;
            default: order(what, in); break;
        }
        check(out);
        return out.str();
    }

private:
    struct placed {
        int pool;
        std::uint64_t offset, bytes;
    };

    void allocate(std::istringstream& in, std::ostringstream& out)
    {
        std::uint64_t id = 0, bytes = 0;
        int pool = 0;
        std::uint32_t stream = 0;
        in >> id >> pool >> bytes >> stream;
        pool_work w;
        const std::uint64_t at = bench_->owned[pool]->allocate(bytes, stream, w);
        if (at == none) out << '-';
        else {
            blocks_[id] = {pool, at, bytes};
            out << at / 512;
            if (!listeners_[pool].holds(at, bytes)) out << " NO MEMORY THERE";
        }
        const auto& c = bench_->owned[pool]->counts();
        out << ' ' << "ocxmgif"[static_cast<int>(w.how)] << ' ' << w.new_chunks << ' ' << w.remapped << ' ' << w.mapped << ' '
            << w.released << ' ' << w.polled << ' ' << c.reserved / chunk << ' ' << c.reserved_high / chunk;
    }
    void free(std::istringstream& in, std::ostringstream& out)
    {
        std::uint64_t id = 0;
        std::uint32_t stream = 0;
        in >> id >> stream;
        const placed b = blocks_.at(id);
        blocks_.erase(id);
        if (!bench_->owned[b.pool]->free(b.offset, stream)) out << "NOT LIVE ";
        out << bench_->owned[b.pool]->counts().pending / 512;
    }
    void trim(std::istringstream& in, std::ostringstream& out)
    {
        int pool = 0;
        std::uint64_t keep = 0;
        in >> pool >> keep;
        pool_work w;
        bench_->owned[pool]->trim(keep, w);
        out << w.released << ' ' << bench_->memory.free_bytes();
    }
    void synchronise(char what, std::istringstream& in, std::ostringstream& out)
    {
        std::uint32_t which = 0;
        in >> which;
        const auto released = what == 's'   ? bench_->sync(which)
                              : what == 'e' ? bench_->sync_event(which)
                                            : bench_->sync_device();
        out << bench_->now << ' ' << released << ' ' << bench_->memory.free_bytes();
    }
    void raw(char what, std::istringstream& in, std::ostringstream& out)
    {
        std::uint64_t id = 0, bytes = 0;
        in >> id >> bytes;
        if (what == 'D') raw_[id] = bench_->raw_malloc(bytes);
        else {
            bench_->memory.give(raw_.at(id));
            raw_.erase(id);
        }
        out << bench_->memory.free_bytes();
    }
    void order(char what, std::istringstream& in)
    {
        std::int64_t x = 0, y = 0, z = 0;
        in >> x >> y >> z;
        if (what == 't') bench_->now = std::max(bench_->now, x);
        if (what == 'k') bench_->kernel(static_cast<std::uint32_t>(x), y, z);
        if (what == 'r') bench_->order.record(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
        if (what == 'w') bench_->order.wait(static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y));
        if (what == 'h') bench_->owned[x]->set_threshold(static_cast<std::uint64_t>(y));
    }
    void sum_up(std::ostringstream& out) const
    {
        for (const auto& p : bench_->owned) {
            const pool_counts& c = p->counts();
            out << c.reserved << ' ' << c.reserved_high << ' ' << c.used << ' ' << c.used_high << ' ' << c.pending << ' ';
        }
        out << bench_->memory.free_bytes();
    }
    /// What must hold after every operation, whatever the file says; a fault becomes part of the answer.
    void check(std::ostringstream& out)
    {
        for (std::uint32_t s = 0; s < bench_->order.streams(); ++s)
            ends_[s].resize(bench_->order.clock(s) + 1, bench_->order.end_ps(s));
        for (std::size_t p = 0; p < listeners_.size(); ++p) {
            auto& l = listeners_[p];
            out << l.faults;
            if (l.slots.size() * chunk != bench_->owned[p]->counts().reserved) out << " SLOTS DO NOT ADD UP";
            for (const auto& [stream, up_to] : l.seen)
                if (ends_[stream].at(up_to) > bench_->now) out << " OBSERVED BEFORE ITS END";
            l.seen.clear();
        }
    }

    std::vector<slot_listener> listeners_;
    std::optional<bench> bench_;
    std::map<std::uint64_t, placed> blocks_;
    std::map<std::uint64_t, std::uint64_t> raw_;
    std::map<std::uint32_t, std::vector<std::int64_t>> ends_;    ///< of the operations, by stream and mark
};

/// Plays every sequence of `in`; the first difference of each goes to `report`. Returns how many sequences differ.
std::size_t play_sequences(std::istream& in, std::size_t& played, std::ostream& report)
{
    std::size_t different = 0, line_number = 0;
    std::unique_ptr<sequence> now;
    std::string line, name;
    while (std::getline(in, line)) {
        ++line_number;
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
        const std::string want = at == std::string::npos ? "" : line.substr(at + 3);
        const std::string have = now->play(line.substr(0, at));
        if (have == want) continue;
        report << "sequence " << name << ", line " << line_number << ": " << line << "\n  answered " << have << '\n';
        ++different;
        now.reset();
    }
    return different;
}


TEST(cuda_pool_sequences, agree_with_the_reference_model)
{
    std::ifstream in(VRAMBENCH_TEST_DATA "/cuda_pool_sequences.txt");
    ASSERT_TRUE(in) << "no fixture file in " VRAMBENCH_TEST_DATA;
    std::size_t played = 0;
    std::ostringstream report;
    EXPECT_EQ(play_sequences(in, played, report), 0u) << report.str();
    EXPECT_EQ(played, 300u);
}

// ---------------------------------------------------------------------------------------------------- one pool, by hand

/// One pool on a device with memory enough, and calls that keep the work of the last one.
class cuda_pool_rules : public testing::Test {
protected:
    void make(const pool_settings& settings = {}, std::uint64_t free_bytes = 64 * GiB, std::uint64_t total = h200_bytes)
    {
        dev.emplace(free_bytes, total);
        pool = &dev->add_pool(settings);
        pool->set_listener(&listener);
    }
    void TearDown() override
    {
        dev.reset();
        EXPECT_EQ(listener.faults, "");
        EXPECT_TRUE(listener.slots.empty());
    }
    std::uint64_t allocate(std::uint64_t bytes, std::uint32_t stream = 0) { return pool->allocate(bytes, stream, work); }
    /// A kernel that outlasts every test keeps the stream busy.
    void occupy(std::uint32_t stream) { dev->kernel(stream, 1'000'000 * us); }
    void free(std::uint64_t offset, std::uint32_t stream = 0) { ASSERT_TRUE(pool->free(offset, stream)); }
    std::uint64_t reserved() const { return pool->counts().reserved; }
    /// Blocks of the given sizes, one behind the other.
    std::vector<std::uint64_t> row(std::initializer_list<std::uint64_t> sizes)
    {
        std::vector<std::uint64_t> out;
        for (const auto n : sizes) out.push_back(allocate(n));
        return out;
    }

    slot_listener listener;
    std::optional<bench> dev;
    cuda_pool* pool = nullptr;
    pool_work work;
};

// Chunks.

TEST_F(cuda_pool_rules, any_request_is_served_in_chunks_of_32_mib)
{
    make();
    EXPECT_EQ(allocate(1), 0u);
    EXPECT_EQ(reserved(), 32 * MiB);
    EXPECT_EQ(work.new_chunks, 1u);
    allocate(16 * GiB);
    EXPECT_EQ(work.new_chunks, 512u);                  // what the free end lacks
    EXPECT_EQ(work.mapped, 512u);
    EXPECT_EQ(reserved(), 513 * chunk);
}

TEST_F(cuda_pool_rules, only_missing_chunks_are_taken)
{
    make();
    allocate(48 * MiB);
    EXPECT_EQ(reserved(), 64 * MiB);
    EXPECT_EQ(allocate(48 * MiB), 48 * MiB);
    EXPECT_EQ(work.new_chunks, 1u);
    EXPECT_EQ(reserved(), 96 * MiB);
}

TEST_F(cuda_pool_rules, forty_blocks_of_one_mib_need_a_second_chunk_at_the_33rd)
{
    make();
    for (int i = 1; i <= 40; ++i) {
        allocate(MiB);
        EXPECT_EQ(reserved(), i <= 32 ? 32 * MiB : 64 * MiB) << i;
    }
}

TEST_F(cuda_pool_rules, blocks_are_rounded_to_512_bytes_and_used_memory_is_not)
{
    make();
    EXPECT_EQ(allocate(1), 0u);
    EXPECT_EQ(allocate(513), 512u);
    EXPECT_EQ(allocate(0), 512u * 3);
    EXPECT_EQ(allocate(512), 512u * 4);
    EXPECT_EQ(pool->counts().used, 1u + 513 + 0 + 512);
    free(512);
    EXPECT_EQ(pool->counts().used, 513u);
    EXPECT_EQ(pool->counts().used_high, 1026u);
    EXPECT_EQ(pool->counts().pending, 1024u);
}

TEST(cuda_pool, a_chunk_is_had_while_two_mib_stay_free_beside_it)
{
    const auto chunks_of = [](std::uint64_t free_bytes) {
        bench dev(free_bytes);
        cuda_pool& pool = dev.add_pool();
        pool_work work;
        while (pool.allocate(32 * MiB, 0, work) != none) {}
        return pool.counts().reserved / chunk;
    };
    const std::uint64_t tenth = MiB / 10;
    EXPECT_EQ(chunks_of(33 * MiB + tenth), 0u);
    EXPECT_EQ(chunks_of(34 * MiB - 1), 0u);            // the constant itself; measured between 33.1 and 35.1
    EXPECT_EQ(chunks_of(34 * MiB), 1u);
    EXPECT_EQ(chunks_of(35 * MiB + tenth), 1u);
    EXPECT_EQ(chunks_of(65 * MiB + tenth), 1u);
    EXPECT_EQ(chunks_of(67 * MiB + tenth), 2u);
    EXPECT_EQ(chunks_of(129 * MiB + tenth), 3u);
}

TEST_F(cuda_pool_rules, there_is_no_smaller_chunk_to_fall_back_to)
{
    make({}, 30 * MiB);
    EXPECT_EQ(allocate(512), none);
    EXPECT_EQ(work.how, route::fail);
    EXPECT_EQ(dev->memory.free_bytes(), 30 * MiB);
}

// Splitting, merging, remapping.

TEST_F(cuda_pool_rules, a_split_uses_the_low_part_and_neighbours_merge_across_chunks)
{
    make();
    const auto b = row({64 * MiB, 64 * MiB, 32 * MiB});
    occupy(0);
    free(b[0]);
    free(b[1]);
    EXPECT_EQ(allocate(100 * MiB), 0u);                // one pending block of 128 MiB
    EXPECT_EQ(work.how, route::own);
    EXPECT_EQ(allocate(28 * MiB), 100 * MiB);
    EXPECT_EQ(pool->counts().pending, 0u);
    free(100 * MiB);
    free(0);
    EXPECT_EQ(allocate(128 * MiB), 0u);
    EXPECT_EQ(reserved(), 160 * MiB);
}

TEST_F(cuda_pool_rules, whole_free_chunks_are_remapped_before_the_device_is_asked)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB, 32 * MiB, 32 * MiB});
    free(b[1]);
    free(b[3]);
    listener.log.clear();
    EXPECT_EQ(allocate(64 * MiB), 160 * MiB);          // no synchronisation: the stream is idle, the poll sees it
    EXPECT_EQ(work.how, route::mapped);
    EXPECT_EQ(work.polled, 2u);
    EXPECT_EQ(work.remapped, 2u);
    EXPECT_EQ(work.mapped, 2u);
    EXPECT_EQ(work.new_chunks, 0u);
    EXPECT_EQ(reserved(), 160 * MiB);
    EXPECT_EQ(listener.log, " -3:1 -1:1 +5:2");        // highest address first, gone there before they appear here
}

TEST_F(cuda_pool_rules, a_run_of_chunks_moves_as_one_and_the_highest_goes_first)
{
    make();
    const auto b = row({96 * MiB, 32 * MiB, 32 * MiB, 32 * MiB});
    free(b[0]);
    free(b[2]);
    listener.log.clear();
    EXPECT_EQ(allocate(128 * MiB), 192 * MiB);
    EXPECT_EQ(work.remapped, 4u);
    EXPECT_EQ(listener.log, " -4:1 -0:3 +6:4");
    EXPECT_EQ(allocate(32 * MiB), 128 * MiB);          // an empty slot of the range takes a new chunk
    EXPECT_EQ(work.new_chunks, 1u);
}

TEST_F(cuda_pool_rules, chunks_that_a_live_block_touches_stay)
{
    make();
    const auto b = row({16 * MiB, 64 * MiB, 16 * MiB, 32 * MiB});
    free(b[1]);                                        // 16 to 80 MiB: one whole chunk, 1
    EXPECT_EQ(allocate(96 * MiB), 128 * MiB);
    EXPECT_EQ(work.remapped, 1u);
    EXPECT_EQ(work.new_chunks, 2u);
    EXPECT_FALSE(listener.slots.contains(32 * MiB));
}

TEST_F(cuda_pool_rules, pending_memory_is_neither_remapped_nor_joined_with_new_memory)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB});
    occupy(0);
    free(b[1]);                                        // pending at the open end
    EXPECT_EQ(allocate(64 * MiB), 64 * MiB);
    EXPECT_EQ(work.new_chunks, 2u);
    EXPECT_EQ(work.remapped, 0u);
}

TEST_F(cuda_pool_rules, a_completed_rest_at_the_end_is_joined_with_new_memory)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB});
    free(b[1]);
    EXPECT_EQ(allocate(64 * MiB), 32 * MiB);
    EXPECT_EQ(work.new_chunks, 1u);
}

TEST_F(cuda_pool_rules, ranges_merged_by_the_poll_need_no_mapping)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB});
    free(b[0], 1);
    free(b[1], 2);                                     // two streams: merged only once completed
    EXPECT_EQ(allocate(64 * MiB), 0u);
    EXPECT_EQ(work.how, route::merged);
    EXPECT_EQ(work.polled, 2u);
    EXPECT_EQ(work.mapped, 0u);
    EXPECT_EQ(reserved(), 96 * MiB);
}

// Placement.

TEST_F(cuda_pool_rules, best_fit_takes_the_smallest_and_among_equals_the_oldest_entry)
{
    make();
    const auto b = row({96 * MiB, MiB, 40 * MiB, MiB, 40 * MiB, MiB});
    occupy(0);
    free(b[0]);
    free(b[4]);
    free(b[2]);
    EXPECT_EQ(allocate(33 * MiB), b[4]);
    EXPECT_EQ(allocate(33 * MiB), b[2]);
    EXPECT_EQ(allocate(33 * MiB), b[0]);
}

TEST_F(cuda_pool_rules, there_is_no_limit_on_waste)
{
    make();
    const auto b = row({4 * GiB, MiB});
    occupy(0);
    free(b[0]);
    EXPECT_EQ(allocate(512), b[0]);
    EXPECT_EQ(work.how, route::own);
}

TEST_F(cuda_pool_rules, the_open_end_comes_last)
{
    make();
    const auto b = row({128 * MiB, MiB});              // 31 MiB are free and backed at the end
    free(b[0]);
    dev->sync(0);
    EXPECT_EQ(allocate(2 * MiB), 0u);
    EXPECT_EQ(work.how, route::completed);
    EXPECT_EQ(allocate(127 * MiB), 129 * MiB);         // does not fit into the rest: from the end, with 96 MiB of it
    EXPECT_EQ(work.remapped, 3u);
}

TEST_F(cuda_pool_rules, the_open_end_comes_after_ranges_that_miss_chunks)
{
    make();
    const auto b = row({96 * MiB, 4 * MiB});           // 28 MiB are free and backed at the end
    free(b[0]);
    dev->sync(0);
    pool->trim(0, work);
    EXPECT_EQ(allocate(2 * MiB), 0u);
    EXPECT_EQ(work.how, route::mapped);
    EXPECT_EQ(work.new_chunks, 1u);
}

TEST_F(cuda_pool_rules, the_open_end_is_no_completed_range)
{
    make();
    allocate(MiB);
    allocate(MiB);
    EXPECT_EQ(work.how, route::merged);                // 31 MiB free there, yet found only after the poll
}

TEST_F(cuda_pool_rules, a_range_that_misses_a_chunk_is_not_used_directly)
{
    make();
    const auto b = row({96 * MiB, 32 * MiB, 128 * MiB, 32 * MiB});
    free(b[0]);
    free(b[2]);
    dev->sync(0);
    pool->trim(reserved() - 4 * chunk, work);          // the four chunks of the upper range
    EXPECT_EQ(work.released, 4u);
    EXPECT_EQ(allocate(100 * MiB), b[2]);
    EXPECT_EQ(work.how, route::mapped);
    EXPECT_EQ(work.remapped, 3u);
    EXPECT_EQ(work.new_chunks, 1u);
}

TEST_F(cuda_pool_rules, after_the_poll_a_smaller_range_that_misses_a_chunk_beats_a_full_one)
{
    make();
    const auto b = row({96 * MiB, 32 * MiB, 64 * MiB, 64 * MiB, 32 * MiB});
    free(b[0]);
    dev->sync(0);
    pool->trim(reserved() - chunk, work);              // 96 MiB with a missing chunk
    ASSERT_FALSE(listener.slots.contains(64 * MiB));
    free(b[2], 1);
    free(b[3], 2);                                     // 128 MiB once the poll has merged them
    EXPECT_EQ(allocate(90 * MiB), b[0]);
    EXPECT_EQ(work.how, route::mapped);
    EXPECT_EQ(work.remapped, 1u);
    EXPECT_EQ(work.new_chunks, 0u);
}

// Reuse.

TEST_F(cuda_pool_rules, the_own_stream_reuses_at_once_and_first)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, MiB});
    free(b[0]);
    dev->sync(0);                                      // completed
    occupy(0);
    free(b[1]);                                        // pending
    EXPECT_EQ(allocate(32 * MiB), b[1]);
    EXPECT_EQ(work.how, route::own);
    EXPECT_EQ(allocate(32 * MiB), b[0]);
    EXPECT_EQ(work.how, route::completed);
}

TEST_F(cuda_pool_rules, another_stream_reuses_once_the_gpu_is_past_the_free)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB});
    dev->kernel(0, 20 * us);
    free(b[0]);
    dev->now = 20 * us - 1;
    EXPECT_EQ(allocate(32 * MiB, 1), 64 * MiB);
    EXPECT_EQ(work.polled, 1u);
    EXPECT_TRUE(listener.seen.empty());
    dev->now = 20 * us;
    EXPECT_EQ(allocate(32 * MiB, 1), b[0]);
    EXPECT_EQ(work.how, route::other_stream);
    ASSERT_EQ(listener.seen.size(), 1u);               // the driver saw it by itself
    EXPECT_EQ(listener.seen[0], (slot_listener::observation{0, dev->order.clock(0)}));
}

TEST_F(cuda_pool_rules, the_poll_tells_what_it_saw_of_each_stream)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB, 32 * MiB, 32 * MiB, MiB});
    free(b[0], 1);
    free(b[2], 1);
    const mark seen = dev->order.clock(1);
    occupy(1);
    free(b[4], 1);                                     // not yet
    occupy(2);
    free(b[1], 2);                                     // nor this
    allocate(64 * MiB);
    EXPECT_EQ(work.polled, 4u);
    ASSERT_EQ(listener.seen.size(), 1u);
    EXPECT_EQ(listener.seen[0], (slot_listener::observation{1, seen}));
}

TEST_F(cuda_pool_rules, without_opportunistic_reuse_frees_stay_pending_until_a_synchronisation)
{
    pool_settings settings;
    settings.opportunistic = false;
    make(settings);
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB});
    free(b[0]);
    free(b[2]);
    EXPECT_EQ(allocate(64 * MiB), 96 * MiB);           // the own stream, idle: no remap, no join
    EXPECT_EQ(work.new_chunks, 2u);
    EXPECT_EQ(work.polled, 0u);
    EXPECT_EQ(allocate(32 * MiB, 1), 160 * MiB);
    EXPECT_EQ(pool->counts().pending, 64 * MiB);
    dev->sync(0);
    EXPECT_EQ(pool->counts().pending, 0u);
    EXPECT_EQ(allocate(32 * MiB, 1), b[2]);
    EXPECT_EQ(work.how, route::completed);
}

TEST_F(cuda_pool_rules, a_free_before_an_event_that_the_stream_waits_for_is_reusable)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB});
    occupy(0);
    free(b[0]);
    dev->order.record(0, 0);
    free(b[2]);                                        // after the event
    EXPECT_NE(allocate(32 * MiB, 1), b[0]);            // not waited yet
    dev->order.wait(0, 1);
    EXPECT_EQ(allocate(32 * MiB, 1), b[0]);
    EXPECT_EQ(work.how, route::other_stream);
    EXPECT_EQ(allocate(32 * MiB, 1), 128 * MiB);
    EXPECT_TRUE(listener.seen.empty());                // by order: nothing was observed
}

TEST_F(cuda_pool_rules, event_order_reaches_through_a_chain_of_streams)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB});
    occupy(0);
    free(b[0]);
    dev->order.record(0, 0);
    dev->order.wait(0, 1);
    dev->order.record(1, 1);
    dev->order.wait(1, 2);
    EXPECT_EQ(allocate(32 * MiB, 2), b[0]);
}

TEST_F(cuda_pool_rules, merged_neighbours_count_with_the_later_free)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB});
    occupy(0);
    free(b[0]);
    dev->order.record(0, 0);
    free(b[1]);
    dev->order.wait(0, 1);
    EXPECT_EQ(allocate(32 * MiB, 1), 96 * MiB);
}

TEST_F(cuda_pool_rules, without_following_events_order_is_not_enough)
{
    pool_settings settings;
    settings.follow_events = false;
    make(settings);
    const auto b = row({32 * MiB, 32 * MiB});
    occupy(0);
    free(b[0]);
    dev->order.record(0, 0);
    dev->order.wait(0, 1);
    EXPECT_EQ(allocate(32 * MiB, 1), 64 * MiB);
}

TEST_F(cuda_pool_rules, event_order_comes_before_opportunistic_reuse)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, MiB});
    free(b[0], 0);                                     // done, on the stream that is searched first
    occupy(1);
    free(b[1], 1);
    dev->order.record(0, 1);
    dev->order.wait(0, 2);
    EXPECT_EQ(allocate(32 * MiB, 2), b[1]);
    EXPECT_EQ(allocate(32 * MiB, 2), b[0]);
}

TEST_F(cuda_pool_rules, the_stream_that_used_any_pool_first_is_searched_first)
{
    make();
    cuda_pool& other = dev->add_pool();
    other.allocate(MiB, 3, work);                      // stream 3 is the first of the process
    const auto b = row({32 * MiB, 32 * MiB, MiB});     // then 0
    free(b[0], 1);
    free(b[1], 3);
    EXPECT_EQ(allocate(32 * MiB, 2), b[1]);
    EXPECT_EQ(allocate(32 * MiB, 2), b[0]);
}

// Completion.

TEST_F(cuda_pool_rules, frees_since_the_last_launch_share_one_completion_mark)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB});
    dev->kernel(1, 50 * us);
    dev->order.record(0, 1);
    free(b[0]);                                        // stream 0 is idle here
    dev->order.wait(0, 0);
    free(b[2]);                                        // and here it waits for stream 1
    EXPECT_EQ(allocate(32 * MiB, 2), 96 * MiB);
    dev->now = 50 * us;
    EXPECT_EQ(allocate(32 * MiB, 2), b[0]);
}

TEST_F(cuda_pool_rules, a_launch_closes_the_group_of_frees)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB});
    dev->kernel(1, 50 * us);
    dev->order.record(0, 1);
    free(b[0]);
    dev->kernel(0, 0);
    dev->order.wait(0, 0);
    free(b[2]);
    EXPECT_EQ(allocate(32 * MiB, 2), b[0]);
    EXPECT_EQ(allocate(32 * MiB, 2), 96 * MiB);
}

TEST_F(cuda_pool_rules, the_latest_free_is_completed_first_and_a_rest_keeps_its_place)
{
    make();
    const auto b = row({64 * MiB, MiB, 16 * MiB, MiB});
    occupy(0);
    free(b[0]);
    free(b[2]);
    EXPECT_EQ(allocate(48 * MiB), b[0]);               // leaves 16 MiB, freed before the other 16 MiB
    dev->sync(0);
    EXPECT_EQ(allocate(16 * MiB, 1), b[2]);
    EXPECT_EQ(allocate(16 * MiB, 1), 48 * MiB);
}

// Threshold and trim.

TEST_F(cuda_pool_rules, only_a_synchronisation_that_completes_a_free_releases)
{
    pool_settings settings;
    settings.threshold = 0;
    make(settings);
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB});
    occupy(0);
    free(b[0]);
    free(b[1], 1);
    EXPECT_EQ(dev->sync(2), 0u);                       // another stream's
    EXPECT_EQ(reserved(), 96 * MiB);
    EXPECT_EQ(dev->sync(1), 1u);
    EXPECT_EQ(reserved(), 64 * MiB);
    pool->set_threshold(UINT64_MAX);
    EXPECT_EQ(dev->sync(0), 0u);
    pool->set_threshold(0);
    EXPECT_EQ(dev->sync(0), 0u);                       // nothing left to complete: the chunk stays
    EXPECT_EQ(dev->sync_device(), 0u);
    EXPECT_EQ(reserved(), 64 * MiB);
}

TEST_F(cuda_pool_rules, a_synchronisation_covers_what_the_stream_had_waited_for)
{
    make();
    const auto b = row({32 * MiB, 32 * MiB, MiB});
    free(b[0], 1);
    dev->order.record(0, 1);
    free(b[1], 1);
    dev->order.wait(0, 2);
    dev->sync(2);
    EXPECT_EQ(pool->counts().pending, 64 * MiB);       // merged: the later free counts
    dev->sync_event(0);
    EXPECT_EQ(pool->counts().pending, 64 * MiB);
    allocate(64 * MiB, 1);
    free(b[0], 1);
    dev->order.record(0, 1);
    dev->sync_event(0);
    EXPECT_EQ(pool->counts().pending, 0u);
    EXPECT_TRUE(listener.seen.empty());                // who synchronised knows
}

TEST_F(cuda_pool_rules, release_goes_by_falling_address_down_to_the_threshold)
{
    pool_settings settings;
    settings.threshold = 3 * chunk - 1;
    make(settings);
    const auto b = row({64 * MiB, 16 * MiB, 48 * MiB, 32 * MiB});
    free(b[0]);
    free(b[2]);
    listener.log.clear();
    EXPECT_EQ(dev->sync(0), 3u);                       // 160 MiB down to 64: the first step below the threshold
    EXPECT_EQ(reserved(), 64 * MiB);
    EXPECT_EQ(listener.log, " -3:1 -0:2");
    EXPECT_EQ(dev->memory.free_bytes(), 64 * GiB - 64 * MiB);
}

TEST_F(cuda_pool_rules, trim_never_goes_below_what_is_to_be_kept)
{
    make();
    const auto b = row({96 * MiB, 32 * MiB});
    free(b[0]);
    dev->sync(0);
    pool->trim(128 * MiB, work);
    EXPECT_EQ(work.released, 0u);
    pool->trim(97 * MiB, work);
    EXPECT_EQ(work.released, 0u);
    pool->trim(96 * MiB, work);
    EXPECT_EQ(work.released, 1u);
    EXPECT_FALSE(listener.slots.contains(64 * MiB));
    pool->trim(0, work);
    EXPECT_EQ(work.released, 2u);
    EXPECT_EQ(reserved(), 32 * MiB);
}

TEST_F(cuda_pool_rules, trim_does_not_look_whether_pending_frees_are_done)
{
    make();
    const auto b = row({32 * MiB});
    free(b[0]);
    dev->now = 1'000'000 * us;
    pool->trim(0, work);
    EXPECT_EQ(work.released, 0u);
    dev->sync(0);
    pool->trim(0, work);
    EXPECT_EQ(work.released, 1u);
    EXPECT_EQ(reserved(), 0u);
}

// Out of memory.

TEST_F(cuda_pool_rules, a_failed_call_keeps_what_it_gathered)
{
    make({}, 4 * chunk + 2 * MiB);
    allocate(32 * MiB);
    EXPECT_EQ(allocate(160 * MiB), none);
    EXPECT_EQ(work.how, route::fail);
    EXPECT_EQ(work.new_chunks, 3u);
    EXPECT_EQ(work.mapped, 0u);
    EXPECT_EQ(reserved(), 128 * MiB);
    EXPECT_EQ(pool->counts().reserved_high, 128 * MiB);
    EXPECT_EQ(dev->memory.free_bytes(), 2 * MiB);      // empty for everybody
    listener.log.clear();
    EXPECT_EQ(allocate(64 * MiB), 32 * MiB);           // they lie where they were meant to, to be mapped
    EXPECT_EQ(work.new_chunks, 0u);
    EXPECT_EQ(work.remapped, 0u);
    EXPECT_EQ(work.mapped, 2u);
    EXPECT_EQ(listener.log, "");
    pool->trim(0, work);                               // the third counts as free, beyond the end
    EXPECT_EQ(work.released, 1u);
}

TEST_F(cuda_pool_rules, bare_chunks_move_at_the_cost_of_a_map_alone)
{
    make({}, 4 * chunk + 2 * MiB);
    const auto b = row({32 * MiB, 32 * MiB, 32 * MiB});
    free(b[0]);
    EXPECT_EQ(allocate(96 * MiB), none);               // chunk 0 was unmapped for it, chunk 3 was new
    EXPECT_EQ(work.remapped, 1u);
    EXPECT_EQ(work.new_chunks, 1u);
    listener.log.clear();
    EXPECT_EQ(allocate(MiB), 0u);
    EXPECT_EQ(listener.log, " -4:1 +0:1");
    EXPECT_EQ(work.remapped, 0u);
    EXPECT_EQ(work.mapped, 1u);
}

TEST_F(cuda_pool_rules, a_failed_growth_releases_down_to_the_threshold)
{
    pool_settings settings;
    settings.threshold = 64 * MiB;
    make(settings, 4 * chunk + 2 * MiB);
    allocate(32 * MiB);
    EXPECT_EQ(allocate(160 * MiB), none);
    EXPECT_EQ(work.released, 2u);
    EXPECT_EQ(reserved(), 64 * MiB);
    EXPECT_EQ(pool->counts().reserved_high, 128 * MiB);
}

TEST_F(cuda_pool_rules, other_pools_give_back_every_completed_chunk_and_keep_what_is_pending)
{
    make({}, 8 * chunk + 2 * MiB);
    cuda_pool& other = dev->add_pool();
    cuda_pool& third = dev->add_pool();
    const auto a = other.allocate(96 * MiB, 1, work);
    const auto b = third.allocate(64 * MiB, 2, work);
    other.free(a, 1);
    dev->sync(1);
    third.free(b, 2);                                  // done, but nobody polls it
    EXPECT_EQ(allocate(128 * MiB), 0u);                // three chunks are free; one more is wanted
    EXPECT_EQ(work.released, 3u);
    EXPECT_EQ(work.new_chunks, 4u);
    EXPECT_EQ(other.counts().reserved, 0u);
    EXPECT_EQ(third.counts().reserved, 64 * MiB);
    EXPECT_EQ(allocate(96 * MiB), none);               // beside 64 MiB idle in the third pool
    EXPECT_EQ(third.counts().reserved, 64 * MiB);
}

TEST_F(cuda_pool_rules, an_internal_dependency_is_the_last_resort)
{
    make({}, 2 * chunk + 2 * MiB);
    const auto b = row({64 * MiB});
    dev->kernel(0, 70 * us);
    free(b[0]);
    const mark freed = dev->order.clock(0);
    listener.log.clear();
    EXPECT_EQ(allocate(32 * MiB, 1), 0u);
    EXPECT_EQ(work.how, route::internal);
    EXPECT_EQ(dev->order.end_ps(1), 70 * us);          // the stream waits, the host does not
    EXPECT_EQ(dev->now, 0);
    EXPECT_EQ(listener.log, " 1<0@" + std::to_string(freed));
    EXPECT_EQ(dev->order.know(1)[0], 0u);              // event reuse does not learn of it
}

TEST_F(cuda_pool_rules, an_internal_dependency_waits_for_the_free_alone)
{
    make({}, 2 * chunk + 2 * MiB);
    const auto b = row({64 * MiB});
    dev->kernel(0, 70 * us);
    free(b[0]);
    dev->kernel(0, 500 * us);                          // behind the free
    EXPECT_EQ(allocate(32 * MiB, 1), 0u);
    EXPECT_EQ(dev->order.end_ps(1), 70 * us);
}

TEST_F(cuda_pool_rules, memory_is_released_to_the_threshold_before_the_dependency)
{
    pool_settings settings;
    settings.threshold = 0;
    make(settings, 3 * chunk + 2 * MiB);
    const auto b = row({64 * MiB});
    occupy(0);
    free(b[0]);
    EXPECT_EQ(allocate(64 * MiB, 1), 0u);
    EXPECT_EQ(work.how, route::internal);
    EXPECT_EQ(work.new_chunks, 1u);                    // gathered in vain ...
    EXPECT_EQ(work.released, 1u);                      // ... and given back; the block's own chunks are not free
    EXPECT_EQ(reserved(), 64 * MiB);
    EXPECT_EQ(pool->counts().reserved_high, 96 * MiB);
}

TEST_F(cuda_pool_rules, without_internal_dependencies_the_call_fails)
{
    pool_settings settings;
    settings.internal_dependencies = false;
    make(settings, 2 * chunk + 2 * MiB);
    const auto b = row({64 * MiB});
    occupy(0);
    free(b[0]);
    EXPECT_EQ(allocate(32 * MiB, 1), none);
    EXPECT_EQ(allocate(32 * MiB, 0), 0u);
}

TEST_F(cuda_pool_rules, release_completed_gives_all_chunks_that_are_free_and_completed)
{
    make();
    const auto b = row({64 * MiB, 16 * MiB, 64 * MiB, 32 * MiB});
    free(b[0]);
    EXPECT_EQ(pool->release_completed(), 0u);          // pending
    dev->sync(0);
    occupy(0);
    free(b[2]);
    EXPECT_EQ(pool->release_completed(), 2u);
    EXPECT_EQ(pool->release_completed(), 0u);
    EXPECT_EQ(reserved(), 128 * MiB);                  // 16 + 64 + 32 MiB and the free end of 16
}

// The address range, and what is not a rule but must hold.

TEST_F(cuda_pool_rules, the_address_range_is_twice_the_card_and_is_respected)
{
    make({}, 64 * GiB, 65 * MiB);
    EXPECT_EQ(pool->address_range(), 160 * MiB);
    EXPECT_EQ(allocate(160 * MiB + 1), none);
    EXPECT_EQ(allocate(UINT64_MAX), none);
    EXPECT_EQ(reserved(), 0u);                         // nothing was gathered for it
    EXPECT_EQ(allocate(160 * MiB), 0u);
    EXPECT_EQ(allocate(1), none);
}

TEST_F(cuda_pool_rules, only_live_blocks_can_be_freed)
{
    make();
    const auto b = row({MiB, MiB});
    EXPECT_FALSE(pool->free(512, 0));
    EXPECT_TRUE(pool->free(b[0], 0));
    const mark before = dev->order.clock(0);
    EXPECT_FALSE(pool->free(b[0], 0));
    EXPECT_EQ(dev->order.clock(0), before);
}

TEST(cuda_pool, destruction_gives_all_memory_back)
{
    bench dev(8 * GiB);
    slot_listener listener;
    dev.add_pool();
    cuda_pool& pool = dev.add_pool();
    pool.set_listener(&listener);
    pool_work work;
    const auto live = pool.allocate(100 * MiB, 0, work);
    const auto pending = pool.allocate(100 * MiB, 0, work);
    const auto completed = pool.allocate(100 * MiB, 1, work);
    pool.free(completed, 1);
    dev.sync(1);
    pool.free(pending, 0);
    ASSERT_NE(live, none);
    ASSERT_LT(dev.memory.free_bytes(), 8 * GiB);
    dev.owned.pop_back();
    EXPECT_EQ(dev.memory.free_bytes(), 8 * GiB);
    EXPECT_TRUE(listener.slots.empty());
    ASSERT_EQ(dev.pools.size(), 1u);
    EXPECT_EQ(dev.pools[0], dev.owned[0].get());
}

// ---------------------------------------------------------------------------------------------------- the growing pair

struct pair_result {
    int failed_step = 0;                               ///< 0: none
    int rescues = 0;
    std::uint64_t reserved_high = 0, used_high = 0;    ///< MiB
    bool operator==(const pair_result&) const = default;
};

void PrintTo(const pair_result& r, std::ostream* out)
{
    *out << "step " << r.failed_step << ", " << r.rescues << " rescues, reserved " << r.reserved_high << ", used "
         << r.used_high;
}

enum class rescue { nothing, sync, sync_and_trim };

struct pair_run {
    std::uint64_t step = 32 * MiB, free_bytes = 4294049792;
    int steps = 70;
    std::uint64_t threshold = UINT64_MAX;
    bool busy = true, sync_each_step = false;
    rescue retry = rescue::nothing;

    /// K and V of k steps on one stream, a kernel that uses both, V freed, then K; the stream is never seen idle if `busy`.
    pair_result play() const
    {
        bench dev(free_bytes);
        pool_settings settings;
        settings.threshold = threshold;
        cuda_pool& pool = dev.add_pool(settings);
        pair_result out;
        pool_work work;
        for (int k = 1; k <= steps && out.failed_step == 0; ++k) {
            std::uint64_t both[2];
            for (auto& at : both) {
                const std::uint64_t bytes = static_cast<std::uint64_t>(k) * step;
                at = pool.allocate(bytes, 0, work);
                if (at != none || retry == rescue::nothing) continue;
                dev.sync(0);
                if (retry == rescue::sync_and_trim) pool.trim(0, work);
                at = pool.allocate(bytes, 0, work);
                out.rescues += at != none;
            }
            if (both[0] == none || both[1] == none) {
                out.failed_step = k;
                break;
            }
            if (busy) dev.kernel(0, 1'000'000 * us);
            pool.free(both[1], 0);
            pool.free(both[0], 0);
            if (sync_each_step) dev.sync(0);
        }
        out.reserved_high = pool.counts().reserved_high / MiB;
        out.used_high = pool.counts().used_high / MiB;
        return out;
    }
};

TEST(cuda_pool_growing_pair, fails_at_step_47_on_a_busy_stream)
{
    EXPECT_EQ(pair_run{}.play(), (pair_result{47, 0, 4064, 2944}));
    EXPECT_EQ(pair_run{.threshold = 0}.play(), (pair_result{47, 0, 4064, 2944}));
    EXPECT_EQ((pair_run{.step = 48 * MiB, .free_bytes = 6 * GiB}.play().failed_step), 47);
    EXPECT_EQ((pair_run{.step = 3 * MiB, .free_bytes = 2 * GiB, .steps = 400}.play().failed_step), 237);
}

TEST(cuda_pool_growing_pair, is_rescued_17_times_by_a_synchronisation_alone)
{
    EXPECT_EQ(pair_run{.retry = rescue::sync}.play(), (pair_result{64, 17, 4064, 4032}));
    EXPECT_EQ(pair_run{.retry = rescue::sync_and_trim}.play(), (pair_result{64, 17, 4064, 4032}));
}

TEST(cuda_pool_growing_pair, reserves_more_while_its_frees_are_pending)
{
    EXPECT_EQ((pair_run{.step = MiB, .free_bytes = 64 * GiB, .steps = 400}.play()), (pair_result{0, 0, 1088, 800}));
    EXPECT_EQ((pair_run{.step = MiB, .free_bytes = 64 * GiB, .steps = 400, .busy = false}.play()),
              (pair_result{0, 0, 800, 800}));
}

TEST(cuda_pool_growing_pair, runs_to_the_end_when_the_stream_is_idle_or_synchronised)
{
    EXPECT_EQ(pair_run{.sync_each_step = true}.play(), (pair_result{64, 0, 4064, 4032}));
    EXPECT_EQ(pair_run{.busy = false}.play(), (pair_result{64, 0, 4064, 4032}));
    EXPECT_EQ((pair_run{.step = 48 * MiB, .free_bytes = 6 * GiB, .busy = false}.play().failed_step), 64);
    EXPECT_EQ((pair_run{.step = 3 * MiB, .free_bytes = 2 * GiB, .steps = 400, .busy = false}.play().failed_step), 337);
    EXPECT_EQ((pair_run{.step = MiB, .free_bytes = 2146566144, .steps = 599, .busy = false}.play()),
              (pair_result{0, 0, 1216, 1198}));
}

}  // namespace
}  // namespace vrambench::sim
