// What follows from a trace alone, and whether it is one that can run.

#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/trace.hpp"
#include "workloads/watched_summary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace vrambench {
namespace {

constexpr std::uint32_t most_ids = std::uint32_t{1} << 24;
constexpr std::uint64_t largest_block = std::uint64_t{1} << 50;
constexpr std::uint64_t largest_live = std::uint64_t{1} << 60;
constexpr std::uint32_t largest_alignment = std::uint32_t{1} << 30;
constexpr std::int64_t longest_kernel_ns = 1'000'000'000'000'000;   // virtual time is 64-bit picoseconds

/// What a message calls the trace: its file where it has one, since the name is then that of the workload written there.
std::string shown_name(const trace_header& header)
{
    return printable(header.spec.starts_with("file:") ? header.spec : header.name);
}

class summariser {
public:
    explicit summariser(const trace_header& header) : header_(header), stacks_(header.streams)
    {
        if (header.streams == 0 || header.streams > 64)
            throw input_error(shown_name(header) + ": " + std::to_string(header.streams) + " streams (1 to 64 are possible)");
        if (header.phases.empty()) throw input_error(shown_name(header) + ": the trace names no phase");
        out_.streams = header.streams;
    }

    void add(const event& e, const event_batch& batch)
    {
        current_ = &e;
        switch (e.kind) {
        case event_kind::alloc: alloc(e); break;
        case event_kind::free: free(e); break;
        case event_kind::kernel: kernel(e, batch); break;
        case event_kind::record: not_in_graph("records an event"), record(e); break;
        case event_kind::wait: not_in_graph("waits for an event"), wait(e); break;
        case event_kind::sync_stream: check_stream(e); not_in_graph("synchronises"); break;
        case event_kind::sync_device: not_in_graph("synchronises"); break;
        case event_kind::external_alloc: external_alloc(e); break;
        case event_kind::external_free: external_free(e); break;
        case event_kind::step: step(e); break;
        case event_kind::graph_begin: graph_begin(e); break;
        case event_kind::graph_end: graph_end(e); break;
        case event_kind::graph_launch: graph_launch(e); break;
        default: fail("unknown kind " + std::to_string(static_cast<int>(e.kind)));
        }
        if (e.kind == event_kind::external_alloc && out_.events_before_work == out_.events) ++out_.events_before_work;
        ++out_.events;
        if (e.kind != event_kind::external_free) out_.events_of_work = out_.events;
    }

    trace_summary finish()
    {
        if (open_graph_)
            throw input_error(shown_name(header_) + ": the trace ends inside graph " + std::to_string(*open_graph_));
        out_.end_live_blocks = live_blocks_;
        return out_;
    }

private:
    struct block {
        std::uint64_t bytes = 0;   // 0: not alive
        std::uint16_t stream = 0;
        std::uint64_t births = 0;  // how often the id was allocated
    };
    struct use {
        std::uint32_t id;
        std::uint64_t birth;
    };
    struct graph {
        bool recorded = false;
        std::uint64_t launches = 0, nanoseconds = 0;
        std::vector<use> uses;     // not kept once a replay of freed blocks was seen
    };

    [[noreturn]] void fail(const std::string& problem) const
    {
        throw input_error(shown_name(header_) + ": event " + std::to_string(out_.events) + " (" + to_string(current_->kind) +
                          "): " + problem);
    }

    void check_stream(const event& e) const
    {
        if (e.stream >= header_.streams)
            fail("stream " + std::to_string(e.stream) + " of " + std::to_string(header_.streams) + " (they count from 0)");
    }
    void check_tag(const event& e) const
    {
        if (e.tag >= header_.tags.size())
            fail("tag " + std::to_string(e.tag) + " of " + std::to_string(header_.tags.size()) + " (they count from 0)");
    }
    void check_bytes(const event& e) const
    {
        if (e.bytes == 0) fail("zero bytes");
        if (e.bytes > largest_block)
            fail(std::to_string(e.bytes) + " bytes is absurd (at most " + exact_size(largest_block) + ")");
    }
    /// A graph holds the launches of one stream, so that replaying it and executing them one by one are the same.
    void not_in_graph(const char* what) const
    {
        if (open_graph_) fail(std::string(what) + " inside graph " + std::to_string(*open_graph_));
    }

