#pragma once
// The events of a trace: what an inference engine asks of its temporary-buffer allocator and of the GPU, with no policy
// in it. The same trace runs on every allocator. Nothing here knows of allocators or devices.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace vrambench {

enum class event_kind : std::uint8_t {
    alloc,           ///< id, bytes, alignment, stream, tag
    free,            ///< id, stream: in stream order, kernels that use the block may still be queued
    kernel,          ///< stream, reads, writes, nanoseconds or flops and bytes, tag; may name no block
    record,          ///< id = event, stream
    wait,            ///< id = event, stream: the stream waits for the event's last record
    sync_stream,     ///< stream: the host waits for the stream
    sync_device,     ///< the host waits for the device
    external_alloc,  ///< id (numbered apart from blocks), bytes, tag: memory taken from the driver beside the allocator
    external_free,   ///< id
    step,            ///< tag = label, phase, tokens: a step begins here and ends at the next one or at the end
    graph_begin,     ///< id = graph, stream: launches up to graph_end, on that stream only and with no event or
                     ///< synchronisation between them, are recorded, not executed; pool calls are made
    graph_end,       ///< id = graph
    graph_launch,    ///< id = graph, stream: the recorded launches execute
};
inline constexpr int event_kinds = 13;

/// One event. Blocks are keyed by `id`, never by address. An id may be used again once its block was freed; generators
/// keep ids dense (0 ... largest number of blocks alive), so that consumers index plain arrays.
struct event {
    event_kind kind = event_kind::step;
    std::uint8_t phase = 0;            ///< step: index into trace_header::phases
    std::uint16_t tag = 0;             ///< index into trace_header::tags
    std::uint16_t stream = 0;          ///< 0 ... trace_header::streams - 1
    std::uint16_t n_reads = 0;         ///< kernel: operands[first_operand ...] are read, the n_writes after them written
    std::uint16_t n_writes = 0;
    std::uint32_t id = 0;              ///< block, event, external block or graph
    std::uint32_t first_operand = 0;   ///< kernel: into event_batch::operands
    std::uint32_t alignment = 128;     ///< alloc: bytes, a power of two; 128 is what ggml asks of its back ends
    std::uint64_t bytes = 0;           ///< alloc, external_alloc: requested; kernel: device memory traffic (with flops)
    std::uint64_t flops = 0;           ///< kernel: with bytes, where nanoseconds is negative
    std::int64_t nanoseconds = -1;     ///< kernel: stated duration; negative: derived from flops and bytes by the device
    std::uint64_t tokens = 0;          ///< step: tokens that this step processes; 0 for traffic without tokens
};

/// Most events of a batch: enough to make a virtual call cheap, few enough to stay in the second-level cache.
inline constexpr std::size_t batch_events = 4096;

/// A stretch of events. `operands` holds the block ids that the kernels of the batch name.
struct event_batch {
    std::vector<event> events;
    std::vector<std::uint32_t> operands;

    std::span<const std::uint32_t> reads(const event& e) const { return {operands.data() + e.first_operand, e.n_reads}; }
    std::span<const std::uint32_t> writes(const event& e) const
    {
        return {operands.data() + e.first_operand + e.n_reads, e.n_writes};
    }
    /// Both, those that are read first.
    std::span<const std::uint32_t> operands_of(const event& e) const
    {
        return {operands.data() + e.first_operand, std::size_t{e.n_reads} + e.n_writes};
    }
    void clear()
    {
        events.clear();
        operands.clear();
    }
};

/// What is known of a trace before its first event.
struct trace_header {
    std::string name;                                            ///< the workload's name, "kv-pair"
    std::string spec;                                            ///< canonical: regenerates the trace
    std::vector<std::pair<std::string, std::string>> params;     ///< the spec's keys and values
    std::uint64_t seed = 0;                                      ///< of seeded generators, else 0
    std::uint32_t streams = 1;                                   ///< at most 64
    std::vector<std::string> tags;                               ///< names of allocation sites, kernels and step labels
    std::vector<std::string> phases;                             ///< "prefill", "decode", ...; at least one
    std::vector<std::string> notes = {};                         ///< for the user, a line each; not part of trace files
};

/// Reads a trace once, front to back. One thread.
class trace_source {
public:
    virtual ~trace_source() = default;
    /// Replaces the batch's contents by the next events (at most batch_events, so that memory stays constant for a trace
    /// of any length). Returns false, with the batch empty, at the end. Throws input_error where a file is damaged.
    virtual bool fill(event_batch& batch) = 0;
};

/// A trace that can be produced any number of times, each time the same.
class trace {
public:
    virtual ~trace() = default;
    virtual const trace_header& header() const = 0;
    virtual std::unique_ptr<trace_source> open() const = 0;
};

/// What follows from a trace alone. Bytes are requested bytes.
struct trace_summary {
    std::uint64_t events = 0;
    std::uint64_t events_before_work = 0;    ///< external allocations that the trace begins with: weights, cache
    std::uint64_t events_of_work = 0;        ///< index after the last event that is no external_free: behind it the engine only leaves
    std::uint64_t alloc_calls = 0;
    std::uint64_t free_calls = 0;
    std::uint64_t launches = 0;              ///< kernels, those inside replayed graphs counted at each graph_launch
    std::uint64_t steps = 0;
    std::uint64_t tokens = 0;
    std::uint64_t max_live_bytes = 0;        ///< the lower bound of any allocator's peak
    std::uint64_t max_live_blocks = 0;       ///< depth
    std::uint64_t max_block_bytes = 0;
    std::uint64_t max_alignment = 0;
    std::uint64_t end_live_blocks = 0;       ///< blocks that the trace never frees
    std::uint64_t max_external_bytes = 0;
    std::uint64_t stated_kernel_ns = 0;      ///< sum of stated durations
    std::uint32_t block_ids = 0;             ///< largest block id + 1
    std::uint32_t external_ids = 0;
    std::uint32_t event_ids = 0;
    std::uint32_t graph_ids = 0;
    std::uint32_t streams = 1;
    bool graphs = false;                     ///< has graph events
    /// Index + 1 of the first graph_launch that uses a block freed since it was captured, as the engine's replays do: they
    /// count on the pool to keep that memory. 0: none.
    std::uint64_t first_replay_of_freed = 0;
    bool lifo = true;                        ///< each stream's blocks are freed on it, last allocated first
    std::uint64_t first_non_lifo_event = 0;  ///< index of the free that breaks it (when !lifo)
};

/// Reads the trace once and checks it: throws input_error that names the event for a block that is allocated twice,
/// freed or used while not alive, a zero or absurd size, a stream, tag or phase out of range, a wait for an event that
/// was never recorded, unbalanced graphs or a synchronisation inside one, ids that are not dense (2^24 or above). Memory:
/// by the largest ids, whatever the length.
trace_summary summarise(const trace& t);

const char* to_string(event_kind kind);

}  // namespace vrambench
