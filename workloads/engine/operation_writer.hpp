#pragma once
// Writes the operations of a graph that take buffers: matrix products and attention. Each buffer is filled by a kernel of its
// own once it is there, then the kernel that the operation is named after runs, then all are given back.

#include "workloads/engine/buffers.hpp"
#include "workloads/engine/matmul.hpp"
#include "workloads/engine/segment_writer.hpp"
#include "workloads/engine/walk.hpp"

#include <cstdint>
#include <span>

namespace vrambench::engine {

/// Writes nothing that the session leaves out of its traces.
class operation_writer {
public:
    operation_writer(const session& s, segment_writer& out) : s_(s), out_(out) {}

    /// `weights_read`: 2 where gate and up are one operation.
    void product(weight w, std::uint64_t rows, std::uint64_t weights_read = 1);
    /// `tokens` of each sequence.
    void attention(std::uint64_t tokens, std::uint64_t n_kv);

private:
    void operation(site s, std::span<const buffer> buffers, kernel_class c, const op_cost& cost);
    operand_list fill(site s, std::span<const buffer> buffers, operand_list& results);
    void expert_loop(site s, const matmul_plan& plan, const op_cost& cost);
    void flash_attention(const attention_shape& a);
    void plain_attention(const attention_shape& a);

    const session& s_;
    segment_writer& out_;
};

}  // namespace vrambench::engine
