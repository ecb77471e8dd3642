// Attention without flash attention: two batched products with the probabilities between them.

#include "workloads/engine/attention.hpp"
#include "workloads/engine/blas.hpp"

namespace vrambench::engine {
namespace {

constexpr std::uint64_t float_kernel_tokens = 16;

std::uint64_t batch_of(const attention_shape& a) { return a.heads * a.streams; }

/// KV heads that serve several query heads make a batch with broadcast, which is passed as pointers.
std::uint64_t pointers_of(const attention_shape& a) { return a.heads != a.kv_heads ? batch_of(a) : 0; }

op_cost product_cost(const attention_shape& a, std::uint64_t head, std::uint64_t cache_value_bytes)
{
    const std::uint64_t products = a.tokens * batch_of(a);
    return {.flops = 2 * products * a.n_kv * head,
            .bytes = cache_value_bytes * head * a.n_kv * a.kv_heads * a.streams + 4 * products * (a.n_kv + head)};
}

matmul_plan product_plan(const target& t, const attention_shape& a, const blas_operands& o)
{
    if (a.tokens <= float_kernel_tokens)
        return {.path = matmul_path::float_kernel, .timed_as = kernel_class::vector_product};
    return blas_plan(t, o);
}

}  // namespace

matmul_plan plan_scores(const target& t, era e, const attention_shape& a)
{
    // The engine asks for f32 here. Until 2026-07-06 that made Q an f16 operand all the same, with an f32 result.
    const std::uint64_t cells = a.key_head * a.n_kv * a.kv_heads * a.streams;
    const std::uint64_t query = a.key_head * a.tokens * batch_of(a);
    matmul_plan p;
    if (e == era::pool_fa_early && a.tokens > float_kernel_tokens) {
        p = {.path = matmul_path::blas, .timed_as = kernel_class::float_product};
        if (a.cache != tensor_type::f16) p.buffers.add(buffer_kind::source0, 2 * cells);
        p.buffers.add(buffer_kind::source1, 2 * query);
        if (const std::uint64_t n = pointers_of(a); n != 0) {
            p.buffers.add(buffer_kind::source_pointers, 16 * n);
            p.buffers.add(buffer_kind::target_pointers, 8 * n);
        }
    } else {
        p = product_plan(t, a, {.source0 = cells, .source1 = query, .target = a.n_kv * a.tokens * batch_of(a),
                                .type0 = a.cache, .compute = tensor_type::f32, .pointers = pointers_of(a)});
    }
    p.cost = product_cost(a, a.key_head, p.buffers.empty() ? 2 : 4);
    return p;
}

matmul_plan plan_values(const target& t, era, const attention_shape& a)
{
    const tensor_type compute = is_quantised(a.cache) ? tensor_type::f16 : a.cache;
    matmul_plan p = product_plan(t, a, {.source0 = a.value_head * a.n_kv * a.kv_heads * a.streams,
                                        .source1 = a.n_kv * a.tokens * batch_of(a),
                                        .target = a.value_head * a.tokens * batch_of(a),
                                        .type0 = a.cache, .compute = compute, .pointers = pointers_of(a)});
    p.cost = product_cost(a, a.value_head, 2);
    return p;
}

}  // namespace vrambench::engine
