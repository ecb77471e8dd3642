#include "workloads/kv_pair.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <utility>

namespace vrambench {
namespace {

// n_kv is padded to this many cells (llama.cpp with flash attention).
constexpr std::uint64_t cell_padding = 256;
// Assumptions of the compute model, which only `kernel-ns=roofline` uses: four query heads share a KV head (Llama-3.1-8B,
// Qwen3), and the cache is q8_0, 34 bytes per 32 values.
constexpr std::uint64_t queries_per_head = 4;
constexpr std::uint64_t q8_0_bytes = 34, q8_0_values = 32;
// Keeps flops (8 x buffer bytes x tokens of a step) within 64 bits.
constexpr std::uint64_t largest_buffer = TiB;
constexpr std::size_t most_warm_blocks = 1000;

enum tags : std::uint16_t { tag_step, tag_k, tag_v, tag_convert, tag_attend, tag_warm };
enum phases : std::uint8_t { phase_prefill, phase_warm };

using block_groups = std::vector<std::vector<std::uint64_t>>;

struct shape {
    std::uint64_t heads = 0, head_dim = 0, step = 0, to = 0, layers = 0;
    block_groups warm;
    std::int64_t kernel_ns = -1;
    bool sync = false;

    std::uint64_t n_kv(std::uint64_t tokens) const { return round_up(tokens, cell_padding); }
    std::uint64_t buffer_bytes(std::uint64_t tokens) const { return 2 * heads * head_dim * n_kv(tokens); }
};

/// "1MiB/48MiB+48MiB": groups separated by '/', the blocks of a group by '+'.
block_groups parse_warm(const std::string& text)
{
    block_groups groups;
    if (text == "none") return groups;
    groups.emplace_back();
    std::size_t begin = 0, blocks = 0;
    for (;;) {
        const std::size_t end = text.find_first_of("+/", begin);
        groups.back().push_back(parse_size(std::string_view(text).substr(begin, end - begin), "kv-pair: warm"));
        if (groups.back().back() == 0 || groups.back().back() > largest_buffer)
            throw input_error("kv-pair: warm: a block must have 1 byte to " + exact_size(largest_buffer));
        if (++blocks > most_warm_blocks)
            throw input_error("kv-pair: warm: more than " + std::to_string(most_warm_blocks) + " blocks");
        if (end == std::string::npos) return groups;
        if (text[end] == '/') groups.emplace_back();
        begin = end + 1;
    }
}

std::string canonical_warm(const block_groups& groups)
{
    if (groups.empty()) return "none";
    std::string out;
    for (const auto& group : groups) {
        if (!out.empty()) out += '/';
        for (std::size_t i = 0; i < group.size(); ++i) {
            if (i != 0) out += '+';
            out += exact_size(group[i]);
        }
    }
    return out;
}

shape parse_shape(const config& c)
{
    shape s{.heads = c.integer("heads"),
            .head_dim = c.integer("head-dim"),
            .step = c.integer("step"),
            .to = c.integer("to"),
            .layers = c.integer("layers"),
            .warm = parse_warm(c.text("warm")),
            .kernel_ns = c.is("kernel-ns", "roofline") ? -1 : static_cast<std::int64_t>(c.integer("kernel-ns")),
            .sync = c.is("sync", "step")};
    if (s.n_kv(s.to) > largest_buffer / (2 * s.heads * s.head_dim))
        throw input_error("kv-pair: a buffer of 2 x heads x head-dim x to bytes would exceed " + exact_size(largest_buffer));
    return s;
}

class kv_pair_source final : public trace_source {
public:
    explicit kv_pair_source(shape s) : shape_(std::move(s)) {}

    bool fill(event_batch& batch) override
    {
        batch.clear();
        batch.events.reserve(batch_events);
        if (std::exchange(cold_, false)) warm(batch);
        while (done_ < shape_.to && batch.events.size() + events_per_layer <= batch_events) layer(batch);
        return !batch.events.empty();
    }

private:
    // A layer's six events, with the step before it and the synchronisation after it.
    static constexpr std::size_t events_per_layer = 8;

    static void alloc(event_batch& b, std::uint32_t id, std::uint64_t bytes, tags tag)
    {
        b.events.push_back({.kind = event_kind::alloc, .tag = tag, .id = id, .bytes = bytes});
    }
    static void free(event_batch& b, std::uint32_t id) { b.events.push_back({.kind = event_kind::free, .id = id}); }

    /// A kernel that reads or writes the blocks 0 ... blocks - 1.
    void kernel(event_batch& b, tags tag, std::uint16_t reads, std::uint16_t writes, std::uint64_t bytes,
                std::uint64_t flops) const
    {
        const auto first = static_cast<std::uint32_t>(b.operands.size());
        for (std::uint32_t id = 0; id < std::uint32_t{reads} + writes; ++id) b.operands.push_back(id);
        b.events.push_back({.kind = event_kind::kernel,
                            .tag = tag,
                            .n_reads = reads,
                            .n_writes = writes,
                            .first_operand = first,
                            .bytes = bytes,
                            .flops = flops,
                            .nanoseconds = shape_.kernel_ns});
    }

