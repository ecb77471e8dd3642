// Faults put in on purpose, through the whole stack: each must end `corrupted` with the hazard that names it, and the same
// without the fault must complete. A checker that reports nothing, or everything, fails here.

#include "allocators/ideal.hpp"
#include "allocators/per_stream.hpp"
#include "device/registry.hpp"
#include "tests/runner/bench_setup.hpp"
#include "tests/runner/broken_allocators.hpp"
#include "tests/runner/story.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <vector>

namespace vrambench::test {

namespace {

struct setup {
    story events;
    allocator_maker make;
    std::string device = impatient_device();
    std::uint64_t limit = 0;
    run_mode mode = run_mode::eager;
    std::optional<story> legal = {};      ///< gives the summary where the trace itself is refused before the start
};

struct fault {
    std::string name;
    std::string kind;
    std::string found;                    ///< label of the event at which it must be found
    std::string earlier;                  ///< label of the other event; empty: there is none
    std::vector<std::string> says;
    setup broken;
    setup right;
    bool in_steady_pass = false;
};

void PrintTo(const fault& f, std::ostream* out) { *out << f.name; }

repetition run(const setup& s)
{
    cell c = cell_of(std::make_shared<story>(s.legal ? *s.legal : s.events), "direct", s.device, s.limit);
    auto workload = std::make_shared<planned_workload>(*c.workload);
    workload->recipe = std::make_shared<story>(s.events);
    c.workload = workload;
    c.mode = s.mode;
    return run_repetition(c, s.make, {});
}

constexpr std::uint64_t block = 4 * MiB;

std::string edge(int from, int to)
{
    return "no event wait from stream " + std::to_string(from) + " to stream " + std::to_string(to) +
           " and no synchronisation between them";
}
std::string stream(int s) { return "stream " + std::to_string(s); }

// -- traces with a fault, on the list pool

/// Stream 0 writes, stream 1 reads, stream 0 frees, with an edge for each. Every event was recorded before: a dropped
/// record leaves a wait that finds an old one.
story hand_over()
{
    return story(3).record(0, 0).record(1, 1)
        .label("alloc").alloc(0, block, 0)
        .label("write").writes(0, 0).label("record").record(0, 0).label("wait").wait(0, 1).label("read").reads(0, 1)
        .label("record back").record(1, 1).label("wait back").wait(1, 0).label("free").free(0, 0);
}

/// The write reaches stream 2 by way of stream 1.
story chain()
{
    return story(3).record(0, 0).record(1, 1).alloc(0, block, 0)
        .label("write").writes(0, 0).label("first record").record(0, 0).label("first wait").wait(0, 1)
        .label("second record").record(1, 1).label("second wait").wait(1, 2).label("read").reads(0, 2).sync().free(0, 0);
}

/// Two streams take turns with the host in between.
story with_host()
{
    return story(2).alloc(0, block, 0).label("write").writes(0, 0).label("sync").sync_stream(0).label("read").reads(0, 1)
        .label("device sync").sync().label("overwrite").writes(0, 0).free(0, 0);
}

fault in_trace(const std::string& name, const std::string& kind, const std::string& found, const std::string& earlier,
               std::vector<std::string> says, const story& broken, const story& right)
{
    return {name, kind, found, earlier, std::move(says), {broken, maker_of("legacy")}, {right, maker_of("legacy")}};
}

std::vector<fault> edge_faults()
{
    const std::string use = "unordered-use", free = "free-before-ordered";
    const story h = hand_over(), c = chain(), s = with_host();
    return {
        in_trace("dropped_record", use, "read", "write", {"writes", edge(0, 1)}, h.without("record"), h),
        in_trace("dropped_wait", use, "read", "write", {edge(0, 1)}, h.without("wait"), h),
        in_trace("recorded_before_the_last_use", use, "read", "write", {edge(0, 1)}, h.moved("record", "write"), h),
        in_trace("waits_before_the_record", use, "read", "write", {edge(0, 1)}, h.moved("wait", "record"), h),
        in_trace("wait_on_another_stream", use, "read", "write", {edge(0, 1)}, h.on_stream("wait", 2), h),
        in_trace("record_on_another_stream", use, "read", "write", {edge(0, 1)}, h.on_stream("record", 2), h),
        in_trace("dropped_record_before_free", free, "free", "read", {"freed on stream 0", edge(1, 0)}, h.without("record back"), h),
        in_trace("dropped_wait_before_free", free, "free", "read", {"freed on stream 0", edge(1, 0)}, h.without("wait back"), h),
        in_trace("recorded_before_the_last_read", free, "free", "read", {edge(1, 0)}, h.moved("record back", "read"), h),
        in_trace("freed_on_stream_without_edge", free, "free", "read", {"freed on stream 2", edge(1, 2)}, h.on_stream("free", 2), h),
        in_trace("chain_without_first_wait", use, "read", "write", {edge(0, 2)}, c.without("first wait"), c),
        in_trace("chain_without_second_wait", use, "read", "write", {edge(0, 2)}, c.without("second wait"), c),
        in_trace("chain_recorded_too_early", use, "read", "write", {edge(0, 2)}, c.moved("second record", "first wait"), c),
        in_trace("dropped_stream_sync", use, "read", "write", {edge(0, 1)}, s.without("sync"), s),
        in_trace("sync_of_another_stream", use, "read", "write", {edge(0, 1)}, s.on_stream("sync", 1), s),
        in_trace("overwritten_while_read", use, "overwrite", "read", {"writes", "reads", edge(1, 0)}, s.without("device sync"), s),
    };
}

/// Traces that are refused before they start; here they start all the same.
std::vector<fault> lifetime_faults()
{
    const story freed_twice = story().alloc(0, block).writes(0).label("first").free(0).label("second").free(0);
    const story used_after = story().alloc(0, block).writes(0).label("free").free(0).label("use").reads(0);
    const story legal_free = freed_twice.without("second"), legal_use = used_after.without("use");
    return {
        {"double_free", "double-free", "second", "first", {"is not live: it was freed at event", stream(0)},
         {.events = freed_twice, .make = maker_of("legacy"), .legal = legal_free}, {legal_free, maker_of("legacy")}},
        {"use_after_free", "use-after-free", "use", "free", {"reads block 0 at 0x4", "freed at event", "on stream 0"},
         {.events = used_after, .make = maker_of("legacy"), .legal = legal_use}, {legal_use, maker_of("legacy")}},
    };
}

// -- pools that give a block to another stream too early

/// A block is used and freed on one stream; another stream asks for as much.
story reuse(std::uint16_t from = 0, std::uint16_t to = 1)
{
    return story(3).alloc(0, block, from).label("use").writes(0, from).label("free").free(0, from)
        .alloc(1, block, to).label("reuse").writes(1, to).free(1, to);
}

fault too_early(const std::string& name, const allocator_maker& broken, const allocator_maker& right, const story& s = reuse(),
                int from = 0, int to = 1)
{
    return {name, "reuse-before-ordered", "reuse", "use",
            {"block 1", "block 0", "freed at event", "on " + stream(from), edge(from, to)}, {s, broken}, {s, right}};
}

std::vector<fault> reuse_faults()
{
    const auto right = make_flawed<event_pool>(flaw::none);
    // The event of the second free hides that of the first.
    const story two_frees = story(3).alloc(0, block, 0).alloc(2, block / 2, 2).label("use").writes(0, 0).free(0, 0).free(2, 2)
        .alloc(1, block, 1).label("reuse").writes(1, 1).free(1, 1);
    const story went_home = story(2).alloc(0, block, 0).record(0, 0).wait(0, 1).label("use").writes(0, 1).free(0, 1)
        .alloc(1, block, 0).label("reuse").writes(1, 0).free(1, 0);
    const story round_the_ring = story(2).alloc(0, block, 0).label("use").writes(0, 0).free(0, 0).alloc(2, block, 0).free(2, 0)
        .alloc(1, block, 1).label("reuse").writes(1, 1).free(1, 1);
    return {
        too_early("one_list_for_all_streams",
                  [](device& dev, std::uint32_t) -> std::unique_ptr<allocator> { return std::make_unique<list_pool>(dev); },
                  maker_of("legacy")),
        too_early("pool_without_wait", make_flawed<event_pool>(flaw::no_wait), right),
        too_early("pool_waits_on_the_freeing_stream", make_flawed<event_pool>(flaw::waits_on_wrong_stream), right),
        too_early("pool_records_on_another_stream", make_flawed<event_pool>(flaw::records_on_wrong_stream), right),
        too_early("pool_records_when_handed_out", make_flawed<event_pool>(flaw::records_when_handed_out), right),
        too_early("pool_with_one_event", make_flawed<event_pool>(flaw::one_event_for_all), right, two_frees),
        too_early("pool_of_the_stream_that_allocated",
                  [](device& dev, std::uint32_t n) -> std::unique_ptr<allocator> { return std::make_unique<home_coming>(dev, n); },
                  maker_of("legacy"), went_home, 1, 0),
        too_early("short_ring", make_flawed<ring>(flaw::reuses_too_early), make_flawed<ring>(flaw::none), round_the_ring),
        too_early("async_allocated_on_another_stream", make_flawed<misused_pool>(flaw::allocates_on_stream_0),
                  make_flawed<misused_pool>(flaw::none)),
        too_early("async_freed_on_another_stream", make_flawed<misused_pool>(flaw::frees_on_stream_0),
                  make_flawed<misused_pool>(flaw::none), reuse(1, 0), 1, 0),
    };
}

// -- memory that goes back to the driver too early

fault gives_back(const std::string& name, const std::string& kind, const std::string& found, const std::string& earlier,
                 std::vector<std::string> says, const story& s, const allocator_maker& broken, const allocator_maker& right,
                 std::uint64_t limit = 0)
{
    return {name, kind, found, earlier, std::move(says), {s, broken, impatient_device(), limit}, {s, right, impatient_device(), limit}};
}

/// A block in the list, still in use, and a request that does not fit beside it.
story flush_needed()
{
    return story().alloc(0, 30 * MiB).label("use").writes(0).free(0).label("miss").alloc(1, 40 * MiB).writes(1).free(1);
}

allocator_maker flushing_list(flaw f)
{
    return [f](device& dev, std::uint32_t streams) -> std::unique_ptr<allocator> {
        auto pools = std::make_unique<per_stream>(streams, [&] { return std::make_unique<list_pool>(dev); });
        return std::make_unique<flushing>(std::move(pools), dev, f);
    };
}

/// More blocks than the list pool has slots: the one beyond goes to the driver at once.
story full_table()
{
    constexpr std::uint32_t blocks = list_pool::slots + 1;
    story s;
    for (std::uint32_t i = 0; i < blocks; ++i) s.alloc(i, block);
    for (std::uint32_t i = 0; i < blocks; ++i) s.label(i == 0 ? "use" : "other").writes(i);
    for (std::uint32_t i = blocks; i-- > 0;) s.label(i == 0 ? "free" : "other").free(i);
    return s;
}

std::vector<fault> give_back_faults()
{
    const std::string in_use = "released-in-use", live = "released-live";
    const std::vector<std::string> unsynchronised = {stream(0), "no synchronisation since"};
    const story two_lists = story(2).alloc(0, 20 * MiB, 0).alloc(1, 20 * MiB, 1).writes(0, 0).label("use").writes(1, 1)
        .free(0, 0).free(1, 1).label("miss").alloc(2, 50 * MiB, 0).free(2, 0);
    const story once = story().alloc(0, block).label("use").writes(0).label("free").free(0);
    const story synchronised = story().alloc(0, block).label("use").writes(0).label("sync").sync().label("free").free(0);
    const story stepped = story().alloc(0, block).label("use").writes(0).free(0).label("step").step();
    const story evicted = story().alloc(0, block).alloc(1, block).label("use").writes(0).free(0).label("evict").free(1);
    const story held = story().label("alloc").alloc(0, block).label("step").step().writes(0).sync().free(0);
    return {
        gives_back("flush_without_synchronise", in_use, "miss", "use", {"free returns", "block 0", stream(0), "no synchronisation since"},
                   flush_needed(), flushing_list(flaw::no_sync), maker_of("legacy-retry"), 64 * MiB),
        gives_back("flush_after_sync_of_one_stream", in_use, "miss", "use", {"block 1", stream(1), "no synchronisation since"},
                   two_lists, flushing_list(flaw::syncs_one_stream), flushing_list(flaw::none), 80 * MiB),
        {"free_in_use", in_use, "free", "use", unsynchronised, {once, maker_of("direct")}, {once, maker_of("direct"), patient_device()}},
        {"free_in_use_without_sync", in_use, "free", "use", unsynchronised, {synchronised.without("sync"), maker_of("direct")},
         {synchronised, maker_of("direct")}},
        {"list_pool_with_a_full_table", in_use, "free", "use", unsynchronised, {full_table(), maker_of("legacy")},
         {full_table(), maker_of("legacy"), patient_device()}},
        gives_back("list_emptied_at_a_step", in_use, "step", "use", unsynchronised, stepped,
                   make_flawed<emptied_at_steps>(flaw::no_sync), make_flawed<emptied_at_steps>(flaw::none)),
        gives_back("evicted_in_use", in_use, "evict", "use", unsynchronised, evicted, make_flawed<evicting>(flaw::no_sync),
                   make_flawed<evicting>(flaw::none)),
        gives_back("unmapped_in_use", in_use, "free", "use", {"unmap returns", stream(0), "no synchronisation since"}, once,
                   make_flawed<mapped_one_by_one>(flaw::no_sync), make_flawed<mapped_one_by_one>(flaw::none)),
        gives_back("live_block_freed", live, "step", "alloc", {"free returns", "live block 0", "on stream 0 and not freed since"}, held,
                   make_flawed<one_by_one>(flaw::frees_live), make_flawed<one_by_one>(flaw::none)),
        gives_back("live_block_unmapped", live, "step", "alloc", {"unmap returns", "live block 0"}, held,
                   make_flawed<mapped_one_by_one>(flaw::frees_live), make_flawed<mapped_one_by_one>(flaw::none)),
        gives_back("pool_destroyed_under_a_live_block", live, "step", "alloc", {"pool_destroy returns", "live block 0"}, held,
                   make_flawed<misused_pool>(flaw::destroys_live_pool), make_flawed<misused_pool>(flaw::none)),
    };
}

// -- blocks in the wrong place

fault misplaced(const std::string& name, const std::string& kind, const std::string& found, const std::string& earlier,
                std::vector<std::string> says, const story& s, const allocator_maker& broken, const allocator_maker& right)
{
    return {name, kind, found, earlier, std::move(says), {s, broken}, {s, right}};
}

allocator_maker ideal_planned_for(const story& other)
{
    return [other](device& dev, std::uint32_t) -> std::unique_ptr<allocator> {
        return std::make_unique<planned_for>(std::make_unique<ideal>(dev), dev, std::make_shared<story>(other));
    };
}

std::vector<fault> overlap_faults()
{
    const story pair = story().label("first").alloc(0, block).label("second").alloc(1, block).free(1).free(0);
    const story cached_pair = story().alloc(0, block).writes(0).free(0).label("first").alloc(1, block)
        .label("second").alloc(2, block).free(2).free(1);
    const story two_streams = story(2).alloc(0, block, 0).writes(0, 0).free(0, 0).label("first").alloc(1, block, 0)
        .label("second").alloc(2, block, 1).free(2, 1).free(1, 0);
    const story large_first = story().alloc(0, 2 * block).free(0).label("first").alloc(1, block).label("second").alloc(2, block)
        .free(2).free(1);
    const story popped = story().alloc(0, block).label("first").alloc(1, block).alloc(2, block).free(2)
        .label("second").alloc(3, block).free(3).free(1).free(0);
    const story wrapped_over = story().label("first").alloc(0, block).alloc(1, block).label("second").alloc(2, block)
        .free(2).free(1).free(0);
    const story queue = story().label("first").alloc(0, block).alloc(1, block).label("second").alloc(2, block).free(0).free(1).free(2);
    const story freed_sooner = story().alloc(0, block).alloc(1, block).free(0).alloc(2, block).free(1).free(2);
    const auto right = make_flawed<event_pool>(flaw::none);
    const auto overlap = [&](const std::string& name, const story& s, const allocator_maker& broken, const allocator_maker& good) {
        return misplaced(name, "overlap", "second", "first", {"handed out on stream", "over live block", "on stream 0 and not freed since"},
                         s, broken, good);
    };
    return {
        overlap("block_handed_out_twice", cached_pair, make_flawed<event_pool>(flaw::keeps_what_it_hands_out), right),
        overlap("cached_block_for_two_streams", two_streams, make_flawed<event_pool>(flaw::keeps_what_it_hands_out), right),
        overlap("block_listed_twice", cached_pair, make_flawed<event_pool>(flaw::lists_twice), right),
        overlap("split_that_overlaps", large_first, make_flawed<event_pool>(flaw::splits_overlapping), right),
        overlap("overlapping_blocks", pair, make_flawed<arena>(flaw::overlaps), make_flawed<arena>(flaw::none)),
        overlap("stack_popped_too_far", popped, make_flawed<arena>(flaw::pops_too_much), make_flawed<arena>(flaw::none)),
        overlap("ring_over_live_blocks", wrapped_over, make_flawed<ring>(flaw::reuses_too_early), make_flawed<ring>(flaw::none)),
        overlap("async_block_also_cached", cached_pair, make_flawed<misused_pool>(flaw::caches_what_it_freed),
                make_flawed<misused_pool>(flaw::none)),
        overlap("plan_of_another_trace", queue, ideal_planned_for(freed_sooner), ideal_planned_for(queue)),
    };
}

std::vector<fault> grant_faults()
{
    const std::string outside = "outside-block", not_there = "not wholly inside memory";
    const story one = story().label("alloc").alloc(0, block).writes(0).sync().free(0);
    const story pair = story().alloc(0, block).label("second").alloc(1, block).free(1).free(0);
    const story half = story().alloc(0, block).free(0);
    const story flushed = story().alloc(0, block).writes(0).free(0).step().label("second").alloc(1, block).free(1);
    const story trimmed = story().alloc(0, 32 * MiB).writes(0).free(0).sync().label("second").alloc(1, 32 * MiB).free(1);
    const auto pool_without_threshold = [](flaw f) -> allocator_maker {
        return [f](device& dev, std::uint32_t) -> std::unique_ptr<allocator> { return std::make_unique<misused_pool>(dev, f, 0); };
    };
    return {
        misplaced("grants_less_than_asked", "too-small", "alloc", "", {"smaller than the 4194304 bytes requested"}, one,
                  make_flawed<arena>(flaw::grants_less), make_flawed<arena>(flaw::none)),
        misplaced("misaligned_block", "misaligned", "alloc", "", {"not aligned to 128"}, one, make_flawed<arena>(flaw::misaligned),
                  make_flawed<arena>(flaw::none)),
        misplaced("block_beyond_the_arena", outside, "alloc", "", {not_there}, one, make_flawed<arena>(flaw::outside),
                  make_flawed<arena>(flaw::none)),
        misplaced("driver_asked_for_half", outside, "alloc", "", {not_there}, one, make_flawed<one_by_one>(flaw::asks_for_half),
                  make_flawed<one_by_one>(flaw::none)),
        misplaced("mapped_without_access", outside, "alloc", "", {not_there}, one, make_flawed<mapped_one_by_one>(flaw::no_access),
                  make_flawed<mapped_one_by_one>(flaw::none)),
        misplaced("ideal_with_a_small_arena", outside, "second", "", {not_there}, pair, ideal_planned_for(half), ideal_planned_for(pair)),
        misplaced("list_not_cleared_by_a_flush", outside, "second", "", {not_there}, flushed,
                  make_flawed<emptied_at_steps>(flaw::forgets_to_clear), make_flawed<emptied_at_steps>(flaw::none)),
        misplaced("stale_pool_offset", outside, "second", "", {not_there}, trimmed, pool_without_threshold(flaw::caches_what_it_freed),
                  pool_without_threshold(flaw::none)),
    };
}

// -- graphs whose addresses outlive the memory (FC-15), and a fault that only the steady pass shows

/// Captures a kernel on a cached block, replays it, flushes, and replays it again. `recapture`: captured anew first.
story replay_after_flush(bool recapture)
{
    story s;
    const auto capture = [&] {
        s.alloc(0, block).free(0).graph_begin(0).alloc(0, block).writes(0).free(0).graph_end(0);
    };
    capture();
    s.graph_launch(0).sync().label("flush").step();
    if (recapture) capture();
    return s.label("replay").graph_launch(0);
}

/// After the flush the memory is another stream's. Without a flush it is nobody's.
story replay_over_a_new_owner()
{
    return story(2).alloc(0, block, 0).free(0, 0).graph_begin(0, 0).alloc(0, block, 0).writes(0, 0).free(0, 0).graph_end(0).step()
        .label("reuse").alloc(1, block, 1).writes(1, 1).label("replay").graph_launch(0, 0).sync().free(1, 1);
}

/// The graph's temporary is back in the list, and the list hands the same memory out again: on the same stream, so that
/// everything is in order, and the replay destroys what the new owner wrote. `recapture`: the graph gets other memory.
story replay_into_the_next_owner(bool recapture)
{
    story s;
    const auto capture = [&](std::uint32_t temporary) {
        s.graph_begin(0).alloc(temporary, block).writes(temporary).free(temporary).graph_end(0);
    };
    s.alloc(0, block).free(0);
    capture(0);
    s.label("reuse").alloc(1, block).writes(1);
    if (recapture) s.alloc(2, block).free(2), capture(2);
    return s.label("replay").graph_launch(0).label("read").reads(1).sync().free(1);
}

/// The graph uses a block that lives on, and one temporary after the other in the same memory, the last of which lives on
/// as its result. Nobody else's memory is touched. `replaced`: the block that lived on is handed out anew.
story replay_with_its_own_blocks(bool replaced)
{
    story s;
    s.alloc(0, block).writes(0).alloc(1, block / 2).free(1).graph_begin(0).reads(0).alloc(1, block / 2).writes(1).free(1)
        .alloc(2, block / 2).writes(2).writes(0).graph_end(0).graph_launch(0).reads(2);
    if (replaced) s.free(0).label("reuse").alloc(0, block).writes(0);
    else s.label("reuse").step();
    return s.label("replay").graph_launch(0).reads(0).reads(2).sync().free(2).free(0);
}

/// The graph's block lives on, and the replay is on another stream than its last use.
story replay_unordered(bool ordered)
{
    story s(2);
    s.alloc(1, block, 0).graph_begin(0, 0).writes(1, 0).graph_end(0).label("use").writes(1, 0);
    if (ordered) s.record(0, 0).wait(0, 1);
    return s.label("replay").graph_launch(0, 1).sync().free(1, 0);
}

allocator_maker flushed_list()
{
    return [](device& dev, std::uint32_t streams) -> std::unique_ptr<allocator> {
        auto pools = std::make_unique<per_stream>(streams, [&] { return std::make_unique<list_pool>(dev); });
        return std::make_unique<flushed_at_steps>(std::move(pools), dev);
    };
}

std::vector<fault> late_faults()
{
    const story twice = story().alloc(0, block).label("first").alloc(1, block).label("second").alloc(2, block).free(2).free(1).free(0);
    const auto breaks_after = [](std::uint64_t calls) -> allocator_maker {
        return [calls](device& dev, std::uint32_t) -> std::unique_ptr<allocator> {
            return std::make_unique<breaks_later>(std::make_unique<list_pool>(dev), dev, calls);
        };
    };
    std::vector<fault> all;
    for (const auto mode : {run_mode::eager, run_mode::graph}) {
        const std::string suffix = std::string("_") + to_string(mode);
        const auto replay = [&](const std::string& name, const std::string& kind, const std::string& earlier,
                                std::vector<std::string> says, const story& broken, const allocator_maker& make, const story& right,
                                const allocator_maker& right_make) {
            all.push_back({name + suffix, kind, "replay", earlier, std::move(says), {broken, make, impatient_device(), 0, mode},
                           {right, right_make, impatient_device(), 0, mode}});
        };
        const auto legacy = maker_of("legacy");
        replay("graph_replayed_after_flush", "use-after-free", "flush",
               {"replayed graph", "writes block 0", "captured up to event 6", stream(0), "there is no memory now: free returns",
                "not captured again since"},
               replay_after_flush(false), flushed_list(), replay_after_flush(true), flushed_list());
        replay("graph_replayed_into_the_next_owner", "stale-replay", "reuse",
               {"replayed graph", stream(0), "writes block 0", "captured up to event 6", "belongs to live block 1", "not captured again"},
               replay_into_the_next_owner(false), legacy, replay_into_the_next_owner(true), legacy);
        replay("graph_replayed_over_a_new_owner", "stale-replay", "reuse",
               {"belongs to live block 1", "on stream 1; the graph was not captured again"}, replay_over_a_new_owner(), flushed_list(),
               replay_over_a_new_owner(), legacy);
        replay("graph_replayed_into_the_next_life_of_its_block", "stale-replay", "reuse",
               {"reads block 0", "captured up to event 12", "belongs to live block 0"}, replay_with_its_own_blocks(true), legacy,
               replay_with_its_own_blocks(false), legacy);
        replay("graph_replayed_without_an_edge", "unordered-use", "use", {"block 1", edge(0, 1)}, replay_unordered(false), legacy,
               replay_unordered(true), legacy);
    }
    all.push_back({"in_the_steady_pass_only", "overlap", "second", "first", {"handed out on stream 0 over live block"},
                   {twice, breaks_after(5)}, {twice, breaks_after(6)}, true});
    return all;
}

std::vector<fault> all_faults()
{
    std::vector<fault> all;
    for (const auto& some : {edge_faults(), lifetime_faults(), reuse_faults(), give_back_faults(), overlap_faults(), grant_faults(),
                             late_faults()})
        all.insert(all.end(), some.begin(), some.end());
    return all;
}

class seeded_fault : public ::testing::TestWithParam<fault> {};

TEST_P(seeded_fault, is_caught_and_named)
{
    const fault& f = GetParam();
    const repetition r = run(f.broken);
    if (f.in_steady_pass) {
        ASSERT_EQ(r.cold.result.what, status::completed) << r.cold.result.message;
        ASSERT_TRUE(r.steady);
    }
    const pass_measurement& pass = f.in_steady_pass ? *r.steady : r.cold;
    ASSERT_EQ(pass.result.what, status::corrupted) << to_string(pass.result.what) << ": " << pass.result.message;
    ASSERT_FALSE(pass.hazards.empty());
    EXPECT_GE(pass.hazard_count, 1u);
    const hazard& h = pass.hazards.front();
    EXPECT_EQ(h.kind, f.kind) << h.message;
    EXPECT_EQ(h.event, f.broken.events.at(f.found)) << h.message;
    EXPECT_TRUE(h.message.starts_with("event " + std::to_string(f.broken.events.at(f.found)) + ": ")) << h.message;
    if (!f.earlier.empty()) {
        const std::string other = "event " + std::to_string(f.broken.events.at(f.earlier));
        EXPECT_EQ(h.earlier_event, f.broken.events.at(f.earlier)) << h.message;
        EXPECT_NE(h.message.find(other), std::string::npos) << "wanted: " << other << ", got: " << h.message;
    } else {
        EXPECT_EQ(h.earlier_event, UINT64_MAX) << h.message;
    }
    for (const auto& words : f.says) EXPECT_NE(h.message.find(words), std::string::npos) << "wanted: " << words << ", got: " << h.message;
    EXPECT_EQ(pass.result.message, h.message);
    EXPECT_EQ(pass.result.cause, f.kind);
    EXPECT_EQ(pass.result.event, h.event);
    if (!f.in_steady_pass) { EXPECT_FALSE(r.steady); }
}

TEST_P(seeded_fault, without_it_the_run_completes)
{
    const repetition r = run(GetParam().right);
    EXPECT_EQ(r.cold.result.what, status::completed) << r.cold.result.message;
    EXPECT_EQ(r.cold.hazard_count, 0u);
    ASSERT_TRUE(r.steady);
    EXPECT_EQ(r.steady->result.what, status::completed) << r.steady->result.message;
    EXPECT_EQ(r.steady->hazard_count, 0u);
}

INSTANTIATE_TEST_SUITE_P(all, seeded_fault, ::testing::ValuesIn(all_faults()), [](const auto& chosen) { return chosen.param.name; });

}  // namespace

TEST(seeded_faults, are_of_every_kind_that_a_run_can_show)
{
    std::set<std::string> kinds;
    for (const auto& f : all_faults()) kinds.insert(f.kind);
    const std::set<std::string> expected = {"reuse-before-ordered", "unordered-use", "free-before-ordered", "released-in-use",
                                            "released-live", "overlap", "use-after-free", "stale-replay", "outside-block",
                                            "double-free", "misaligned", "too-small"};    // wrong-size: below
    EXPECT_EQ(kinds, expected);
    EXPECT_GE(all_faults().size(), 20u);
}

/// The runner passes back what it was granted, so a wrong size comes only from another caller of the device.
TEST(seeded_faults, a_free_with_another_size_is_named)
{
    for (const bool wrong : {false, true}) {
        const auto dev = open_device(choose_device(impatient_device()), {});
        const device_ptr p = dev->malloc(block);
        dev->observer()->at_event(3);
        dev->observer()->allocated(0, p, block, block, 128, 0);
        dev->observer()->at_event(5);
        dev->observer()->freed(0, p, wrong ? block / 2 : block, 0);
        ASSERT_EQ(dev->observer()->hazard_count(), wrong ? 1u : 0u);
        if (!wrong) continue;
        const hazard& h = dev->observer()->hazards().front();
        EXPECT_EQ(h.kind, "wrong-size");
        EXPECT_TRUE(h.message.starts_with("event 5: ")) << h.message;
        EXPECT_NE(h.message.find("event 3 on stream 0 granted 4194304"), std::string::npos) << h.message;
    }
}

/// Memory leaves a pool for many reasons; the report names the one that it was. A block that stream 1 still uses is freed on
/// stream 0, so that the pool takes it for done.
TEST(seeded_faults, a_pool_that_gives_memory_up_says_why)
{
    struct reason {
        std::uint64_t threshold;
        std::string says;
        std::function<void(device&, pool_id)> act;
    };
    const auto after_sync = [](const std::function<void(device&, pool_id)>& act) {
        return [act](device& dev, pool_id pool) { dev.sync_stream(0), act(dev, pool); };
    };
    const std::vector<reason> reasons = {
        {UINT64_MAX, "pool_trim returns ", after_sync([](device& dev, pool_id pool) { dev.trim_pool(pool, 0); })},
        {0, "a synchronisation returns ", after_sync([](device&, pool_id) {})},
        {UINT64_MAX, "malloc takes ", after_sync([](device& dev, pool_id) { dev.malloc(4060 * MiB); })},
        {UINT64_MAX, "malloc_async takes ", after_sync([](device& dev, pool_id) { dev.malloc_async(4032 * MiB, dev.create_pool({}), 1); })},
        {UINT64_MAX, "malloc_async remaps the memory of ", [](device& dev, pool_id pool) { dev.malloc_async(64 * MiB, pool, 1); }},
        {0, "malloc_async takes ", [](device& dev, pool_id pool) { dev.malloc_async(64 * MiB, pool, 1); }},
        {UINT64_MAX, "pool_destroy returns ", [](device& dev, pool_id pool) { dev.destroy_pool(pool); }},
    };
    for (const auto& r : reasons)
        for (const bool wrong : {true, false}) {
            SCOPED_TRACE(r.says + (wrong ? "wrong" : "right"));
            const auto dev = open_device(choose_device(impatient_device()), {});
            dev->set_streams(2);
            block_observer& observer = *dev->observer();
            const pool_id pool = dev->create_pool({.threshold = r.threshold});
            const device_ptr p = dev->malloc_async(32 * MiB, pool, 1);
            dev->malloc_async(32 * MiB, pool, 1);
            observer.at_event(1);
            observer.allocated(0, p, 32 * MiB, 32 * MiB, 128, 1);
            observer.at_event(2);
            const kernel_access use{p, 32 * MiB, 0, true};
            dev->launch(1, 1'000'000'000'000, {&use, 1});
            observer.at_event(3);
            observer.freed(0, p, 32 * MiB, 1);
            dev->free_async(p, wrong ? 0 : 1);
            if (!wrong && r.says.starts_with("pool_destroy")) dev->sync_device();
            observer.at_event(4);
            r.act(*dev, pool);
            ASSERT_EQ(observer.hazard_count(), wrong ? 1u : 0u);
            if (!wrong) continue;
            const hazard& h = observer.hazards().front();
            EXPECT_EQ(h.kind, "released-in-use");
            EXPECT_EQ(h.earlier_event, 2u);
            EXPECT_TRUE(h.message.starts_with("event 4: " + r.says)) << h.message;
            EXPECT_NE(h.message.find("the kernel of event 2 on stream 1"), std::string::npos) << h.message;
        }
}

/// Why the first version of llama.cpp #22155 looked right on CUDA, where the driver's free waits for the device.
TEST(seeded_faults, a_flush_without_synchronise_is_harmless_where_free_waits)
{
    const setup s{flush_needed(), flushing_list(flaw::no_sync), patient_device(), 64 * MiB};
    const repetition r = run(s);
    EXPECT_EQ(r.cold.result.what, status::completed) << r.cold.result.message;
}

/// A corrupted run says so even where it also ran out of memory.
TEST(seeded_faults, corruption_outweighs_out_of_memory)
{
    story s(2);
    s.alloc(0, block, 0).writes(0, 0).reads(0, 1).sync().free(0, 0).alloc(1, 100 * MiB, 0);
    const repetition r = run({s, maker_of("legacy"), impatient_device(), 64 * MiB});
    EXPECT_EQ(r.cold.result.what, status::corrupted);
    EXPECT_EQ(r.cold.failures, 1u);
}

TEST(seeded_faults, nothing_is_reported_where_checks_are_off)
{
    cell c = cell_of(std::make_shared<story>(reuse()), "legacy", impatient_device());
    c.verify = verify_level::off;
    const auto broken = [](device& dev, std::uint32_t) -> std::unique_ptr<allocator> { return std::make_unique<list_pool>(dev); };
    EXPECT_EQ(run_repetition(c, broken, {}).cold.result.what, status::completed);
}

}  // namespace vrambench::test
