#pragma once
// How long a kernel runs on a target: a fixed part and the larger of flops over a share of the matrix rate and bytes over a
// share of the bandwidth. The shares are in roofline.cpp, with the measurements that they were fitted to;
// docs/workloads/kernel-times.md says how far they miss others.

#include "workloads/engine/target.hpp"

#include <cstdint>

namespace vrambench::engine {

struct op_cost {
    std::uint64_t flops = 0;    ///< two for a multiply and add
    std::uint64_t bytes = 0;    ///< device memory read plus written

    friend constexpr op_cost operator+(op_cost a, op_cost b) { return {a.flops + b.flops, a.bytes + b.bytes}; }
    friend bool operator==(const op_cost&, const op_cost&) = default;
};

enum class kernel_class : std::uint8_t {
    quantised_product,    ///< MMQ
    float_product,        ///< BLAS and MMF
    vector_product,       ///< MMVQ, MMVF
    attention,            ///< many rows: bound by the matrix rate
    attention_vector,     ///< one or two rows: bound by reading the cache
    attention_vector_quantised,    ///< the same, and by decoding it
    elementwise,          ///< norms, RoPE, copies, quantise, convert, combine, fixup
};
inline constexpr std::size_t kernel_classes = 7;
const char* to_string(kernel_class c);

/// What a class of kernels attains.
struct attained {
    std::uint64_t flops_share = 0;    ///< of the target's matrix rate, in thousandths
    std::uint64_t bytes_share = 0;    ///< of its bandwidth, in thousandths
    std::uint64_t fixed_ns = 0;       ///< of every kernel, whatever its size
};
const attained& attained_by(kernel_class c);

/// Nanoseconds of one kernel, at least 1. Integer arithmetic throughout: the same on every compiler.
std::int64_t nanoseconds(const target& t, kernel_class c, const op_cost& cost);

}  // namespace vrambench::engine
