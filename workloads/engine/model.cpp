#include "workloads/engine/model.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <stdexcept>

namespace vrambench::engine {
namespace {

constexpr std::uint64_t cell_padding = 256;

weight_matrix dense(std::uint64_t columns, std::uint64_t rows, tensor_type type)
{
    return {.columns = columns, .rows = rows, .type = type};
}

weight_matrix per_head(const model& m, std::uint64_t columns, std::uint64_t rows)
{
    return {.columns = columns, .rows = rows, .channels = m.heads, .type = m.types.per_head};
}

weight_matrix expert(const model& m, std::uint64_t columns, std::uint64_t rows)
{
    return {.columns = columns, .rows = rows, .experts = m.moe.experts, .used = m.moe.used, .type = m.types.experts};
}

bool exists(const model& m, weight w)
{
    switch (w) {
        case weight::q: case weight::v: case weight::k: return m.mla.kv_rank == 0;
        case weight::q_a: case weight::q_b: case weight::kv_a: case weight::k_b: case weight::v_b: return m.mla.kv_rank != 0;
        case weight::gate: case weight::up: case weight::down: return m.ffn != 0;
        case weight::router: case weight::expert_gate: case weight::expert_up: case weight::expert_down:
            return m.moe.experts != 0;
        case weight::shared_gate: case weight::shared_up: case weight::shared_down: return m.moe.shared_width != 0;
        case weight::o: case weight::output: return true;
    }
    return false;
}

std::uint64_t bytes_of(const model& m, const std::vector<weight>& weights)
{
    std::uint64_t sum = 0;
    for (const weight w : weights) sum += matrix_of(m, w).bytes();
    return sum;
}

}  // namespace

const char* to_string(weight w)
{
    static constexpr std::array<const char*, 20> names{
        "wq", "wv", "wk", "wq_a", "wq_b", "wkv_a", "wk_b", "wv_b", "wo", "gate", "up", "down",
        "router", "exp.gate", "exp.up", "exp.down", "sh.gate", "sh.up", "sh.down", "lm_head"};
    return names[static_cast<std::size_t>(w)];
}

std::uint64_t weight_matrix::bytes() const
{
    return tensor_bytes(type, columns, rows) * channels * std::max<std::uint64_t>(experts, 1);
}

std::uint64_t model::sliding_layers() const
{
    std::uint64_t n = 0;
    for (std::uint64_t i = 0; i < layers; ++i) n += is_sliding(i) ? 1 : 0;
    return n;
}

weight_matrix matrix_of(const model& m, weight w)
{
    if (!exists(m, w)) throw std::logic_error(m.name + " has no weight " + to_string(w));
    const weight_types& t = m.types;
    switch (w) {
        case weight::q: return dense(m.width, m.heads * m.key_head, t.attention);
        case weight::v: return dense(m.width, m.kv_heads * m.value_head, t.attention);
        case weight::k: return dense(m.width, m.kv_heads * m.key_head, t.attention);
        case weight::q_a: return dense(m.width, m.mla.query_rank, t.attention);
        case weight::q_b: return dense(m.mla.query_rank, m.heads * (m.mla.nope + m.mla.rope), t.attention);
        case weight::kv_a: return dense(m.width, m.mla.kv_rank + m.mla.rope, t.attention);
        case weight::k_b: return per_head(m, m.mla.nope, m.mla.kv_rank);
        case weight::v_b: return per_head(m, m.mla.kv_rank, m.mla.value);
        case weight::o: return dense(m.heads * (m.mla.kv_rank != 0 ? m.mla.value : m.value_head), m.width, t.attention);
        case weight::gate: case weight::up: return dense(m.width, m.ffn, t.ffn);
        case weight::down: return dense(m.ffn, m.width, t.ffn);
        case weight::router: return dense(m.width, m.moe.experts, tensor_type::f32);
        case weight::expert_gate: case weight::expert_up: return expert(m, m.width, m.moe.width);
        case weight::expert_down: return expert(m, m.moe.width, m.width);
        case weight::shared_gate: case weight::shared_up: return dense(m.width, m.moe.shared_width, t.shared);
        case weight::shared_down: return dense(m.moe.shared_width, m.width, t.shared);
        case weight::output: return dense(m.width, m.vocabulary, t.output);
    }
    throw std::logic_error("a weight without a matrix");
}

std::vector<weight> weights_before_attention(const model& m)
{
    if (m.mla.kv_rank != 0) return {weight::q_a, weight::q_b, weight::kv_a, weight::k_b};
    return {weight::q, weight::v, weight::k};
}

std::vector<weight> weights_after_attention(const model& m, std::uint64_t layer)
{
    std::vector<weight> out;
    if (m.mla.kv_rank != 0) out.push_back(weight::v_b);
    out.push_back(weight::o);
    if (!m.has_experts(layer)) {
        for (const weight w : {weight::gate, weight::up, weight::down}) out.push_back(w);
        return out;
    }
    for (const weight w : {weight::expert_gate, weight::expert_up, weight::expert_down}) out.push_back(w);
    if (m.moe.shared_width == 0) return out;
    for (const weight w : {weight::shared_gate, weight::shared_up, weight::shared_down}) out.push_back(w);
    return out;
}

std::uint64_t weight_bytes(const model& m)
{
    std::uint64_t sum = tensor_bytes(m.types.embedding, m.width, m.vocabulary);
    if (!m.tied_output) sum += matrix_of(m, weight::output).bytes();
    const std::uint64_t before = bytes_of(m, weights_before_attention(m));
    for (std::uint64_t layer = 0; layer < m.layers; ++layer) {
        sum += before + bytes_of(m, weights_after_attention(m, layer));
        if (m.has_experts(layer)) sum += matrix_of(m, weight::router).bytes();
    }
    return sum;
}

std::uint64_t cache_bytes(const model& m, tensor_type cache, std::uint64_t cells, std::uint64_t sliding)
{
    const std::uint64_t of_a_cell = tensor_bytes(cache, m.key_head * m.kv_heads, 1) +
                                    (m.value_is_view() ? 0 : tensor_bytes(cache, m.value_head * m.kv_heads, 1));
    const std::uint64_t windows = m.sliding_layers();
    return of_a_cell * (cells * (m.layers - windows) + sliding * windows);
}

std::uint64_t sliding_cells(const model& m, std::uint64_t cells, std::uint64_t ubatch, std::uint64_t unified_sequences)
{
    if (m.swa.window == 0) return cells;
    return std::min(cells, round_up(std::min(cells, m.swa.window * unified_sequences + ubatch), cell_padding));
}

}  // namespace vrambench::engine
