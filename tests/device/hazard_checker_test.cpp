// Seeded faults, each with its correct twin; a brute-force checker that agrees on random programs; bounded memory.

#include "device/sim/hazard_checker.hpp"
#include "device/sim/hazard_ranges.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace vrambench::sim {
namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr device_ptr base = 0x10000000;
constexpr std::uint64_t none = UINT64_MAX;

/// Drives a checker as the runner and the device would: one trace event a call, marks counted per stream.
class rig {
public:
    explicit rig(std::uint32_t streams = 4, std::size_t sift_above = hazard_checker::least_lessons)
        : checker(streams, sift_above), clock_(streams, 0)
    {
        checker.memory_obtained(base, 256 * mib);
    }

    std::uint64_t event() const { return next_ - 1; }        ///< index of the last trace event
    std::uint64_t alloc(std::uint32_t block, device_ptr at, std::uint64_t bytes, std::uint32_t stream = 0)
    {
        return alloc_as(block, at, bytes, bytes, 256, stream);
    }
    std::uint64_t alloc_as(std::uint32_t block, device_ptr at, std::uint64_t bytes, std::uint64_t granted,
                           std::uint32_t alignment, std::uint32_t stream = 0)
    {
        step();
        observer().allocated(block, at, bytes, granted, alignment, stream);
        return event();
    }
    std::uint64_t free(std::uint32_t block, device_ptr at, std::uint64_t granted, std::uint32_t stream = 0)
    {
        step();
        observer().freed(block, at, granted, stream);
        return event();
    }
    std::uint64_t kernel(std::uint32_t stream, const std::vector<kernel_access>& accesses)
    {
        step();
        checker.launched(stream, ++clock_[stream], accesses);
        return event();
    }
    std::uint64_t write(std::uint32_t stream, std::uint32_t block, device_ptr at, std::uint64_t bytes)
    {
        return kernel(stream, {{at, bytes, block, true}});
    }
    std::uint64_t read(std::uint32_t stream, std::uint32_t block, device_ptr at, std::uint64_t bytes)
    {
        return kernel(stream, {{at, bytes, block, false}});
    }
    /// `captured`: the event that ended the capture; by default the replay counts as captured just now.
    std::uint64_t replay(std::uint32_t stream, std::uint32_t block, device_ptr at, std::uint64_t bytes, bool writes,
                         std::optional<std::uint64_t> captured = {})
    {
        step();
        const kernel_access a{at, bytes, block, writes, captured.value_or(event() - 1)};
        checker.replayed(stream, ++clock_[stream], {&a, 1});
        return event();
    }
    void record(event_id e, std::uint32_t stream)
    {
        step();
        checker.recorded(e, stream, ++clock_[stream]);
    }
    void wait(event_id e, std::uint32_t stream)
    {
        step();
        ++clock_[stream];
        checker.waited(e, stream);
    }
    /// `to` is behind everything of `from`.
    void edge(std::uint32_t from, std::uint32_t to, event_id e = 9)
    {
        record(e, from);
        wait(e, to);
    }
    void sync(std::uint32_t stream)
    {
        step();
        checker.synced_stream(stream, clock_[stream]);
    }
    void sync_device()
    {
        step();
        checker.synced_device();
    }
    std::uint64_t give_back(device_ptr at, std::uint64_t bytes, memory_loss how)
    {
        step();
        checker.memory_returned(at, bytes, how);
        return event();
    }
    void depends(std::uint32_t stream, std::uint32_t on, mark m)
    {
        ++clock_[stream];
        checker.depends(stream, on, m);
    }
    mark clock(std::uint32_t stream) const { return clock_[stream]; }
    block_observer& observer() { return checker; }

    hazard_checker checker;

private:
    void step() { observer().at_event(next_++); }

    std::uint64_t next_ = 100;
    std::vector<mark> clock_;
};

/// What a seeded fault has to be called.
struct expected {
    std::string kind;
    std::uint64_t event = 0;
    std::uint64_t earlier = none;
    std::vector<std::string> said;           ///< parts of the message: both streams, the blocks, the driver call
};

/// A fault and its twin: `correct` puts in the edge (or does the right thing) that the fault lacks.
struct scenario {
    std::string name;
    std::function<expected(rig&, bool correct)> run;
};

std::ostream& operator<<(std::ostream& out, const scenario& s) { return out << s.name; }

class seeded_fault : public testing::TestWithParam<scenario> {};

TEST_P(seeded_fault, is_caught_and_named)
{
    rig r;
    const expected e = GetParam().run(r, false);
    ASSERT_EQ(r.observer().hazard_count(), 1U) << r.observer().hazards().front().message;
    const hazard& h = r.observer().hazards().front();
    EXPECT_EQ(h.kind, e.kind);
    EXPECT_EQ(h.event, e.event) << h.message;
    EXPECT_EQ(h.earlier_event, e.earlier) << h.message;
    EXPECT_NE(h.message.find("event " + std::to_string(e.event)), std::string::npos) << h.message;
    if (e.earlier != none) {
        EXPECT_NE(h.message.find("event " + std::to_string(e.earlier)), std::string::npos) << h.message;
    }
    for (const auto& part : e.said) EXPECT_NE(h.message.find(part), std::string::npos) << part << " in: " << h.message;
}

TEST_P(seeded_fault, correct_twin_is_silent)
{
    rig r;
    GetParam().run(r, true);
    for (const hazard& h : r.observer().hazards()) ADD_FAILURE() << h.message;
    EXPECT_EQ(r.observer().hazard_count(), 0U);
}

const std::vector<std::string> edge_0_to_1 = {"stream 0", "stream 1", "no event wait from stream 0 to stream 1",
                                              "no synchronisation"};

/// Block 3 used and freed on stream 0, the same memory as block 7 used on stream 1; `between` orders them or not.
expected reuse(rig& r, const std::function<void(rig&)>& between)
{
    r.alloc(3, base, mib);
    const auto before = r.write(0, 3, base, mib);
    r.free(3, base, mib);
    between(r);
    r.alloc(7, base, mib, 1);
    const auto at = r.write(1, 7, base, mib);
    auto said = edge_0_to_1;
    said.insert(said.end(), {"block 7 at 0x10000000+1048576", "block 3", "writes"});
    return {"reuse-before-ordered", at, before, said};
}

