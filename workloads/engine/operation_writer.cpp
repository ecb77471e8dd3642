#include "workloads/engine/operation_writer.hpp"

#include <algorithm>

namespace vrambench::engine {
namespace {

/// Neighbours of one group are filled by one kernel, which the table names; results are filled by the operation itself.
enum class group : std::uint8_t { ids, y, source, pointers, result };

group group_of(buffer_kind k)
{
    switch (k) {
    case buffer_kind::ids_source:
    case buffer_kind::ids_target:
    case buffer_kind::bounds: return group::ids;
    case buffer_kind::y:
    case buffer_kind::y_scale: return group::y;
    case buffer_kind::source_pointers:
    case buffer_kind::target_pointers: return group::pointers;
    case buffer_kind::fixup:
    case buffer_kind::target: return group::result;
    default: return group::source;
    }
}

launch_kind filled_by(group g)
{
    switch (g) {
    case group::ids: return launch_kind::sort_ids;
    case group::y: return launch_kind::quantise;
    case group::pointers: return launch_kind::pointers;
    default: return launch_kind::convert;
    }
}

/// Traffic of filling `bytes`: 32 values of an activation are 128 bytes before and 36 after; conversions read about as much
/// as they write; tables are only written.
std::uint64_t filling_bytes(group g, std::uint64_t bytes)
{
    if (g == group::y) return bytes * 41 / 9;
    return g == group::source ? 2 * bytes : bytes;
}

std::uint64_t bytes_of(std::span<const buffer> buffers, buffer_kind kind)
{
    std::uint64_t bytes = 0;
    for (const buffer& b : buffers) bytes += b.kind == kind ? b.bytes : 0;
    return bytes;
}

std::span<const buffer> all_of(const buffer_list& buffers) { return {buffers.begin(), buffers.end()}; }

bool is_expert(weight w) { return w == weight::expert_gate || w == weight::expert_up || w == weight::expert_down; }

}  // namespace

void operation_writer::product(weight w, std::uint64_t rows, std::uint64_t weights_read)
{
    if (s_.ops != traced_ops::all) return;
    const weight_matrix matrix = matrix_of(s_.model, w);
    const std::uint64_t activation_rows = w == weight::expert_down ? matrix.used : 1;
    const matmul_plan plan = is_expert(w) ? plan_expert_matmul(s_.target, s_.era, matrix, rows, activation_rows)
                                          : plan_matmul(s_.target, s_.era, matrix, rows);
    const op_cost cost{plan.cost.flops * weights_read, plan.cost.bytes * weights_read};
    if (plan.path == matmul_path::expert_loop)
        expert_loop(site_of(w), plan, cost);
    else
        operation(site_of(w), all_of(plan.buffers), plan.timed_as, cost);
}

/// Takes the buffers and fills those that the operation reads, which it returns; `results` get those that it writes.
operand_list operation_writer::fill(site s, std::span<const buffer> buffers, operand_list& results)
{
    operand_list filled, open;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const group g = group_of(buffers[i].kind);
        const std::uint32_t id = out_.alloc(s, buffers[i]);
        if (g == group::result) {
            results.push_back(id);
            continue;
        }
        open.push_back(id);
        bytes += buffers[i].bytes;
        const bool alone = g == group::source || i + 1 == buffers.size() || group_of(buffers[i + 1].kind) != g;
        if (!alone) continue;
        out_.launch(filled_by(g), {.bytes = filling_bytes(g, bytes)}, g == group::y ? filled : operand_list{}, open);
        filled.insert(filled.end(), open.begin(), open.end());
        open.clear();
        bytes = 0;
    }
    return filled;
}

void operation_writer::operation(site s, std::span<const buffer> buffers, kernel_class c, const op_cost& cost)
{
    operand_list results;
    const operand_list filled = fill(s, buffers, results);
    out_.launch(s, c, cost, filled, results);
    if (const auto bytes = bytes_of(buffers, buffer_kind::fixup)) out_.launch(launch_kind::fixup, {.bytes = 2 * bytes}, results);
    // Pointer tables are the innermost, and go before the result is converted back.
    const auto tables = std::count_if(buffers.begin(), buffers.end(),
                                      [](const buffer& b) { return group_of(b.kind) == group::pointers; });
    out_.free(static_cast<std::size_t>(tables));
    if (const auto bytes = bytes_of(buffers, buffer_kind::target)) out_.launch(launch_kind::convert, {.bytes = 3 * bytes}, results);
    out_.free(buffers.size() - static_cast<std::size_t>(tables));
}

