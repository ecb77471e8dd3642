#include "workloads/random.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/random_numbers.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace vrambench {
namespace {

enum tags : std::uint16_t { tag_step, tag_block, tag_kernel };

enum class free_order { lifo, fifo, shuffled };

struct settings {
    std::uint64_t events, min, max, live, blocks, step, seed;
    std::uint16_t streams;
    bool log_sizes, sync;
    double alloc, kernels, share;
    free_order order;
    std::int64_t kernel_ns;
};

settings parse_settings(const config& c)
{
    const settings s{.events = c.integer("events"),
                     .min = c.size("min"),
                     .max = c.size("max"),
                     .live = c.size("live"),
                     .blocks = c.integer("blocks"),
                     .step = c.integer("step"),
                     .seed = c.integer("seed"),
                     .streams = static_cast<std::uint16_t>(c.integer("streams")),
                     .log_sizes = c.is("sizes", "log-uniform"),
                     .sync = c.is("sync", "step"),
                     .alloc = c.number("alloc"),
                     .kernels = c.number("kernels"),
                     .share = c.number("share"),
                     .order = c.is("order", "lifo")   ? free_order::lifo
                              : c.is("order", "fifo") ? free_order::fifo
                                                      : free_order::shuffled,
                     .kernel_ns = c.is("kernel-ns", "roofline") ? -1 : static_cast<std::int64_t>(c.integer("kernel-ns"))};
    const std::string max = "max (" + exact_size(s.max) + ")";
    if (s.min > s.max) throw input_error("random: min (" + exact_size(s.min) + ") exceeds " + max);
    if (s.max > s.live) throw input_error("random: " + max + " exceeds live (" + exact_size(s.live) + ")");
    return s;
}

struct live_block {
    std::uint64_t bytes;
    std::uint32_t id;
    bool written;
};

/// The live blocks of a stream, oldest first. Frees at the front leave a gap that is closed when it has outgrown the rest,
/// so that taking and adding cost the same at any depth and allocate nothing in the long run.
class block_list {
public:
    std::size_t size() const { return blocks_.size() - gap_; }
    bool empty() const { return size() == 0; }
    live_block& operator[](std::size_t i) { return blocks_[gap_ + i]; }
    void push_back(live_block b) { blocks_.push_back(b); }

    live_block take_back()
    {
        const live_block b = blocks_.back();
        blocks_.pop_back();
        if (empty()) close_gap();
        return b;
    }
    live_block take_front()
    {
        const live_block b = blocks_[gap_++];
        if (2 * gap_ >= blocks_.size()) close_gap();
        return b;
    }
    /// Takes any block; the last one moves into its place.
    live_block take(std::size_t i)
    {
        std::swap((*this)[i], blocks_.back());
        return take_back();
    }

private:
    void close_gap()
    {
        blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(gap_));
        gap_ = 0;
    }
    std::vector<live_block> blocks_;
    std::size_t gap_ = 0;
};

/// The operands of one kernel.
struct accesses {
    std::array<std::uint32_t, 4> reads, writes;
    std::uint16_t n_reads = 0, n_writes = 0;
    std::uint64_t bytes = 0;

    void add(live_block& b, bool rewrite)
    {
        if (b.written && !rewrite)
            reads[n_reads++] = b.id;
        else
            writes[n_writes++] = b.id;
        b.written = true;
        bytes += b.bytes;
    }
};

class random_source final : public trace_source {
public:
    explicit random_source(const settings& s)
        : settings_(s), numbers_(s.seed), log_sizes_(s.min, s.max), is_alloc_(s.alloc), is_kernel_(s.kernels),
          is_shared_(s.share), lists_(s.streams)
    {
    }

    bool fill(event_batch& batch) override
    {
        batch.clear();
        batch.events.reserve(batch_events);
        while (!ended_ && batch.events.size() + events_per_operation <= batch_events) next(batch);
        produced_ += batch.events.size();
        return !batch.events.empty();
    }

private:
    // A synchronisation and a step; then a kernel between two pairs of record and wait.
    static constexpr std::size_t events_per_operation = 7;

    void next(event_batch& b)
    {
        if (produced_ + b.events.size() >= settings_.events) {
            drain(b);
            return;
        }
        if (left_in_step_-- == 0) begin_step(b);
        if (is_kernel_(numbers_) && live_blocks_ > 0)
            kernel(b);
        else if (live_blocks_ == 0 || (live_blocks_ < settings_.blocks && is_alloc_(numbers_)))
            alloc(b);
        else
            free(b, stream_with_blocks());
    }