const std::vector<scenario> reuse_scenarios = {
    {"reuse_event", [](rig& r, bool ok) { return reuse(r, [&](rig& q) { if (ok) q.edge(0, 1); }); }},
    {"reuse_event_recorded_too_early",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         if (!ok) r.record(5, 0);
         const auto before = r.read(0, 3, base, mib);
         if (ok) r.record(5, 0);
         r.free(3, base, mib);
         r.wait(5, 1);
         r.alloc(7, base, mib, 1);
         return expected{"reuse-before-ordered", r.write(1, 7, base, mib), before, edge_0_to_1};
     }},
    {"reuse_wait_on_the_wrong_stream", [](rig& r, bool ok) { return reuse(r, [&](rig& q) { q.edge(0, ok ? 1 : 2); }); }},
    {"reuse_event_never_recorded",
     [](rig& r, bool ok) {
         return reuse(r, [&](rig& q) {
             if (ok) q.record(5, 0);
             q.wait(5, 1);
         });
     }},
    {"reuse_event_recorded_again_elsewhere",
     [](rig& r, bool ok) {
         return reuse(r, [&](rig& q) {
             q.record(5, 0);
             if (ok) q.wait(5, 1);
             q.record(5, 2);
             q.wait(5, 1);
         });
     }},
    {"reuse_transitive_chain",
     [](rig& r, bool ok) {
         return reuse(r, [&](rig& q) {
             if (ok) q.edge(0, 2, 5);
             q.edge(2, 1, 6);
             if (!ok) q.edge(0, 2, 5);
         });
     }},
    {"reuse_sync_of_the_right_stream", [](rig& r, bool ok) { return reuse(r, [&](rig& q) { q.sync(ok ? 0 : 2); }); }},
    {"reuse_sync_covers_what_the_stream_waited_for",
     [](rig& r, bool ok) {
         return reuse(r, [&](rig& q) {
             if (ok) q.edge(0, 2);
             q.sync(2);
         });
     }},
    {"reuse_sync_device",
     [](rig& r, bool ok) {
         return reuse(r, [&](rig& q) { if (ok) q.sync_device(); });
     }},
    {"reuse_observed",
     [](rig& r, bool ok) {
         return reuse(r, [&](rig& q) { q.checker.observed(0, q.clock(0) - (ok ? 0 : 1)); });
     }},
    {"reuse_internal_dependency",
     [](rig& r, bool ok) {
         return reuse(r, [&](rig& q) { q.depends(1, 0, q.clock(0) - (ok ? 0 : 1)); });
     }},
    {"reuse_of_a_part",
     [](rig& r, bool ok) {
         r.alloc(3, base, 4 * mib);
         const auto before = r.write(0, 3, base, 4 * mib);
         r.free(3, base, 4 * mib);
         if (ok) r.edge(0, 1);
         r.alloc(4, base, mib, 0);                           // the front goes to the same stream, rightly
         r.write(0, 4, base, mib);
         r.alloc(7, base + 3 * mib, mib, 1);
         return expected{"reuse-before-ordered", r.write(1, 7, base + 3 * mib, mib), before, edge_0_to_1};
     }},
    {"reuse_under_an_owner_that_never_used_it",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         const auto before = r.write(0, 3, base, mib);
         r.free(3, base, mib);
         r.alloc(4, base, 2 * mib, 2);
         r.free(4, base, 2 * mib, 2);
         if (ok) r.edge(0, 1);
         r.alloc(7, base, mib, 1);
         return expected{"reuse-before-ordered", r.read(1, 7, base, mib), before, edge_0_to_1};
     }},
    {"reuse_of_memory_read_by_two_streams",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         r.write(0, 3, base, mib);
         r.edge(0, 2);
         const auto before = r.read(0, 3, base, mib);
         r.read(2, 3, base, mib);
         r.edge(0, 2);                                       // the free is behind both
         r.free(3, base, mib, 2);
         r.record(4, 2);
         if (ok) r.wait(4, 1);
         else {
             r.checker.depends(1, 2, 2);                     // knows stream 2 up to its read, but not stream 0's
         }
         r.alloc(7, base, mib, 1);
         return expected{"reuse-before-ordered", r.write(1, 7, base, mib), before, edge_0_to_1};
     }},
    {"reuse_second_access_reaches_further",
     [](rig& r, bool ok) {
         r.alloc(3, base + mib, mib);
         const auto before = r.write(0, 3, base + mib, mib);
         r.free(3, base + mib, mib);
         if (ok) r.edge(0, 1);
         r.alloc(7, base, 2 * mib, 1);
         r.write(1, 7, base, mib);                           // in front of it: harmless
         return expected{"reuse-before-ordered", r.write(1, 7, base, 2 * mib), before, edge_0_to_1};
     }},
};

/// Former owners under parts of a block: block 3 on stream 0 was at the second MiB, block 4 is over it.
const std::vector<scenario> part_scenarios = {
    {"part_reader_that_skips_the_reader_who_knew",
     [](rig& r, bool ok) {
         r.alloc(3, base + mib, mib);
         const auto before = r.write(0, 3, base + mib, mib);
         r.free(3, base + mib, mib);
         r.alloc(4, base, 2 * mib, 2);
         r.read(2, 4, base, mib);
         r.edge(2, 1, 5);                                    // stream 1 is behind the first read only
         r.edge(0, 2, 6);
         r.read(2, 4, base, 2 * mib);
         if (ok) r.edge(2, 1, 5);
         return expected{"reuse-before-ordered", r.read(1, 4, base, 2 * mib), before, edge_0_to_1};
     }},
    {"part_readers_side_by_side",
     [](rig& r, bool ok) {
         r.alloc(3, base + mib, mib);
         const auto before = r.write(0, 3, base + mib, mib);
         r.free(3, base + mib, mib);
         r.edge(0, 2, 5);
         r.alloc(4, base, 2 * mib, 2);
         r.read(2, 4, base + mib, mib);                      // behind stream 0
         r.read(3, 4, base, mib);                            // behind nobody, and needs not be
         r.edge(ok ? 2 : 3, 1, 6);
         return expected{"reuse-before-ordered", r.read(1, 4, base + mib, mib), before, edge_0_to_1};
     }},
    {"part_between_the_used_ends",
     [](rig& r, bool ok) {
         r.alloc(3, base + mib, mib);
         const auto before = r.write(0, 3, base + mib, mib);
         r.free(3, base + mib, mib);
         r.alloc(4, base, 3 * mib, 2);
         r.write(2, 4, base, mib);                           // either side of what stream 0 uses
         r.write(2, 4, base + 2 * mib, mib);
         r.free(4, base, 3 * mib, 2);
         r.edge(2, 1, 5);
         if (ok) r.edge(0, 1, 6);
         r.alloc(5, base + mib, mib, 1);
         return expected{"reuse-before-ordered", r.write(1, 5, base + mib, mib), before, edge_0_to_1};
     }},
    {"part_between_the_used_ends_known_to_the_host",
     [](rig& r, bool ok) {
         r.alloc(3, base + mib, mib);
         const auto before = r.write(0, 3, base + mib, mib);
         r.free(3, base + mib, mib);
         r.alloc(4, base, 3 * mib, 2);
         r.write(2, 4, base, mib);
         r.write(2, 4, base + 2 * mib, mib);
         r.sync(2);
         r.free(4, base, 3 * mib, 2);                        // nothing of block 4 is left to wait for
         if (ok) r.edge(0, 1, 6);
         r.alloc(5, base + mib, mib, 1);
         return expected{"reuse-before-ordered", r.write(1, 5, base + mib, mib), before, edge_0_to_1};
     }},
    {"part_with_two_owners_of_one_stream",
     [](rig& r, bool ok) {
         r.alloc(3, base + mib, mib);
         r.write(0, 3, base + mib, mib);
         r.free(3, base + mib, mib);
         r.edge(0, 1, 5);                                    // behind the first owner only
         r.alloc(4, base, 3 * mib);
         r.write(0, 4, base, mib);
         const auto before = r.write(0, 4, base + 2 * mib, mib);
         r.free(4, base, 3 * mib);
         if (ok) r.edge(0, 1, 6);
         r.alloc(5, base + mib, mib, 1);                     // counts as used by block 4: it lies between
         return expected{"reuse-before-ordered", r.write(1, 5, base + mib, mib), before, edge_0_to_1};
     }},
    {"part_with_two_replays_of_one_stream",
     [](rig& r, bool ok) {
         r.replay(0, 3, base, mib, false);
         r.edge(0, 1, 5);
         const auto before = r.replay(0, 3, base, mib, false);
         if (ok) r.edge(0, 1, 6);
         r.alloc(5, base, mib, 1);
         return expected{"reuse-before-ordered", r.write(1, 5, base, mib), before, edge_0_to_1};
     }},
};

/// Block 3 on two streams; the second kernel is behind the first or not.
expected share(rig& r, bool first_writes, bool second_writes, bool ordered)
{
    r.alloc(3, base, mib);
    const auto before = r.kernel(0, {{base, mib, 3, first_writes}});
    if (ordered) r.edge(0, 1);
    const auto at = r.kernel(1, {{base, mib, 3, second_writes}});
    auto said = edge_0_to_1;
    said.push_back(std::string(second_writes ? "writes" : "reads") + " block 3 at 0x10000000+1048576");
    return {"unordered-use", at, before, said};
}

