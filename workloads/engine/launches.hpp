#pragma once
// The launches of a walk that touch no pool buffer: norms, RoPE, rotations, copies into the cache, gates. How many stand
// before each operation was recorded on an H200 for Llama-3.1-8B and Qwen3-30B-A3B (trees of 2026-04-21 and 2026-08-21); what
// was not recorded follows the nearest recorded layer. docs/workloads/launches.md lists both.

#include "workloads/engine/era.hpp"
#include "workloads/engine/model.hpp"
#include "workloads/engine/roofline.hpp"

#include <cstdint>
#include <vector>

namespace vrambench::engine {

/// Kernels that are no product and no attention.
enum class launch_kind : std::uint8_t {
    norm,              ///< RMS norm with its weight
    add,               ///< residual
    get_rows,          ///< the rows of the requested outputs
    rope,              ///< with the write to the cache where nothing comes between them
    head_norm,         ///< norm of Q or K heads
    rotate,            ///< Q, K, V or the attention's output times a Hadamard matrix: quantised caches
    set_rows,          ///< a write to the cache
    mask,              ///< the mask to f16, once for each kind of layer
    copy,              ///< to a contiguous tensor
    softmax,
    glu,
    route,             ///< router product, softmax, choice of the experts
    sum_experts,       ///< weigh and add what the experts gave
    quantise, fixup, convert, sort_ids, pointers, combine, gather, scatter,    ///< parts of operations with buffers
};
inline constexpr std::size_t launch_kinds = 21;
const char* to_string(launch_kind k);

/// What the launches depend on, beside the operation. Rows and tokens are those of all sequences together.
struct launch_place {
    engine::era era = era::reserved_fa;
    bool flash = true;                 ///< fa=on
    bool rotates = false;              ///< the cache is quantised
    bool compressed = false;           ///< MLA
    bool head_norms = false;           ///< as in the recorded mixture of experts
    std::uint64_t tokens = 0;          ///< of the walk
    std::uint64_t rows = 0;            ///< that reach this layer's feed-forward part: fewer in the last layer
    bool first = false;                ///< layer 0
    bool first_of_kind = false;        ///< first layer with this mask: global or sliding
    bool cut = false;                  ///< rows are cut to the requested outputs before the feed-forward part
};

/// What the layer before, or this layer before lm_head, ends with.
enum class layer_end : std::uint8_t { dense, experts, shared_expert };

std::vector<launch_kind> launches_after_layer(layer_end end, std::uint64_t rows);
/// Before the product with `w`, in graph order. For the first product of a layer after layer 0 and for lm_head:
/// launches_after_layer.
std::vector<launch_kind> launches_before(weight w, const launch_place& p, bool gate_up_fused);
std::vector<launch_kind> launches_before_attention(const launch_place& p);

}  // namespace vrambench::engine
