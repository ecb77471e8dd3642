#pragma once
// A model's hyper-parameters, read from JSON: the shipped ones are built in (workloads/models), others are files
// (`model=@FILE.json`). Everything that the traffic depends on, and no weights.

#include "workloads/engine/tensor_type.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vrambench::engine {

/// Every weight matrix that a token is multiplied by.
enum class weight : std::uint8_t {
    q, v, k,                                        ///< attention without compression
    q_a, q_b, kv_a, k_b, v_b,                       ///< compressed attention (MLA); k_b and v_b are one matrix a head
    o,
    gate, up, down,                                 ///< feed-forward of a dense layer
    router, expert_gate, expert_up, expert_down,    ///< mixture of experts
    shared_gate, shared_up, shared_down,            ///< the expert that every token uses
    output,                                         ///< lm_head, once a graph
};
/// "wq", "wkv_a", "exp.gate", "sh.down", "lm_head", ...
const char* to_string(weight w);

/// A matrix as its product sees it.
struct weight_matrix {
    std::uint64_t columns = 0;     ///< K: values of an input row
    std::uint64_t rows = 0;        ///< R: values of an output row
    std::uint64_t channels = 1;    ///< matrices that are applied side by side, one a head: k_b and v_b
    std::uint64_t experts = 0;     ///< 0: not a mixture
    std::uint64_t used = 0;        ///< experts of a token
    tensor_type type = tensor_type::f16;

    std::uint64_t bytes() const;   ///< of the stored weights, all channels or experts
};

/// Mixture of experts; experts = 0: none.
struct expert_shape {
    std::uint64_t experts = 0;
    std::uint64_t used = 0;            ///< by each token
    std::uint64_t width = 0;           ///< of one expert
    std::uint64_t shared_width = 0;    ///< of the shared expert; 0: none
    std::uint64_t dense_layers = 0;    ///< the first layers have a plain feed-forward of `ffn`
};

/// Compressed attention (MLA, absorbed form); query_rank = 0: none.
struct mla_shape {
    std::uint64_t query_rank = 0;      ///< columns of q_b
    std::uint64_t kv_rank = 0;         ///< compressed K and V: the V head of the attention
    std::uint64_t rope = 0;            ///< values of a head with a position, beside the rank
    std::uint64_t nope = 0;            ///< values of a query head without one: columns of k_b
    std::uint64_t value = 0;           ///< values of a head after v_b
};

/// Sliding-window layers; window = 0: none. The last layer of each period is global.
struct window_shape {
    std::uint64_t window = 0;          ///< tokens
    std::uint64_t period = 0;          ///< layers
};

/// Types of the groups of weights.
struct weight_types {
    tensor_type attention = tensor_type::q4_k, per_head = tensor_type::q8_0, ffn = tensor_type::q4_k;
    tensor_type experts = tensor_type::q4_k, shared = tensor_type::q4_k;
    tensor_type output = tensor_type::q4_k, embedding = tensor_type::q4_k;
};

struct model {
    std::string name;
    std::string source;                ///< where the numbers are from, in words
    std::uint64_t layers = 0;
    std::uint64_t width = 0;           ///< E
    std::uint64_t heads = 0;           ///< H, query heads
    std::uint64_t kv_heads = 0;        ///< 1 with compressed attention
    std::uint64_t key_head = 0;        ///< D, values of a K head: kv_rank + rope with compressed attention
    std::uint64_t value_head = 0;      ///< Dv
    std::uint64_t ffn = 0;             ///< F of the dense layers; 0 where there is none
    std::uint64_t vocabulary = 0;
    std::uint64_t trained_context = 0; ///< tokens
    bool tied_output = false;          ///< lm_head is the embedding: its bytes count once
    expert_shape moe;
    mla_shape mla;
    window_shape swa;
    weight_types types;

    bool has_experts(std::uint64_t layer) const { return moe.experts != 0 && layer >= moe.dense_layers; }
    bool is_sliding(std::uint64_t layer) const { return swa.window != 0 && layer % swa.period != swa.period - 1; }
    bool value_is_view() const { return mla.kv_rank != 0; }    ///< V is a part of K: one cache, one conversion
    std::uint64_t sliding_layers() const;                      ///< number of them
};

/// The matrix behind a weight. Throws std::logic_error for one that this model does not have.
weight_matrix matrix_of(const model& m, weight w);

/// Products of a layer in graph order: before the attention (Q, V, K), and from its output on (without the router, whose
/// product takes no pool memory). v_b and o come first of the second list.
std::vector<weight> weights_before_attention(const model& m);
std::vector<weight> weights_after_attention(const model& m, std::uint64_t layer);

/// Bytes of all matrices, routers (f32) and the embedding; norms and biases, well under 0.1 %, are left out.
std::uint64_t weight_bytes(const model& m);

/// Bytes of the KV cache: `cells` in each global layer, `sliding_cells` in each sliding one, both already padded and
/// times the sequences.
std::uint64_t cache_bytes(const model& m, tensor_type cache, std::uint64_t cells, std::uint64_t sliding_cells);

/// Cells of a sliding layer's cache: its window for each sequence of a unified cache and one micro-batch, padded to 256,
/// at most `cells`.
std::uint64_t sliding_cells(const model& m, std::uint64_t cells, std::uint64_t ubatch,
                            std::uint64_t unified_sequences = 1);

/// Parses a model document; `origin` names it in errors. Throws input_error, one line with the key.
model parse_model(std::string_view json, const std::string& origin);

/// The shipped model of that name, or the file after `@`. `key` is what names it in errors. Throws input_error.
model find_model(std::string_view name_or_file, const std::string& key = "model");

/// The built-in models: name and JSON text.
const std::vector<std::pair<std::string, std::string_view>>& built_in_models();

}  // namespace vrambench::engine
