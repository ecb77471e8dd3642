#pragma once
// Types of weights and caches as GGUF files name them, with the bytes of a block of values.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench::engine {

enum class tensor_type : std::uint8_t {
    f32, f16, bf16, q4_0, q4_1, q5_0, q5_1, q8_0, q2_k, q3_k, q4_k, q5_k, q6_k, mxfp4, nvfp4,
};

struct tensor_layout {
    std::string_view name;
    std::uint32_t values;    ///< of a block
    std::uint32_t bytes;     ///< of a block
};
const tensor_layout& layout_of(tensor_type type);

/// True for block formats, false for f32, f16 and bf16.
bool is_quantised(tensor_type type);
/// True for the formats with super-blocks of 256 values, q2_k to q6_k.
bool is_k_quant(tensor_type type);

/// Bytes of `rows` rows of `columns` values; a started block counts as a whole one.
std::uint64_t tensor_bytes(tensor_type type, std::uint64_t columns, std::uint64_t rows);

/// The names, as typed in model files.
const std::vector<std::string>& tensor_type_names();
/// Throws input_error "WHAT: unknown type 'X', did you mean 'Y'?".
tensor_type parse_tensor_type(std::string_view name, std::string_view what);

}  // namespace vrambench::engine