/// The ids go to the host, which waits for them and once more before the first expert; rows are sorted by expert, and each
/// expert in use is a product of its own.
void operation_writer::expert_loop(site s, const matmul_plan& plan, const op_cost& cost)
{
    const auto all = all_of(plan.buffers);
    const std::size_t outer = std::min(plan.repeat_from, all.size());
    operand_list sorted;
    for (const buffer& b : all.first(outer)) {
        sorted.push_back(out_.alloc(s, b));
        if (b.kind == buffer_kind::ids_host) out_.synchronise();
    }
    out_.launch(launch_kind::gather, {.bytes = 2 * bytes_of(all, buffer_kind::sorted_source)}, {}, sorted);
    out_.synchronise();
    for (std::uint64_t i = 0; i < plan.repeats; ++i)
        operation(s, all.subspan(outer), plan.timed_as, {cost.flops / plan.repeats, cost.bytes / plan.repeats});
    out_.launch(launch_kind::scatter, {.bytes = 2 * bytes_of(all, buffer_kind::sorted_target)}, sorted);
    out_.free(outer);
}

void operation_writer::attention(std::uint64_t tokens, std::uint64_t n_kv)
{
    const attention_shape a = attention_of(s_.model, s_.cache, tokens, n_kv, s_.sequences);
    if (s_.flash)
        flash_attention(a);
    else
        plain_attention(a);
}

void operation_writer::plain_attention(const attention_shape& a)
{
    if (s_.ops == traced_ops::attention_copies) return;
    const matmul_plan scores = plan_scores(s_.target, s_.era, a), values = plan_values(s_.target, s_.era, a);
    constexpr std::uint64_t f32_bytes = 4;
    operation(site::scores, all_of(scores.buffers), scores.timed_as, scores.cost);
    out_.launch(launch_kind::softmax, {.bytes = 2 * f32_bytes * a.tokens * a.streams * a.n_kv * a.heads});
    operation(site::values, all_of(values.buffers), values.timed_as, values.cost);
}

void operation_writer::flash_attention(const attention_shape& a)
{
    const attention_plan plan = plan_attention(s_.target, s_.era, a);
    const bool copies_only = s_.ops == traced_ops::attention_copies;
    bool k_left = plan.converts_k && !copies_only, v_left = plan.converts_v && !copies_only;
    operand_list inputs, splits;
    for (const buffer& b : plan.buffers) {
        const bool is_k = b.kind == buffer_kind::k_f16, is_v = b.kind == buffer_kind::v_f16;
        if (copies_only && !is_k && !is_v) continue;
        const std::uint32_t id = out_.alloc(site::attention, b);
        const bool split = b.kind == buffer_kind::partial || b.kind == buffer_kind::partial_meta;
        (split ? splits : inputs).push_back(id);
        if (is_k) out_.launch(launch_kind::convert, plan.convert_k_cost, {}, {id}), k_left = false;
        if (is_v) out_.launch(launch_kind::convert, plan.convert_v_cost, {}, {id}), v_left = false;
        if (b.kind == buffer_kind::kv_max)
            out_.launch(launch_kind::mask, {.bytes = 2 * a.tokens * a.streams * a.n_kv}, {}, {id});
    }
    if (copies_only && inputs.empty()) return;
    if (k_left) out_.launch(launch_kind::convert, plan.convert_k_cost);    // into the output tensor, beside the pool
    if (v_left) out_.launch(launch_kind::convert, plan.convert_v_cost);
    out_.launch(site::attention, plan.timed_as, plan.cost, inputs, splits);
    if (!splits.empty()) out_.launch(launch_kind::combine, plan.combine_cost, splits);
    out_.free(inputs.size() + splits.size());
}

}  // namespace vrambench::engine