    void begin_step(event_batch& b)
    {
        if (settings_.sync && produced_ + b.events.size() > 0) b.events.push_back({.kind = event_kind::sync_device});
        b.events.push_back({.kind = event_kind::step, .tag = tag_step});
        left_in_step_ = settings_.step - 1;
    }

    /// One free at a time until nothing is alive, so that a batch does not grow with the depth.
    void drain(event_batch& b)
    {
        if (live_blocks_ > 0) {
            free(b, stream_with_blocks());
            return;
        }
        if (settings_.sync) b.events.push_back({.kind = event_kind::sync_device});
        ended_ = true;
    }

    std::uint16_t any_stream()
    {
        return settings_.streams == 1 ? std::uint16_t{0} : static_cast<std::uint16_t>(numbers_.below(settings_.streams));
    }

    std::uint16_t stream_with_blocks()
    {
        std::uint16_t s = any_stream();
        while (lists_[s].empty()) s = static_cast<std::uint16_t>(s + 1 < settings_.streams ? s + 1 : 0);
        return s;
    }

    std::uint64_t size()
    {
        if (settings_.log_sizes) return log_sizes_(numbers_);
        return settings_.min + numbers_.below(settings_.max - settings_.min + 1);
    }

    void alloc(event_batch& b)
    {
        const std::uint64_t bytes = size();
        if (bytes > settings_.live - live_bytes_) {   // at the cap: make room instead
            free(b, stream_with_blocks());
            return;
        }
        std::uint32_t id = next_id_;
        if (free_ids_.empty()) {
            ++next_id_;
        } else {
            id = free_ids_.back();
            free_ids_.pop_back();
        }
        const std::uint16_t stream = any_stream();
        lists_[stream].push_back({bytes, id, false});
        live_bytes_ += bytes;
        ++live_blocks_;
        b.events.push_back({.kind = event_kind::alloc, .tag = tag_block, .stream = stream, .id = id, .bytes = bytes});
    }

    void free(event_batch& b, std::uint16_t stream)
    {
        block_list& list = lists_[stream];
        const live_block gone = settings_.order == free_order::lifo   ? list.take_back()
                                : settings_.order == free_order::fifo ? list.take_front()
                                                                      : list.take(numbers_.below(list.size()));
        free_ids_.push_back(gone.id);
        live_bytes_ -= gone.bytes;
        --live_blocks_;
        b.events.push_back({.kind = event_kind::free, .stream = stream, .id = gone.id});
    }

    void kernel(event_batch& b)
    {
        const std::uint16_t stream = stream_with_blocks();
        block_list& list = lists_[stream];
        const std::uint64_t dice = numbers_.next();
        const std::size_t count = std::min<std::size_t>(1 + (dice & 0xff) % 3, list.size());
        std::size_t i = numbers_.below(list.size());
        accesses a;
        for (std::size_t n = 0; n < count; ++n) {
            a.add(list[i], (dice >> (8 + 2 * n) & 3) == 0);
            i = i + 1 < list.size() ? i + 1 : 0;
        }
        const std::uint16_t other = settings_.streams > 1 && is_shared_(numbers_) ? another_stream(stream) : stream;
        if (other == stream || lists_[other].empty()) {
            launch(b, stream, a);
            return;
        }
        a.add(lists_[other][numbers_.below(lists_[other].size())], (dice >> 16 & 3) == 0);
        order(b, other, stream);
        launch(b, stream, a);
        order(b, stream, other);
    }

    std::uint16_t another_stream(std::uint16_t stream)
    {
        const std::uint64_t other = stream + 1 + numbers_.below(settings_.streams - 1u);
        return static_cast<std::uint16_t>(other % settings_.streams);
    }

    /// What `later` does from now on comes after all that `earlier` was given so far. An event a stream is enough: a wait
    /// is for the last record.
    static void order(event_batch& b, std::uint16_t earlier, std::uint16_t later)
    {
        b.events.push_back({.kind = event_kind::record, .stream = earlier, .id = earlier});
        b.events.push_back({.kind = event_kind::wait, .stream = later, .id = earlier});
    }

    void launch(event_batch& b, std::uint16_t stream, const accesses& a) const
    {
        const auto first = static_cast<std::uint32_t>(b.operands.size());
        b.operands.insert(b.operands.end(), a.reads.begin(), a.reads.begin() + a.n_reads);
        b.operands.insert(b.operands.end(), a.writes.begin(), a.writes.begin() + a.n_writes);
        b.events.push_back({.kind = event_kind::kernel,
                            .tag = tag_kernel,
                            .stream = stream,
                            .n_reads = a.n_reads,
                            .n_writes = a.n_writes,
                            .first_operand = first,
                            .bytes = a.bytes,
                            .nanoseconds = settings_.kernel_ns});
    }