const std::vector<scenario> use_scenarios = {
    {"unordered_read_after_write", [](rig& r, bool ok) { return share(r, true, false, ok); }},
    {"unordered_write_after_read", [](rig& r, bool ok) { return share(r, false, true, ok); }},
    {"unordered_write_after_write", [](rig& r, bool ok) { return share(r, true, true, ok); }},
    {"unordered_write_after_two_reads",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         const auto before = r.read(0, 3, base, mib);
         r.read(2, 3, base, mib);                            // readers need no order among themselves
         r.edge(2, 1, 5);
         if (ok) r.edge(0, 1, 6);
         return expected{"unordered-use", r.write(1, 3, base, mib), before, edge_0_to_1};
     }},
    {"unordered_after_an_edge_that_was_dropped",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         r.write(0, 3, base, mib);
         r.edge(0, 1);
         r.read(1, 3, base, mib);
         const auto before = r.write(1, 3, base, mib);
         if (ok) r.edge(1, 0);
         return expected{"unordered-use", r.read(0, 3, base, mib), before, {"no event wait from stream 1 to stream 0"}};
     }},
    {"free_before_ordered",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         const auto before = r.write(0, 3, base, mib);
         if (ok) r.edge(0, 1);
         auto said = edge_0_to_1;
         said.push_back("block 3");
         return expected{"free-before-ordered", r.free(3, base, mib, 1), before, said};
     }},
    {"free_before_ordered_behind_one_reader_of_two",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         r.write(2, 3, base, mib);
         r.edge(2, 0, 4);
         r.edge(2, 1, 4);
         const auto before = r.read(0, 3, base, mib);
         r.read(1, 3, base, mib);
         if (ok) r.edge(0, 1);
         return expected{"free-before-ordered", r.free(3, base, mib, 1), before, edge_0_to_1};
     }},
};

/// Freed memory goes back to the driver; the host synchronises in between or not.
expected give_back(rig& r, memory_loss how, const char* called, const std::function<void(rig&)>& between)
{
    r.alloc(3, base, mib);
    const auto before = r.write(1, 3, base, mib);
    r.free(3, base, mib, 1);
    between(r);
    const auto at = r.give_back(base, 32 * mib, how);
    return {"released-in-use", at, before,
            {std::string(called) + " 0x10000000+33554432", "stream 1", "block 3", "no synchronisation"}};
}

const std::vector<scenario> release_scenarios = {
    {"released_in_use_flush_without_sync",
     [](rig& r, bool ok) {
         return give_back(r, memory_loss::free, "free returns", [&](rig& q) { if (ok) q.sync_device(); });
     }},
    {"released_in_use_unmap",
     [](rig& r, bool ok) {
         return give_back(r, memory_loss::unmap, "unmap returns", [&](rig& q) { q.sync(ok ? 1 : 0); });
     }},
    {"released_in_use_trim",
     [](rig& r, bool ok) {
         return give_back(r, memory_loss::trim, "pool_trim returns",
                          [&](rig& q) { q.checker.observed(1, q.clock(1) - (ok ? 0 : 1)); });
     }},
    {"released_in_use_stream_order_is_not_enough",
     [](rig& r, bool ok) {
         return give_back(r, memory_loss::threshold, "a synchronisation returns", [&](rig& q) {
             q.edge(1, 0);
             if (ok) q.sync(0);
         });
     }},
    {"released_in_use_remapped",
     [](rig& r, bool ok) {
         return give_back(r, memory_loss::remap, "malloc_async remaps the memory of", [&](rig& q) { if (ok) q.sync(1); });
     }},
    {"released_in_use_for_another_pool",
     [](rig& r, bool ok) {
         return give_back(r, memory_loss::other_pool, "malloc_async takes", [&](rig& q) { if (ok) q.sync(1); });
     }},
    {"released_in_use_for_a_raw_request",
     [](rig& r, bool ok) {
         return give_back(r, memory_loss::raw_request, "malloc takes", [&](rig& q) { if (ok) q.sync(1); });
     }},
    {"released_in_use_chunk_of_a_larger_block",
     [](rig& r, bool ok) {
         r.alloc(3, base, 96 * mib);
         const auto before = r.write(0, 3, base, 96 * mib);
         r.free(3, base, 96 * mib);
         if (ok) r.sync(0);
         const auto at = r.give_back(base + 32 * mib, 32 * mib, memory_loss::trim);
         r.give_back(base + 64 * mib, 32 * mib, memory_loss::trim);   // the same fault again
         return expected{"released-in-use", at, before, {"pool_trim", "stream 0", "block 3"}};
     }},
    {"released_live",
     [](rig& r, bool ok) {
         const auto before = r.alloc(3, base, mib);
         const auto at = r.event() + (ok ? 2 : 1);
         if (ok) r.free(3, base, mib);
         r.give_back(base, 32 * mib, memory_loss::unmap);
         return expected{"released-live", at, before, {"unmap returns", "block 3 at 0x10000000+1048576", "on stream 0", "not freed since"}};
     }},
    {"released_live_one_chunk_of_many",
     [](rig& r, bool ok) {
         const auto before = r.alloc(3, base, 96 * mib);
         r.write(0, 3, base, 96 * mib);
         r.sync(0);
         const auto at = r.give_back(base + (ok ? 96 : 64) * mib, 32 * mib, memory_loss::trim);
         return expected{"released-live", at, before, {"pool_trim", "block 3"}};
     }},
};

const std::vector<scenario> block_scenarios = {
    {"overlap_same_block_twice",
     [](rig& r, bool ok) {
         const auto before = r.alloc(3, base, mib);
         if (ok) r.free(3, base, mib);
         return expected{"overlap", r.alloc(4, base, mib, 1), before,
                         {"block 4 at", "on stream 1 over", "block 3 at", "on stream 0 and not freed since"}};
     }},
    {"overlap_of_a_block_with_itself",
     [](rig& r, bool ok) {
         const auto before = r.alloc(3, base, mib, 2);
         if (ok) r.free(3, base, mib, 2);
         return expected{"overlap", r.alloc(3, base + mib, mib, 1), before,
                         {"on stream 1 while block 3 at 0x10000000", "on stream 2", "no free since"}};
     }},
    {"overlap_tail",
     [](rig& r, bool ok) {
         const auto before = r.alloc(3, base, mib);
         return expected{"overlap", r.alloc(4, base + mib - (ok ? 0 : 256), mib), before, {"block 4 at", "block 3 at"}};
     }},
    {"use_after_free",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         const auto before = r.free(3, base, mib, 1);
         if (ok) r.alloc(3, base, mib);
         return expected{"use-after-free", r.write(0, 3, ok ? base : 0, mib), before,   // a trace knows no address any more
                         {"stream 0 writes block 3 at 0x10000000+1048576", "on stream 1 and not handed out since"}};
     }},
    {"use_of_a_block_that_never_was",
     [](rig& r, bool ok) {
         if (ok) r.alloc(12, base, mib);
         return expected{"use-after-free", r.write(0, 12, base, mib), none, {"block 12 at", "never handed out"}};
     }},
    {"outside_block_kernel",
     [](rig& r, bool ok) {
         const auto before = r.alloc(3, base, mib);
         return expected{"outside-block", r.read(1, 3, base, mib + (ok ? 0 : 1)), before, {"stream 1", "block 3 at", "on stream 0"}};
     }},
    {"outside_block_not_backed",
     [](rig& r, bool ok) {
         return expected{"outside-block", r.alloc(3, base + 256 * mib - (ok ? mib : mib / 2), mib), none, {"block 3 at"}};
     }},
    {"outside_block_reserved_but_not_mapped",
     [](rig& r, bool ok) {
         if (ok) r.checker.memory_obtained(base + 256 * mib, 2 * mib);   // adjacent: one with what is in front of it
         return expected{"outside-block", r.alloc(3, base + 255 * mib, 3 * mib), none, {"block 3 at"}};
     }},
    {"double_free",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         const auto before = r.free(3, base, mib);
         if (ok) r.alloc(3, base, mib);
         return expected{"double-free", r.free(3, base, mib, 1), before, {"block 3 at", "stream 1", "on stream 0"}};
     }},
    {"free_of_another_address",
     [](rig& r, bool ok) {
         const auto before = r.alloc(3, base, mib);
         return expected{"double-free", r.free(3, base + (ok ? 0 : 256), mib), before, {"block 3 at"}};
     }},
    {"wrong_size",
     [](rig& r, bool ok) {
         const auto before = r.alloc_as(3, base, 1000, 1024, 256);
         return expected{"wrong-size", r.free(3, base, ok ? 1024 : 1000), before, {"block 3 at", "granted 1024"}};
     }},
    {"misaligned",
     [](rig& r, bool ok) {
         return expected{"misaligned", r.alloc_as(3, base + 256, 512, 512, ok ? 256 : 512), none, {"block 3 at", "512"}};
     }},
    {"too_small",
     [](rig& r, bool ok) {
         return expected{"too-small", r.alloc_as(3, base, 1000, ok ? 1000 : 999, 1), none, {"block 3 at", "1000"}};
     }},
};

