#pragma once
// Products that go through the vendor's BLAS: what is not of the compute type is converted into pool buffers first.

#include "workloads/engine/matmul.hpp"

#include <cstdint>

namespace vrambench::engine {

/// A weight matrix times `tokens` rows of f32 (without the cost).
matmul_plan blas_plan(const target& t, const weight_matrix& w, std::uint64_t tokens);

/// Values of the operands of a batch of products and what decides their conversion.
struct blas_operands {
    std::uint64_t source0 = 0, source1 = 0, target = 0;    ///< values
    tensor_type type0 = tensor_type::f16;                  ///< of the first operand; the others are f32
    tensor_type compute = tensor_type::f16;                ///< f32, f16 or bf16
    std::uint64_t pointers = 0;                            ///< products of a batch that is passed as pointers; else 0
};
matmul_plan blas_plan(const target& t, const blas_operands& o);

}  // namespace vrambench::engine
