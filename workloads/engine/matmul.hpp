#pragma once
// Matrix products: which kernel ggml takes and what that takes from the pool. Source: ggml's CUDA back end as of
// 2026-08-21 and the recorded tree of 2026-04-21 for era::pool_fa_early.

#include "workloads/engine/buffers.hpp"
#include "workloads/engine/era.hpp"
#include "workloads/engine/model.hpp"
#include "workloads/engine/roofline.hpp"
#include "workloads/engine/target.hpp"

#include <cstdint>

namespace vrambench::engine {

enum class matmul_path : std::uint8_t {
    vector,          ///< MMVQ: quantise, multiply
    matrix,          ///< MMQ: quantise, multiply, and a fixup if there is a buffer for it
    blas,            ///< convert what is not of the compute type, multiply, convert back
    float_kernel,    ///< MMVF, MMF, or a GEMM that needs no conversion: no pool buffers (MMF of experts: ids)
    expert_loop,     ///< copies the ids to the host, synchronises twice, one product for each active expert
};
const char* to_string(matmul_path path);

struct matmul_plan {
    matmul_path path = matmul_path::vector;
    buffer_list buffers = {};
    /// expert_loop: buffers[repeat_from ...] are taken and given back `repeats` times while those before stay; else once.
    std::size_t repeat_from = buffer_list::most;
    std::uint64_t repeats = 1;
    op_cost cost = {};                                     ///< of the multiplication itself
    kernel_class timed_as = kernel_class::vector_product;
};

/// A product of `tokens` rows (all streams together) with a dense matrix.
matmul_plan plan_matmul(const target& t, era e, const weight_matrix& w, std::uint64_t tokens);

/// A product of `tokens` rows with the experts of a mixture. `activation_rows`: 1 for gate and up, where the experts of a
/// token share its row; w.used for down.
matmul_plan plan_expert_matmul(const target& t, era e, const weight_matrix& w, std::uint64_t tokens,
                               std::uint64_t activation_rows);

/// True where gate and up, of one type and shape, are one operation with the buffers of one of them (and twice the cost).
bool gate_up_are_fused(const target& t, const weight_matrix& w, std::uint64_t tokens);

}  // namespace vrambench::engine