/// A block captured into a graph on stream 0, then freed; later replays use its address.
const std::vector<scenario> graph_scenarios = {
    {"replay_of_memory_that_is_gone",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         const auto captured = r.free(3, base, mib);
         const auto before = r.give_back(base + (ok ? 32 : 0) * mib, 32 * mib, memory_loss::free);
         return expected{"use-after-free", r.replay(0, 3, base, mib, true, captured), before,
                         {"replayed graph on stream 0", "block 3 at", "captured up to event " + std::to_string(captured),
                          "no memory now: free returns 0x10000000+33554432 to the driver", "not captured again"}};
     }},
    {"replay_over_another_owner",
     [](rig& r, bool ok) {
         r.alloc(7, base, mib, 0);                           // lives where the graph's block 3 was, since before the capture
         const auto before = r.write(0, 7, base, mib);
         return expected{"unordered-use", r.replay(ok ? 0 : 1, 3, base, mib, true), before, edge_0_to_1};
     }},
    {"replay_over_a_later_owner_on_the_same_stream",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         r.write(0, 3, base, mib);
         auto captured = r.free(3, base, mib);
         const auto before = r.alloc(7, base + mib / 2, mib);
         r.write(0, 7, base + mib / 2, mib);
         if (ok) captured = r.event();                       // captured anew
         return expected{"stale-replay", r.replay(0, 3, base, mib, true, captured), before,
                         {"replayed graph on stream 0 writes block 3 at 0x10000000+1048576",
                          "captured up to event " + std::to_string(captured), "live block 7 at 0x10080000+1048576",
                          "on stream 0; the graph was not captured again since"}};
     }},
    {"replay_that_reads_a_later_owner",
     [](rig& r, bool ok) {
         const auto captured = r.event();
         const auto before = r.alloc(7, base, mib, 1);
         if (ok) r.free(7, base, mib, 1);                    // nobody's again: the graph's own memory meanwhile
         return expected{"stale-replay", r.replay(0, 3, base, mib, false, captured), before, {"reads", "block 7 at", "on stream 1"}};
     }},
    {"replay_over_the_next_life_of_its_own_block",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);
         const auto captured = r.write(0, 3, base, mib);
         auto before = none;
         if (!ok) {
             r.free(3, base, mib);
             before = r.alloc(3, base, mib);                 // the same id at the same place, and not the same block
         }
         return expected{"stale-replay", r.replay(0, 3, base, mib, true, captured), before, {"block 3", "live block 3"}};
     }},
    {"replay_over_a_block_that_the_capture_made_itself",
     [](rig& r, bool ok) {
         r.alloc(3, base, mib);                              // the capture: a temporary, and the result in its place
         const auto freed = r.free(3, base, mib);
         const auto before = r.alloc(7, base, mib);
         return expected{"stale-replay", r.replay(0, 3, base, mib, true, ok ? before + 1 : freed), before, {"live block 7"}};
     }},
    {"replay_over_a_former_owner",
     [](rig& r, bool ok) {
         r.alloc(7, base, mib, 0);
         const auto before = r.read(0, 7, base, mib);
         r.free(7, base, mib, 0);
         if (ok) r.edge(0, 1);
         return expected{"reuse-before-ordered", r.replay(1, 3, base, mib, false), before, edge_0_to_1};
     }},
    {"two_replays",
     [](rig& r, bool ok) {
         const auto before = r.replay(0, 3, base, mib, true);
         if (ok) r.edge(0, 1);
         return expected{"reuse-before-ordered", r.replay(1, 3, base, mib, true), before, edge_0_to_1};
     }},
    {"two_replays_that_read",
     [](rig& r, bool ok) {
         const auto before = r.replay(0, 3, base, mib, false);
         return expected{"reuse-before-ordered", r.replay(1, 3, base, mib, !ok), before, edge_0_to_1};
     }},
    {"new_owner_after_a_replay",
     [](rig& r, bool ok) {
         const auto before = r.replay(0, 3, base, mib, true);
         r.alloc(7, base, mib, 1);
         if (ok) r.edge(0, 1);
         auto said = edge_0_to_1;
         said.push_back("replayed graph");
         return expected{"reuse-before-ordered", r.read(1, 7, base, mib), before, said};
     }},
    {"replay_still_queued_when_memory_goes",
     [](rig& r, bool ok) {
         const auto before = r.replay(0, 3, base, mib, true);
         if (ok) r.sync(0);
         return expected{"released-in-use", r.give_back(base, 32 * mib, memory_loss::free), before,
                         {"free returns", "stream 0", "replayed graph"}};
     }},
};

