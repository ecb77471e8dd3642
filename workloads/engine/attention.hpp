#pragma once
// Attention: the flash-attention kernel that ggml takes, its tile and its buffers, and the two products that stand for it
// without flash attention. Source: ggml's CUDA back end as of 2026-08-21 and the recorded tree of 2026-04-21.

#include "workloads/engine/buffers.hpp"
#include "workloads/engine/era.hpp"
#include "workloads/engine/matmul.hpp"
#include "workloads/engine/model.hpp"
#include "workloads/engine/roofline.hpp"
#include "workloads/engine/target.hpp"

#include <cstdint>

namespace vrambench::engine {

struct attention_shape {
    std::uint64_t heads = 0, kv_heads = 0, key_head = 0, value_head = 0;
    bool value_is_view = false;      ///< V is a part of K
    std::uint64_t tokens = 0;        ///< n: rows of Q of each stream
    std::uint64_t streams = 1;       ///< S: sequences with caches of their own
    std::uint64_t n_kv = 0;          ///< cells that the operation sees, padded
    tensor_type cache = tensor_type::f16;
};
attention_shape attention_of(const model& m, tensor_type cache, std::uint64_t tokens, std::uint64_t n_kv,
                             std::uint64_t streams = 1);

struct attention_plan {
    attention_kernel kernel = attention_kernel::matrix;
    std::uint64_t columns = 0, groups = 0;    ///< tile c1 x c2: tokens x query heads of one KV head
    std::uint64_t tiles = 0;                  ///< T
    std::uint64_t blocks = 0;                 ///< stream-k blocks (matrix) or splits of the KV cells (vector, tile)
    bool converts_k = false, converts_v = false;    ///< the cache is converted to f16 first, wherever that lives
    buffer_list buffers = {};                 ///< of the pool: with K_f16 and V_f16 in the pool_fa eras
    std::uint64_t output_bytes = 0;           ///< of the output tensor, which in era::reserved_fa ends with f16 K and V
    std::uint64_t temporary_bytes = 0;        ///< the part of output_bytes for f16 K and V, padding included; else 0
    op_cost cost = {};                        ///< of the attention kernel
    op_cost convert_k_cost = {}, convert_v_cost = {};
    op_cost combine_cost = {};                ///< of the kernel that joins the splits, where there are any
    kernel_class timed_as = kernel_class::attention;
};
/// Flash attention (`fa=on`). For what is reserved at start-up, ask with n_kv of the full cache and tokens = ubatch.
attention_plan plan_attention(const target& t, era e, const attention_shape& a);

/// Without flash attention (`fa=off`): K times Q, and probabilities times V.
matmul_plan plan_scores(const target& t, era e, const attention_shape& a);
matmul_plan plan_values(const target& t, era e, const attention_shape& a);

}  // namespace vrambench::engine
