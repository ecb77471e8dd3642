#pragma once
// Plans as short text, for comparison with worked tables: "ids_src1 16384, Y 9437184, FX 8650752"; "-" for none.

#include "workloads/engine/attention.hpp"
#include "workloads/engine/matmul.hpp"

#include <gtest/gtest.h>

#include <string>

namespace vrambench::engine {

inline std::string text_of(const buffer_list& buffers)
{
    std::string out;
    for (const buffer& b : buffers)
        out += (out.empty() ? "" : ", ") + std::string(to_string(b.kind)) + " " + std::to_string(b.bytes);
    return out.empty() ? "-" : out;
}

/// The product of a model's weight with `tokens` rows, dense or with experts.
inline matmul_plan product(const model& m, const target& t, era e, weight w, std::uint64_t tokens)
{
    const weight_matrix x = matrix_of(m, w);
    if (x.experts == 0) return plan_matmul(t, e, x, tokens);
    return plan_expert_matmul(t, e, x, tokens, w == weight::expert_down ? x.used : 1);
}

inline std::string product_text(const model& m, const target& t, era e, weight w, std::uint64_t tokens)
{
    return text_of(product(m, t, e, w, tokens).buffers);
}

}  // namespace vrambench::engine