std::string name_of(const testing::TestParamInfo<scenario>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(reuse, seeded_fault, testing::ValuesIn(reuse_scenarios), name_of);
INSTANTIATE_TEST_SUITE_P(part, seeded_fault, testing::ValuesIn(part_scenarios), name_of);
INSTANTIATE_TEST_SUITE_P(use, seeded_fault, testing::ValuesIn(use_scenarios), name_of);
INSTANTIATE_TEST_SUITE_P(release, seeded_fault, testing::ValuesIn(release_scenarios), name_of);
INSTANTIATE_TEST_SUITE_P(block, seeded_fault, testing::ValuesIn(block_scenarios), name_of);
INSTANTIATE_TEST_SUITE_P(graph, seeded_fault, testing::ValuesIn(graph_scenarios), name_of);

TEST(hazard_checker, message_names_everything)
{
    rig r;
    reuse(r, [](rig&) {});
    EXPECT_EQ(r.observer().hazards().front().message,
              "event 104: kernel on stream 1 writes block 7 at 0x10000000+1048576, still used by the kernel of event 101 "
              "on stream 0 (block 3, freed at event 102 on stream 0); no event wait from stream 0 to stream 1 and no "
              "synchronisation between them");
}

TEST(hazard_checker, same_stream_is_always_ordered)
{
    rig r;
    for (std::uint32_t i = 0; i < 50; ++i) {
        r.alloc(i % 4, base + i % 3 * mib, mib, 1);
        r.write(1, i % 4, base + i % 3 * mib, mib);
        r.free(i % 4, base + i % 3 * mib, mib, 1);
    }
    EXPECT_EQ(r.observer().hazard_count(), 0U);
}

TEST(hazard_checker, host_knowledge_counts_for_streams_that_wait_later)
{
    rig r;
    reuse(r, [](rig& q) {
        q.sync(0);
        q.edge(2, 1);
    });
    EXPECT_EQ(r.observer().hazard_count(), 0U);
}

TEST(hazard_checker, driver_edges_are_transitive)
{
    rig r;
    r.alloc(3, base, mib);
    r.write(0, 3, base, mib);
    r.edge(0, 2);
    r.free(3, base, mib, 2);
    const mark freed = r.clock(2);
    r.kernel(2, {});
    r.depends(1, 2, freed);                                  // behind the free, so behind stream 0's kernel too
    r.alloc(7, base, mib, 1);
    r.write(1, 7, base, mib);
    EXPECT_EQ(r.observer().hazard_count(), 0U);

    r.free(7, base, mib, 1);
    r.checker.observed(1, r.clock(1));
    r.give_back(base, 32 * mib, memory_loss::trim);
    EXPECT_EQ(r.observer().hazard_count(), 0U);
}

TEST(hazard_checker, a_wait_after_the_observed_operation_does_not_count)
{
    rig r;
    r.alloc(3, base, mib);
    r.write(0, 3, base, mib);
    const mark early = 1;
    r.kernel(2, {});
    r.edge(0, 2);
    r.free(3, base, mib, 2);
    r.checker.observed(2, early);
    r.give_back(base, mib, memory_loss::trim);
    ASSERT_EQ(r.observer().hazard_count(), 1U);
    EXPECT_EQ(r.observer().hazards().front().kind, "released-in-use");
}

TEST(hazard_checker, history_goes_with_the_memory)
{
    rig r;
    r.alloc(3, base, mib);
    r.write(0, 3, base, mib);
    r.free(3, base, mib);
    r.sync(0);
    r.give_back(base, 32 * mib, memory_loss::free);
    r.checker.memory_obtained(base, 32 * mib);
    r.alloc(7, base, mib, 1);
    r.write(1, 7, base, mib);
    EXPECT_EQ(r.observer().hazard_count(), 0U);
}

TEST(hazard_checker, kernel_on_a_block_whose_memory_went_away)
{
    rig r;
    r.alloc(3, base, 64 * mib);
    r.give_back(base, 32 * mib, memory_loss::unmap);
    r.write(0, 3, base + 32 * mib, 32 * mib);                // that half is still there
    ASSERT_EQ(r.observer().hazard_count(), 1U);
    r.write(0, 3, base, 64 * mib);
    r.write(0, 3, base, 64 * mib);
    ASSERT_EQ(r.observer().hazard_count(), 2U);
    EXPECT_EQ(r.observer().hazards()[1].kind, "use-after-free");
}

TEST(hazard_checker, released_under_a_live_block_and_its_kernel)
{
    rig r;
    r.alloc(3, base, mib);
    const auto before = r.write(0, 3, base, mib);
    r.give_back(base, mib, memory_loss::unmap);
    ASSERT_EQ(r.observer().hazard_count(), 2U);
    EXPECT_EQ(r.observer().hazards()[0].kind, "released-live");
    EXPECT_EQ(r.observer().hazards()[1].kind, "released-in-use");
    EXPECT_EQ(r.observer().hazards()[1].earlier_event, before);
}

TEST(hazard_checker, replay_on_the_stream_of_the_new_owner_orders_later_uses)
{
    rig r;
    r.alloc(7, base, mib, 0);
    r.write(0, 7, base, mib);
    const auto before = r.replay(0, 3, base, 2 * mib, true);   // over block 7 and behind it
    r.write(0, 7, base, mib);
    EXPECT_EQ(r.observer().hazard_count(), 0U);
    r.alloc(8, base + mib, mib, 1);
    r.write(1, 8, base + mib, mib);
    ASSERT_EQ(r.observer().hazard_count(), 1U);
    EXPECT_EQ(r.observer().hazards()[0].earlier_event, before);
}

TEST(hazard_checker, one_fault_is_no_flood)
{
    rig r;
    r.alloc(3, base, mib);
    for (int i = 0; i < 50; ++i) {
        r.write(0, 3, base, mib);
        r.write(1, 3, base, mib);
    }
    EXPECT_EQ(r.observer().hazard_count(), 1U);
    r.sync_device();
    r.free(3, base, mib);
    r.alloc(3, base, mib);                                   // a new block: a new fault
    r.write(0, 3, base, mib);
    r.write(1, 3, base, mib);
    EXPECT_EQ(r.observer().hazard_count(), 2U);
}

TEST(hazard_checker, keeps_a_hundred_and_counts_all)
{
    rig r;
    for (int i = 0; i < 250; ++i) {
        r.alloc(3, base, mib);
        r.write(0, 3, base, mib);
        r.write(1, 3, base, mib);
        r.sync_device();
        r.free(3, base, mib);
    }
    EXPECT_EQ(r.observer().hazard_count(), 250U);
    EXPECT_EQ(r.observer().hazards().size(), 100U);
}

TEST(hazard_checker, survives_absurd_arguments)
{
    rig r;
    r.alloc_as(3, UINT64_MAX - 255, 4096, 4096, 256);
    r.write(0, 3, UINT64_MAX - 255, UINT64_MAX);
    r.free(3, UINT64_MAX - 255, 4096);
    r.alloc_as(4, base, 0, 0, 0);
    r.write(0, 4, base, 0);
    r.free(4, base, 0);
    r.replay(0, 3, UINT64_MAX - 1, UINT64_MAX, true);
    r.wait(700, 1);
    r.give_back(0, UINT64_MAX, memory_loss::free);
    EXPECT_GE(r.observer().hazard_count(), 3U);
}

// A second checker that knows nothing of clocks: it keeps every operation ever issued in a graph and searches it.

class brute_force {
public:
    static constexpr std::uint32_t slots = 10;

    struct found {
        std::set<std::string> kinds;
        std::set<std::pair<std::string, std::uint64_t>> pairs;   ///< kind, earlier event
    };

    explicit brute_force(std::uint32_t streams) : last_(streams, nobody), issued_(streams), memory_(slots) {}

    // Order. `numbered` operations are what marks count.
    std::size_t operation(std::uint32_t stream, bool numbered)
    {
        const std::size_t n = add();
        link(last_[stream], n);
        link(host_, n);
        last_[stream] = n;
        if (numbered) issued_[stream].push_back(n);
        return n;
    }
    void record(event_id e, std::uint32_t stream)
    {
        if (recorded_.size() <= e) recorded_.resize(e + std::size_t{1}, nobody);
        recorded_[e] = operation(stream, true);
    }
    void wait(event_id e, std::uint32_t stream)
    {
        const std::size_t n = operation(stream, true);
        if (e < recorded_.size()) link(recorded_[e], n);
    }
    void sync(std::uint32_t stream) { host_step({last_[stream]}); }
    void sync_device() { host_step(last_); }
    void observed(std::uint32_t stream, mark m) { host_step({issued_[stream][m - 1]}); }
    void depends(std::uint32_t stream, std::uint32_t on, mark m)
    {
        const std::size_t n = operation(stream, true);
        link(issued_[on][m - 1], n);
    }

    // Memory, slot by slot.
    void hand_out(std::uint32_t block, std::uint32_t from, std::uint32_t to, std::uint64_t event)
    {
        if (blocks_.size() <= block) blocks_.resize(block + std::size_t{1});
        blocks_[block] = {++generation_, from, to, slots, 0, event, {}};
    }
    found kernel(std::uint32_t block, std::uint32_t from, std::uint32_t to, std::uint32_t stream, bool write,
                 std::uint64_t event)
    {
        found f;
        const use u{operation(stream, true), event, write, 0};
        use_block(f, block, from, to, u);
        return f;
    }
    found replay(std::uint32_t from, std::uint32_t to, std::uint32_t stream, bool write, std::uint64_t event,
                 std::uint64_t captured)
    {
        found f;
        const use u{operation(stream, true), event, write, 0};
        for (std::uint32_t s = from; s < to; ++s) {
            if (const auto owner = owner_of(s)) {
                if (blocks_[*owner].born > captured) add(f, "stale-replay", {0, blocks_[*owner].born, false, 0});
                use_block(f, *owner, s, s + 1, u);
            } else {
                use_nobodys(f, s, u);
            }
        }
        return f;
    }
    found free(std::uint32_t block, std::uint32_t stream)
    {
        found f;
        owned& b = blocks_[block];
        const std::size_t n = operation(stream, false);
        for (const use& u : b.uses)
            if (!before(u.node, n)) add(f, "free-before-ordered", u);
        for (std::uint32_t s = b.first; s < b.end; ++s)
            memory_[s].insert(memory_[s].end(), b.uses.begin(), b.uses.end());
        b.generation = 0;
        return f;
    }
    found give_back(std::uint32_t from, std::uint32_t to)
    {
        found f;
        for (std::uint32_t s = from; s < to; ++s) {
            for (const use& u : memory_[s])
                if (!before(u.node, host_)) add(f, "released-in-use", u);
            memory_[s].clear();
        }
        return f;
    }

private:
    static constexpr std::size_t nobody = SIZE_MAX;
    struct use {
        std::size_t node = 0;
        std::uint64_t event = 0;
        bool write = false;
        std::uint64_t generation = 0;        ///< 0: a replay on nobody's memory
    };
    struct owned {
        std::uint64_t generation = 0;        ///< 0: not live
        std::uint32_t from = 0, to = 0;
        std::uint32_t first = slots, end = 0;   ///< used part
        std::uint64_t born = 0;              ///< event
        std::vector<use> uses;
    };

    std::size_t add()
    {
        behind_.emplace_back();
        return behind_.size() - 1;
    }
    void link(std::size_t from, std::size_t to)
    {
        if (from != nobody) behind_[to].push_back(from);
    }
    void host_step(const std::vector<std::size_t>& done)
    {
        const std::size_t n = add();
        link(host_, n);
        for (const std::size_t d : done) link(d, n);
        host_ = n;
    }
    bool before(std::size_t a, std::size_t b) const
    {
        if (b == nobody) return false;
        std::vector<std::size_t> open{b};
        std::vector<bool> seen(behind_.size(), false);
        while (!open.empty()) {
            const std::size_t n = open.back();
            open.pop_back();
            if (n == a) return true;
            if (seen[n]) continue;
            seen[n] = true;
            open.insert(open.end(), behind_[n].begin(), behind_[n].end());
        }
        return false;
    }
    std::optional<std::uint32_t> owner_of(std::uint32_t slot) const
    {
        for (std::uint32_t b = 0; b < blocks_.size(); ++b)
            if (blocks_[b].generation && slot >= blocks_[b].from && slot < blocks_[b].to) return b;
        return {};
    }
    static void add(found& f, const char* kind, const use& u)
    {
        f.kinds.insert(kind);
        f.pairs.insert({kind, u.event});
    }
    void use_block(found& f, std::uint32_t block, std::uint32_t from, std::uint32_t to, use u)
    {
        owned& b = blocks_[block];
        u.generation = b.generation;
        for (const use& v : b.uses)
            if ((v.write || u.write) && v.node != u.node && !before(v.node, u.node)) add(f, "unordered-use", v);
        for (std::uint32_t s = from; s < to; ++s)
            for (const use& v : memory_[s])
                if (!before(v.node, u.node)) add(f, "reuse-before-ordered", v);
        b.uses.push_back(u);
        b.first = std::min(b.first, from);
        b.end = std::max(b.end, to);
    }
    void use_nobodys(found& f, std::uint32_t slot, use u)
    {
        for (const use& v : memory_[slot])
            if ((v.generation || v.write || u.write) && !before(v.node, u.node)) add(f, "reuse-before-ordered", v);
        memory_[slot].push_back(u);
    }

    std::vector<std::vector<std::size_t>> behind_;   ///< by node: what it comes right after
    std::vector<std::size_t> last_;
    std::vector<std::vector<std::size_t>> issued_;
    std::vector<std::size_t> recorded_;
    std::size_t host_ = nobody;
    std::uint64_t generation_ = 0;
    std::vector<owned> blocks_;
    std::vector<std::vector<use>> memory_;   ///< by slot: uses by former owners and by replays
};

/// Issues the same random program to both and compares after every operation, up to the first hazard.
class duel {
public:
    explicit duel(std::uint32_t seed)
        : random_(seed), streams_(1 + pick(4)), clock_(streams_, 0), checker_(streams_, seed % 3), judge_(streams_)
    {
        ordered_ = pick(3) > 0;                              // programs that order themselves well live longer
        narrow_ = pick(3) == 0;                              // kernels that leave gaps in their blocks
        replays_ = pick(3) == 0;
        slip_ = 4U << pick(4);
        checker_.memory_obtained(base, brute_force::slots * slot);
    }

    /// The hazard's kind, or "" where the program ended without one.
    std::string run(int operations)
    {
        block_observer& observer = checker_;
        for (event_ = 0; event_ < static_cast<std::uint64_t>(operations); ++event_) {
            observer.at_event(event_);
            const brute_force::found expected = one();
            if (expected.kinds.empty() && observer.hazard_count() == 0) continue;
            EXPECT_FALSE(expected.kinds.empty()) << "false alarm: " << observer.hazards().front().message;
            EXPECT_GT(observer.hazard_count(), 0U) << "missed at event " << event_ << ": " << *expected.kinds.begin();
            std::set<std::string> kinds;
            for (const hazard& h : observer.hazards()) {
                EXPECT_TRUE(expected.pairs.contains({h.kind, h.earlier_event})) << h.message;
                EXPECT_EQ(h.event, event_);
                kinds.insert(h.kind);
            }
            EXPECT_EQ(kinds, expected.kinds);
            return kinds.empty() ? "" : *kinds.begin();
        }
        return "";
    }

private:
    static constexpr std::uint64_t slot = 4096;
    struct owned {
        bool live = false;
        std::uint32_t from = 0, to = 0, stream = 0;
        std::set<std::uint32_t> users = {};  ///< streams
    };

    std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
    device_ptr address(std::uint32_t s) const { return base + s * slot; }

    brute_force::found one()
    {
        const std::uint32_t s = pick(streams_);
        switch (pick(16)) {
        case 0: case 1: case 2: allocate(s); return {};
        case 3: case 4: return free_block(s);
        case 5:
            checker_.recorded(pick_event(s), s, ++clock_[s]);
            judge_.record(last_event_, s);
            return {};
        case 6: case 7: return wait(s), brute_force::found{};
        case 8: return synchronise(s), brute_force::found{};
        case 9: return driver_learns(s), brute_force::found{};
        case 10: return pick(3) == 0 ? give_back() : brute_force::found{};
        case 11: return replays_ || pick(4) == 0 ? replay(s) : brute_force::found{};
        default: return kernel(s);
        }
    }

    event_id pick_event(std::uint32_t s) { return last_event_ = pick(2) ? s : 4 + pick(3); }

    void wait(std::uint32_t s)
    {
        const event_id e = pick_event(pick(streams_));
        ++clock_[s];
        checker_.waited(e, s, pick(2) ? clock_[s] : 0);
        judge_.wait(e, s);
    }
    void synchronise(std::uint32_t s)
    {
        if (pick(4) == 0) {
            checker_.synced_device();
            judge_.sync_device();
        } else {
            checker_.synced_stream(s, clock_[s]);
            judge_.sync(s);
        }
    }
    void driver_learns(std::uint32_t s)
    {
        if (clock_[s] == 0) return;
        const mark m = clock_[s] - pick(static_cast<std::uint32_t>(std::min<mark>(clock_[s], 4)));
        if (pick(2)) {
            checker_.observed(s, m);
            judge_.observed(s, m);
            return;
        }
        const std::uint32_t to = pick(streams_);
        if (to == s) return;
        ++clock_[to];
        checker_.depends(to, s, m);
        judge_.depends(to, s, m);
    }
    void edge(std::uint32_t from, std::uint32_t to)
    {
        checker_.recorded(40, from, ++clock_[from]);
        judge_.record(40, from);
        ++clock_[to];
        checker_.waited(40, to);
        judge_.wait(40, to);
    }
    /// A well-behaved program orders a stream behind all others now and then, before it needs it.
    void order_all_before(std::uint32_t s)
    {
        for (std::uint32_t t = 0; t < streams_; ++t)
            if (t != s) edge(t, s);
    }

    /// Or only behind those that used the block: what former owners did is then left to chance.
    void order_users_before(const owned& b, std::uint32_t s)
    {
        if (!ordered_ || pick(slip_) == 0) return;
        for (const std::uint32_t t : b.users)
            if (t != s) edge(t, s);
    }

    void allocate(std::uint32_t s)
    {
        std::vector<bool> taken(brute_force::slots, false);
        for (const owned& b : blocks_)
            for (std::uint32_t i = b.from; b.live && i < b.to; ++i) taken[i] = true;
        const std::uint32_t from = pick(brute_force::slots);
        std::uint32_t to = from;
        while (to < brute_force::slots && !taken[to] && to - from < 6 && (to == from || pick(5))) ++to;
        if (to == from) return;
        std::uint32_t id = 0;
        while (id < blocks_.size() && blocks_[id].live) ++id;
        if (id == blocks_.size()) blocks_.emplace_back();
        blocks_[id] = {true, from, to, s};
        if (ordered_ && pick(slip_)) order_all_before(s);
        static_cast<block_observer&>(checker_).allocated(id, address(from), (to - from) * slot, (to - from) * slot, 256, s);
        judge_.hand_out(id, from, to, event_);
    }
    std::optional<std::uint32_t> some_block()
    {
        if (blocks_.empty()) return {};
        const std::uint32_t id = pick(static_cast<std::uint32_t>(blocks_.size()));
        if (!blocks_[id].live) return {};
        return id;
    }
    brute_force::found free_block(std::uint32_t s)
    {
        const auto id = some_block();
        if (!id) return {};
        owned& b = blocks_[*id];
        if (pick(3)) s = b.stream;
        order_users_before(b, s);
        static_cast<block_observer&>(checker_).freed(*id, address(b.from), (b.to - b.from) * slot, s);
        b.live = false;
        return judge_.free(*id, s);
    }
    brute_force::found kernel(std::uint32_t s)
    {
        const auto id = some_block();
        if (!id) return {};
        owned& b = blocks_[*id];
        if (pick(3)) s = b.stream;
        order_users_before(b, s);
        b.users.insert(s);
        std::uint32_t from = b.from, to = b.to;
        if (narrow_ || pick(2)) {
            from = b.from + pick(b.to - b.from);
            to = from + 1 + (narrow_ ? 0 : pick(b.to - from));
        }
        const kernel_access a{address(from), (to - from) * slot, *id, pick(2) == 0};
        checker_.launched(s, ++clock_[s], {&a, 1});
        return judge_.kernel(*id, from, to, s, a.write, event_);
    }
    brute_force::found replay(std::uint32_t s)
    {
        const std::uint32_t from = pick(brute_force::slots);
        const std::uint32_t to = from + 1 + pick(std::min(4U, brute_force::slots - from));
        if (ordered_ && pick(slip_)) order_all_before(s);
        const std::uint64_t captured = pick(8) ? event_ : event_ - pick(static_cast<std::uint32_t>(event_) + 1);
        const kernel_access a{address(from), (to - from) * slot, 99, pick(2) == 0, captured};
        checker_.replayed(s, ++clock_[s], {&a, 1});
        return judge_.replay(from, to, s, a.write, event_, captured);
    }
    brute_force::found give_back()
    {
        const std::uint32_t from = pick(brute_force::slots);
        std::uint32_t to = from + 1 + pick(brute_force::slots - from);
        for (const owned& b : blocks_)
            if (b.live && b.from < to && b.to > from) return {};
        if (ordered_ && pick(slip_)) {
            checker_.synced_device();
            judge_.sync_device();
        }
        checker_.memory_returned(address(from), (to - from) * slot, memory_loss::free);
        checker_.memory_obtained(address(from), (to - from) * slot);
        return judge_.give_back(from, to);
    }

    std::mt19937 random_;
    std::uint32_t streams_;
    std::vector<mark> clock_;
    hazard_checker checker_;
    brute_force judge_;
    bool ordered_ = false, narrow_ = false, replays_ = false;
    std::uint32_t slip_ = 1;                                 ///< an ordered program forgets one edge in so many
    std::uint64_t event_ = 0;
    event_id last_event_ = 0;
    std::vector<owned> blocks_;
};

TEST(hazard_checker, agrees_with_a_search_over_all_operations)
{
    std::map<std::string, int> endings;
    for (std::uint32_t seed = 1; seed <= 30000; ++seed) {
        ++endings[duel(seed).run(80)];
        ASSERT_FALSE(HasFailure()) << "seed " << seed;
    }
    // The programs are worth something only if each kind of hazard, and none, comes up often.
    for (const char* kind : {"", "reuse-before-ordered", "unordered-use", "free-before-ordered", "released-in-use", "stale-replay"})
        EXPECT_GE(endings[kind], 300) << kind;
    for (const auto& [kind, n] : endings) RecordProperty(kind.empty() ? "none" : kind, n);
}

// The map of ranges, against an array of cells.

class cells {
public:
    static constexpr std::uint32_t n = 3000, empty = UINT32_MAX;

    void set(std::uint64_t from, std::uint64_t to, std::uint32_t value) { std::fill(cell_ + from, cell_ + to, value); }
    /// Cell by cell the same, lookups from everywhere too; ranges in order and apart.
    void expect_same(const range_map& map) const
    {
        std::uint64_t at = 0;
        std::size_t count = 0;
        for (auto p = map.begin(); !map.at_end(p); p = map.next(p), ++count) {
            const address_range& r = map.at(p);
            ASSERT_LE(at, r.start);
            ASSERT_LT(r.start, r.end);
            for (; at < r.start; ++at) ASSERT_EQ(cell_[at], empty) << at;
            for (; at < r.end; ++at) {
                ASSERT_EQ(cell_[at], r.value) << at;
                ASSERT_EQ(map.at(map.find(at)).start, r.start) << at;
            }
        }
        for (; at < n; ++at) ASSERT_EQ(cell_[at], empty) << at;
        ASSERT_EQ(count, map.size());
    }
    void expect_found(const range_map& map, std::uint64_t address) const
    {
        std::uint64_t at = address;
        while (at < n && cell_[at] == empty) ++at;
        const auto p = map.find(address);
        ASSERT_EQ(map.at_end(p), at == n);
        if (at < n) {
            ASSERT_EQ(map.at(p).value, cell_[at]);
        }
    }

    cells() { std::fill(cell_, cell_ + n, empty); }

private:
    std::uint32_t cell_[n];
};

TEST(hazard_ranges, agree_with_an_array_of_cells)
{
    std::mt19937 random(3);
    const auto pick = [&](std::uint32_t k) { return static_cast<std::uint32_t>(random() % k); };
    range_map map;
    cells expected;
    std::vector<int> pieces;
    const auto count = [&](std::uint32_t value, int change) { pieces[value] += change; };
    for (std::uint32_t i = 0; i < 40000; ++i) {
        const std::uint32_t longest = i / 4000 % 2 ? 300 : 6;    // grows to hundreds of ranges, shrinks to a few
        const std::uint32_t from = pick(cells::n - 1);
        const std::uint32_t to = from + 1 + pick(std::min(longest, cells::n - from - 1));
        pieces.push_back(0);
        if (pick(3)) {
            map.assign(from, to, i, count);
            expected.set(from, to, i);
        } else {
            map.cut(from, to, count);
            expected.set(from, to, cells::empty);
        }
        expected.expect_found(map, pick(cells::n));
        if (i % 50 == 0) expected.expect_same(map);
        ASSERT_FALSE(HasFailure()) << "after " << i;
        ASSERT_EQ(map.overlaps(from, to), pieces[i] > 0);
    }
    std::vector<int> left(pieces.size(), 0);
    for (auto p = map.begin(); !map.at_end(p); p = map.next(p)) ++left[map.at(p).value];
    EXPECT_EQ(left, pieces);
    for (auto p = map.begin(); !map.at_end(p);) p = map.erase(p);
    EXPECT_EQ(map.size(), 0U);
    EXPECT_TRUE(map.at_end(map.find(0)));
}

// Bounded memory.

TEST(hazard_checker, memory_follows_the_ranges_and_not_the_events)
{
    constexpr std::uint32_t most_live = 200;
    constexpr std::uint64_t granule = 4096, granules = 1 << 16;
    for (const bool ever_synchronises : {false, true}) {
        std::mt19937_64 random(7);
        rig r(4);
        std::vector<std::pair<device_ptr, std::uint64_t>> blocks(most_live);
        std::vector<std::uint32_t> idle(most_live), live;
        for (std::uint32_t i = 0; i < most_live; ++i) idle[i] = i;
        std::size_t most = 0;
        for (int i = 0; i < 1000000; ++i) {
            const auto s = static_cast<std::uint32_t>(random() % 4);
            const auto what = random() % 8;
            if (what < 3 && !idle.empty()) {
                // Anywhere that is free, at any granule: the worst splitting that there is. Each stream has its quarter.
                const std::uint64_t n = 1 + random() % 64, quarter = granules / 4;
                const std::uint64_t from = s * quarter + random() % (quarter - n);
                const device_ptr at = base + from * granule;
                const bool taken = std::any_of(live.begin(), live.end(), [&](std::uint32_t b) {
                    return blocks[b].first < at + n * granule && blocks[b].first + blocks[b].second > at;
                });
                if (taken) continue;
                const std::uint32_t id = idle.back();
                idle.pop_back();
                live.push_back(id);
                blocks[id] = {at, n * granule};
                r.alloc(id, at, n * granule, s);
            } else if (!live.empty()) {
                const std::size_t which = random() % live.size();
                const std::uint32_t id = live[which];
                const auto owner = static_cast<std::uint32_t>((blocks[id].first - base) / granule / (granules / 4));
                if (what < 6) {
                    r.write(owner, id, blocks[id].first, blocks[id].second);
                } else {
                    r.free(id, blocks[id].first, blocks[id].second, owner);
                    live[which] = live.back();
                    live.pop_back();
                    idle.push_back(id);
                }
            }
            if (ever_synchronises && i % 1000 == 0) r.sync_device();
            most = std::max(most, r.checker.tracked_ranges());
        }
        EXPECT_EQ(r.observer().hazard_count(), 0U);
        // 65,536 granules, blocks of 32 on average: about 4,000 freed ranges fit.
        EXPECT_LT(most, ever_synchronises ? 1500U : 8000U);
        RecordProperty(ever_synchronises ? "most_ranges_with_syncs" : "most_ranges", static_cast<int>(most));
    }
}

/// Stream 1 waits for stream 0 again and again, and the driver looks only now and then how far it has come.
std::uint64_t hazards_of_a_lagging_driver(std::uint32_t ring, mark too_early)
{
    rig r;
    std::vector<mark> freed;
    std::size_t most = 0;
    for (std::uint32_t i = 0; i < 3000; ++i) {
        const std::uint32_t id = i % ring;
        const device_ptr at = base + id * 4096;
        if (i >= ring) r.checker.observed(1, freed[i - ring] - too_early);
        r.alloc(id, at, 4096, 2);
        r.write(2, id, at, 4096);                            // behind stream 0's last use, through the driver only
        r.edge(2, 0, 5);
        r.write(0, id, at, 4096);
        r.edge(0, 1, 6);
        r.free(id, at, 4096, 1);
        freed.push_back(r.clock(1));
        most = std::max(most, r.checker.remembered_lessons());
    }
    EXPECT_LT(most, hazard_checker::least_lessons + 16 * ring);
    return r.observer().hazard_count();
}

TEST(hazard_checker, a_driver_that_lags_behind_many_waits)
{
    for (const std::uint32_t ring : {40U, 700U, 2000U}) {
        EXPECT_EQ(hazards_of_a_lagging_driver(ring, 0), 0U) << ring;
        EXPECT_EQ(hazards_of_a_lagging_driver(ring, 1), 3000U - ring);   // one wait too early, for each but the first round
    }
}

/// One free among very many waits, seen last of all: exactly what it was behind counts, and the rest is not kept.
TEST(hazard_checker, a_free_that_is_seen_after_any_number_of_waits)
{
    for (const bool too_early : {false, true}) {
        rig r;
        r.alloc(3, base, mib);
        const auto before = r.write(0, 3, base, mib);
        const mark unordered = r.clock(1) + 1;
        r.kernel(1, {});
        r.edge(0, 1, 5);
        r.free(3, base, mib, 1);
        const mark freed = r.clock(1);
        std::size_t most = 0;
        for (std::uint32_t i = 0; i < 100000; ++i) {
            r.kernel(0, {});
            r.edge(0, 1, 5);
            most = std::max(most, r.checker.remembered_lessons());
        }
        EXPECT_LE(most, hazard_checker::least_lessons + 16U);
        r.checker.observed(1, too_early ? unordered : freed);
        const auto at = r.give_back(base, 32 * mib, memory_loss::remap);
        ASSERT_EQ(r.observer().hazard_count(), too_early ? 1U : 0U);
        if (!too_early) continue;
        EXPECT_EQ(r.observer().hazards().front().event, at);
        EXPECT_EQ(r.observer().hazards().front().earlier_event, before);
    }
}

/// Two lessons with only the block's last write between them stay apart, also where the later ends with that write.
TEST(hazard_checker, lessons_on_both_sides_of_a_write_stay_apart)
{
    for (const bool imposed : {false, true}) {
        rig r(4, 0);                                         // sifts at every wait
        r.alloc(3, base, mib);
        r.write(0, 3, base, mib);
        r.sync(0);                                           // of the block's uses only the next one matters
        r.edge(0, 1, 5);
        r.kernel(1, {});
        const mark between = r.clock(1);
        const auto before = r.write(0, 3, base, mib);
        if (imposed) r.depends(1, 0, r.clock(0));
        else r.edge(0, 1, 5);
        r.checker.observed(1, between);
        r.read(2, 3, base, mib);
        ASSERT_EQ(r.observer().hazard_count(), 1U) << imposed;
        EXPECT_EQ(r.observer().hazards().front().earlier_event, before);
    }
}

/// Frees before a wait that the driver imposed are not behind what it waited for.
TEST(hazard_checker, an_imposed_wait_counts_from_its_own_mark)
{
    for (const bool behind : {false, true}) {
        rig r;
        r.alloc(3, base, mib);
        r.write(0, 3, base, mib);
        r.free(3, base, mib);
        const mark wait = 8;                                 // operations 1 to 7 of stream 1 were the pool's own
        r.checker.depends(1, 0, r.clock(0), wait);
        r.checker.observed(1, behind ? wait : wait - 1);
        r.give_back(base, 32 * mib, memory_loss::trim);
        EXPECT_EQ(r.observer().hazard_count(), behind ? 0U : 1U);
    }
}

TEST(hazard_checker, streams_that_only_wait_for_each_other_stay_bounded_and_right)
{
    rig r(2);
    for (std::uint32_t i = 0; i < 100000; ++i) {
        const std::uint32_t s = i % 2;
        r.alloc(0, base, mib, s);
        r.write(s, 0, base, mib);
        r.free(0, base, mib, s);
        r.edge(s, 1 - s, s);
    }
    EXPECT_EQ(r.observer().hazard_count(), 0U);
    EXPECT_LT(r.checker.tracked_ranges(), 8U);
    r.checker.observed(0, r.clock(0));
    r.checker.observed(1, r.clock(1));
    r.give_back(base, mib, memory_loss::trim);
    EXPECT_EQ(r.observer().hazard_count(), 0U);
}

}  // namespace
}  // namespace vrambench::sim