    void end_step(event_batch& b) const
    {
        if (shape_.sync) b.events.push_back({.kind = event_kind::sync_stream});
    }

    void warm(event_batch& b) const
    {
        if (shape_.warm.empty()) return;
        b.events.push_back({.kind = event_kind::step, .phase = phase_warm, .tag = tag_warm});
        for (const auto& group : shape_.warm) {
            std::uint64_t bytes = 0;
            for (std::uint32_t id = 0; id < group.size(); ++id) {
                alloc(b, id, group[id], tag_warm);
                bytes += group[id];
            }
            kernel(b, tag_warm, 0, static_cast<std::uint16_t>(group.size()), bytes, 0);
            for (auto id = static_cast<std::uint32_t>(group.size()); id-- > 0;) free(b, id);
        }
        end_step(b);
    }

    void begin_step(event_batch& b)
    {
        tokens_ = std::min(shape_.step, shape_.to - done_);
        b.events.push_back({.kind = event_kind::step, .phase = phase_prefill, .tag = tag_step, .tokens = tokens_});
        buffer_ = shape_.buffer_bytes(done_ + tokens_);
        const std::uint64_t values = buffer_;   // of both buffers: two of two bytes each
        convert_bytes_ = (values * q8_0_bytes + q8_0_values - 1) / q8_0_values + 2 * buffer_;
        const std::uint64_t query_values = queries_per_head * shape_.heads * shape_.head_dim * tokens_;
        attend_bytes_ = 2 * buffer_ + 2 * 4 * query_values;                      // K, V; Q and the result in f32
        attend_flops_ = 4 * query_values * shape_.n_kv(done_ + tokens_);         // Q K^T and P V, 2 flops a product
        convert_flops_ = values;
    }

    void layer(event_batch& b)
    {
        if (layer_ == 0) begin_step(b);
        alloc(b, 0, buffer_, tag_k);
        alloc(b, 1, buffer_, tag_v);
        kernel(b, tag_convert, 0, 2, convert_bytes_, convert_flops_);
        kernel(b, tag_attend, 2, 0, attend_bytes_, attend_flops_);
        free(b, 1);
        free(b, 0);
        if (++layer_ < shape_.layers) return;
        end_step(b);
        layer_ = 0;
        done_ += tokens_;
    }

    const shape shape_;
    bool cold_ = true;
    std::uint64_t done_ = 0, layer_ = 0;
    std::uint64_t tokens_ = 0, buffer_ = 0;   // of the step under way
    std::uint64_t convert_bytes_ = 0, convert_flops_ = 0, attend_bytes_ = 0, attend_flops_ = 0;
};

class kv_pair_trace final : public trace {
public:
    explicit kv_pair_trace(config c) : shape_(parse_shape(c))
    {
        c.set("warm", canonical_warm(shape_.warm));
        header_.name = kv_pair_entry().name;
        header_.spec = canonical(kv_pair_entry(), c);
        header_.params = c.values();
        header_.tags = {"step", "K", "V", "convert", "attend", "warm"};
        header_.phases = {"prefill", "warm"};
    }
    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override { return std::make_unique<kv_pair_source>(shape_); }

private:
    shape shape_;
    trace_header header_;
};

}  // namespace

const entry& kv_pair_entry()
{
    static const entry e{
        .name = "kv-pair",
        .help = "f16 K and V temporaries of flash attention, growing with the context over one long prefill",
        .origin = "llama.cpp's pool with a quantised cache, 2024-06-01 to 2026-06-02; threads #22107, #22155, #22732",
        .keys = {
            {.name = "heads", .type = key_type::integer, .default_value = "", .unit = "heads",
             .help = "KV heads", .least = 1, .most = 65536},
            {.name = "head-dim", .type = key_type::integer, .default_value = "", .unit = "values",
             .help = "values of a head", .least = 1, .most = 65536},
            {.name = "step", .type = key_type::integer, .default_value = "", .unit = "tokens",
             .help = "tokens of a micro-batch", .least = 1, .most = 1 << 20},
            {.name = "to", .type = key_type::integer, .default_value = "", .unit = "tokens",
             .help = "context at the end; the last step is cut to it", .least = 1, .most = std::uint64_t{1} << 40},
            {.name = "layers", .type = key_type::integer, .default_value = "1", .unit = "layers",
             .help = "pairs of a micro-batch, one after the other", .least = 1, .most = 10'000},
            {.name = "warm", .type = key_type::text, .default_value = "none", .unit = "bytes",
             .help = "blocks taken before the first step: groups separated by /, the blocks of a group, which are alive "
                     "together, by +"},
            {.name = "kernel-ns", .type = key_type::integer, .default_value = "roofline", .unit = "ns",
             .help = "duration of every kernel; roofline: the device's own, from flops and traffic (4 query heads a KV "
                     "head, q8_0 cache)",
             .choices = {"roofline"}, .most = 1'000'000'000'000},
            {.name = "sync", .type = key_type::choice, .default_value = "none", .unit = "",
             .help = "step: the host waits for the stream at the end of each step", .choices = {"none", "step"}},
        }};
    return e;
}

std::unique_ptr<trace> make_kv_pair(config settings)
{
    return std::make_unique<kv_pair_trace>(std::move(settings));
}

}  // namespace vrambench