    /// The slot of an id in a table that grows with the ids. Consumers index plain arrays by id, hence the limit.
    template <class T>
    T& slot(std::vector<T>& table, std::uint32_t id, std::uint32_t& ids)
    {
        if (id >= table.size()) {
            if (id >= most_ids) fail("id " + std::to_string(id) + " is too large (ids must be dense)");
            table.resize(id + 1);
        }
        ids = std::max(ids, id + 1);
        return table[id];
    }

    const block& alive(std::uint32_t id, const char* verb) const
    {
        if (id >= blocks_.size() || blocks_[id].bytes == 0)
            fail("block " + std::to_string(id) + " is " + verb + " while not alive");
        return blocks_[id];
    }

    void alloc(const event& e)
    {
        check_stream(e);
        check_tag(e);
        check_bytes(e);
        if (!std::has_single_bit(e.alignment) || e.alignment > largest_alignment)
            fail("alignment " + std::to_string(e.alignment) + " is not a power of two up to " + exact_size(largest_alignment));
        block& b = slot(blocks_, e.id, out_.block_ids);
        if (b.bytes != 0) fail("block " + std::to_string(e.id) + " is allocated while alive");
        b = {e.bytes, e.stream, b.births + 1};
        live_bytes_ += e.bytes;
        if (live_bytes_ > largest_live) fail("more than " + exact_size(largest_live) + " alive is absurd");
        if (out_.lifo) stacks_[e.stream].push_back(e.id);
        ++out_.alloc_calls;
        out_.max_live_bytes = std::max(out_.max_live_bytes, live_bytes_);
        out_.max_live_blocks = std::max(out_.max_live_blocks, ++live_blocks_);
        out_.max_block_bytes = std::max(out_.max_block_bytes, e.bytes);
        out_.max_alignment = std::max<std::uint64_t>(out_.max_alignment, e.alignment);
    }

    void free(const event& e)
    {
        check_stream(e);
        const block& b = alive(e.id, "freed");
        if (out_.lifo) check_lifo(e, b);
        live_bytes_ -= b.bytes;
        --live_blocks_;
        blocks_[e.id].bytes = 0;
        ++out_.free_calls;
    }

    void check_lifo(const event& e, const block& b)
    {
        auto& stack = stacks_[b.stream];
        if (b.stream == e.stream && stack.back() == e.id) {
            stack.pop_back();
            return;
        }
        out_.lifo = false;
        out_.first_non_lifo_event = out_.events;
        stacks_.clear();   // not needed any more
    }

    void kernel(const event& e, const event_batch& batch)
    {
        check_stream(e);
        check_tag(e);
        if (std::size_t{e.first_operand} + e.n_reads + e.n_writes > batch.operands.size()) fail("operands are missing");
        for (const std::uint32_t id : batch.reads(e)) alive(id, "read");
        for (const std::uint32_t id : batch.writes(e)) alive(id, "written");
        if (e.nanoseconds > longest_kernel_ns) fail(std::to_string(e.nanoseconds) + " ns is absurd");
        const std::uint64_t ns = e.nanoseconds > 0 ? static_cast<std::uint64_t>(e.nanoseconds) : 0;
        if (open_graph_) {   // recorded now, executed by graph_launch
            if (e.stream != graph_stream_) fail("launches on another stream than that of graph " + std::to_string(*open_graph_));
            graphs_[*open_graph_].launches += 1;
            graphs_[*open_graph_].nanoseconds += ns;
            if (out_.first_replay_of_freed == 0)
                for (const std::uint32_t id : batch.operands_of(e)) graphs_[*open_graph_].uses.push_back({id, blocks_[id].births});
        } else {
            out_.launches += 1;
            out_.stated_kernel_ns += ns;
        }
    }

    void record(const event& e)
    {
        check_stream(e);
        slot(recorded_, e.id, out_.event_ids) = 1;
    }

    void wait(const event& e)
    {
        check_stream(e);
        if (e.id >= recorded_.size() || recorded_[e.id] == 0)
            fail("waits for event " + std::to_string(e.id) + ", which was never recorded");
    }