    const settings settings_;
    random_numbers numbers_;
    const log_uniform log_sizes_;
    const chance is_alloc_, is_kernel_, is_shared_;
    std::vector<block_list> lists_;         // by stream
    std::vector<std::uint32_t> free_ids_;   // used before a new one: ids stay dense
    std::uint32_t next_id_ = 0;
    std::uint64_t live_bytes_ = 0, live_blocks_ = 0;
    std::uint64_t produced_ = 0;            // events of earlier batches
    std::uint64_t left_in_step_ = 0;
    bool ended_ = false;
};

class random_trace final : public trace {
public:
    random_trace(config c, std::uint64_t default_seed)
        : settings_([&] {
              if (c.is("seed", "run")) c.set("seed", std::to_string(default_seed));
              return parse_settings(c);
          }())
    {
        header_.name = random_entry().name;
        header_.spec = canonical(random_entry(), c);
        header_.params = c.values();
        header_.seed = settings_.seed;
        header_.streams = settings_.streams;
        header_.tags = {"step", "block", "kernel"};
        header_.phases = {"random"};
    }
    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override { return std::make_unique<random_source>(settings_); }

private:
    settings settings_;
    trace_header header_;
};

}  // namespace

const entry& random_entry()
{
    constexpr std::uint64_t largest = std::uint64_t{1} << 50;
    static const entry e{
        .name = "random",
        .help = "seeded allocations, frees and kernels of any size, order and depth, on any number of streams",
        .origin = "",
        .keys = {
            {.name = "events", .type = key_type::integer, .default_value = "100000", .unit = "events",
             .help = "after which what is alive is freed", .least = 1, .most = 1'000'000'000'000},
            {.name = "min", .type = key_type::size, .default_value = "256", .unit = "bytes",
             .help = "smallest block", .least = 1, .most = largest},
            {.name = "max", .type = key_type::size, .default_value = "64MiB", .unit = "bytes",
             .help = "largest block", .least = 1, .most = largest},
            {.name = "sizes", .type = key_type::choice, .default_value = "log-uniform", .unit = "",
             .help = "log-uniform: every octave is equally likely", .choices = {"uniform", "log-uniform"}},
            {.name = "alloc", .type = key_type::number, .default_value = "0.5", .unit = "probability",
             .help = "that an operation other than a kernel allocates", .most = 1},
            {.name = "live", .type = key_type::size, .default_value = "1GiB", .unit = "bytes",
             .help = "alive at most", .least = 1, .most = largest},
            {.name = "blocks", .type = key_type::integer, .default_value = "4096", .unit = "blocks",
             .help = "alive at most", .least = 1, .most = 1 << 24},
            {.name = "order", .type = key_type::choice, .default_value = "lifo", .unit = "",
             .help = "which of a stream's blocks is freed", .choices = {"lifo", "fifo", "shuffled"}},
            {.name = "streams", .type = key_type::integer, .default_value = "1", .unit = "streams",
             .help = "number of streams", .least = 1, .most = 64},
            {.name = "share", .type = key_type::number, .default_value = "0", .unit = "probability",
             .help = "that a kernel also uses a block of another stream, ordered by events", .most = 1},
            {.name = "kernels", .type = key_type::number, .default_value = "0.5", .unit = "probability",
             .help = "that an operation is a kernel", .most = 1},
            {.name = "kernel-ns", .type = key_type::integer, .default_value = "roofline", .unit = "ns",
             .help = "duration of every kernel; roofline: the device's own, from the bytes of the blocks it uses",
             .choices = {"roofline"}, .most = 1'000'000'000'000},
            {.name = "step", .type = key_type::integer, .default_value = "1000", .unit = "operations",
             .help = "of a step", .least = 1},
            {.name = "sync", .type = key_type::choice, .default_value = "none", .unit = "",
             .help = "step: the host waits for the device at the end of each step", .choices = {"none", "step"}},
            {.name = "seed", .type = key_type::integer, .default_value = "run", .unit = "",
             .help = "of the random numbers (splitmix64); run: that of the whole run", .choices = {"run"},
             .most = ~std::uint64_t{0}},
        }};
    return e;
}

std::unique_ptr<trace> make_random(config settings, std::uint64_t default_seed)
{
    return std::make_unique<random_trace>(std::move(settings), default_seed);
}

}  // namespace vrambench
