#include "workloads/engine/segment_writer.hpp"

namespace vrambench::engine {

const char* to_string(site s)
{
    switch (s) {
    case site::attention: return "attention";
    case site::scores: return "kq";
    case site::values: return "kqv";
    default: return to_string(static_cast<weight>(s));
    }
}

tag_table::tag_table()
{
    for (std::size_t k = 0; k < launch_kinds; ++k) names_.emplace_back(to_string(static_cast<launch_kind>(k)));
}

void tag_table::add(site s, std::initializer_list<buffer_kind> buffers)
{
    const auto next = [&](std::string name) {
        names_.push_back(std::move(name));
        return static_cast<std::uint16_t>(names_.size() - 1);
    };
    sites_[static_cast<std::size_t>(s)] = next(to_string(s));
    for (const buffer_kind b : buffers)
        buffers_[static_cast<std::size_t>(s)][static_cast<std::size_t>(b)] =
            next(std::string(to_string(s)) + " " + to_string(b));
}

std::uint32_t segment_writer::alloc(site s, const buffer& b)
{
    out_.events.push_back({.kind = event_kind::alloc, .tag = tags_.of(s, b.kind), .id = depth_, .bytes = b.bytes});
    return depth_++;
}

void segment_writer::free(std::size_t n)
{
    for (; n > 0; --n) out_.events.push_back({.kind = event_kind::free, .id = --depth_});
}

void segment_writer::launch(launch_kind k, const op_cost& cost, const operand_list& reads, const operand_list& writes)
{
    kernel(tags_.of(k), kernel_class::elementwise, cost, reads, writes);
}

void segment_writer::launch(site s, kernel_class c, const op_cost& cost, const operand_list& reads,
                            const operand_list& writes)
{
    kernel(tags_.of(s), c, cost, reads, writes);
}

void segment_writer::synchronise()
{
    out_.events.push_back({.kind = event_kind::sync_stream});
    synchronises_ = true;
}

void segment_writer::kernel(std::uint16_t tag, kernel_class c, const op_cost& cost, const operand_list& reads,
                            const operand_list& writes)
{
    const auto first = static_cast<std::uint32_t>(out_.operands.size());
    out_.operands.insert(out_.operands.end(), reads.begin(), reads.end());
    out_.operands.insert(out_.operands.end(), writes.begin(), writes.end());
    out_.events.push_back({.kind = event_kind::kernel,
                           .tag = tag,
                           .n_reads = static_cast<std::uint16_t>(reads.size()),
                           .n_writes = static_cast<std::uint16_t>(writes.size()),
                           .first_operand = first,
                           .nanoseconds = nanoseconds(target_, c, cost)});
}

}  // namespace vrambench::engine