    void external_alloc(const event& e)
    {
        check_tag(e);
        check_bytes(e);
        std::uint64_t& bytes = slot(externals_, e.id, out_.external_ids);
        if (bytes != 0) fail("external block " + std::to_string(e.id) + " is allocated while alive");
        bytes = e.bytes;
        external_bytes_ += bytes;
        if (external_bytes_ > largest_live) fail("more than " + exact_size(largest_live) + " alive is absurd");
        out_.max_external_bytes = std::max(out_.max_external_bytes, external_bytes_);
    }

    void external_free(const event& e)
    {
        if (e.id >= externals_.size() || externals_[e.id] == 0)
            fail("external block " + std::to_string(e.id) + " is freed while not alive");
        external_bytes_ -= externals_[e.id];
        externals_[e.id] = 0;
    }

    void step(const event& e)
    {
        check_tag(e);
        if (e.phase >= header_.phases.size())
            fail("phase " + std::to_string(e.phase) + " of " + std::to_string(header_.phases.size()) +
                 " (they count from 0)");
        ++out_.steps;
        out_.tokens += e.tokens;
    }

    void graph_begin(const event& e)
    {
        check_stream(e);
        if (open_graph_) fail("graph " + std::to_string(e.id) + " begins inside graph " + std::to_string(*open_graph_));
        slot(graphs_, e.id, out_.graph_ids) = {};
        open_graph_ = e.id;
        graph_stream_ = e.stream;
        out_.graphs = true;
    }

    void graph_end(const event& e)
    {
        if (open_graph_ != e.id) fail("graph " + std::to_string(e.id) + " ends without having begun");
        graphs_[e.id].recorded = true;
        open_graph_.reset();
    }

    void graph_launch(const event& e)
    {
        check_stream(e);
        if (open_graph_) fail("launches a graph inside graph " + std::to_string(*open_graph_));
        if (e.id >= graphs_.size() || !graphs_[e.id].recorded)
            fail("graph " + std::to_string(e.id) + " was never recorded");
        out_.launches += graphs_[e.id].launches;
        out_.stated_kernel_ns += graphs_[e.id].nanoseconds;
        const auto freed = [&](const use& u) { return blocks_[u.id].bytes == 0 || blocks_[u.id].births != u.birth; };
        const auto& uses = graphs_[e.id].uses;
        if (out_.first_replay_of_freed == 0 && std::any_of(uses.begin(), uses.end(), freed))
            out_.first_replay_of_freed = out_.events + 1;
    }

    const trace_header& header_;
    trace_summary out_;
    const event* current_ = nullptr;
    std::vector<block> blocks_;
    std::vector<std::vector<std::uint32_t>> stacks_;   // live blocks of each stream, in order, while the trace is LIFO
    std::vector<std::uint8_t> recorded_;
    std::vector<std::uint64_t> externals_;             // bytes; 0: not alive
    std::vector<graph> graphs_;
    std::optional<std::uint32_t> open_graph_;
    std::uint16_t graph_stream_ = 0;
    std::uint64_t live_bytes_ = 0, live_blocks_ = 0, external_bytes_ = 0;
};

}  // namespace

trace_summary summarise(const trace& t)
{
    return summarise(t, [](std::uint64_t) {});
}

trace_summary summarise(const trace& t, const std::function<void(std::uint64_t events)>& read)
{
    summariser s(t.header());
    const auto source = t.open();
    event_batch batch;
    std::uint64_t events = 0;
    while (source->fill(batch)) {
        for (const event& e : batch.events) s.add(e, batch);
        read(events += batch.events.size());
    }
    return s.finish();
}

const char* to_string(event_kind kind)
{
    constexpr std::array<const char*, event_kinds> names{
        "alloc",          "free",          "kernel", "record",      "wait",      "sync_stream", "sync_device",
        "external_alloc", "external_free", "step",   "graph_begin", "graph_end", "graph_launch"};
    const auto index = static_cast<std::size_t>(kind);
    return index < names.size() ? names[index] : "unknown";
}

}  // namespace vrambench
