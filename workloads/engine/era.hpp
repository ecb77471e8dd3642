#pragma once
// The three trees whose traffic differs (llama.cpp with its ggml). What changed between them is decided where it matters,
// in matmul.cpp and attention.cpp; this is only the name.

#include <cstdint>

namespace vrambench::engine {

enum class era : std::uint8_t {
    pool_fa_early,    ///< to 2026-04-24: f16 K and V in the pool, a fixup for each product, the largest tail in every Y
    pool_fa_late,     ///< 2026-04-25 to 2026-06-02, as calculated: the sizes of reserved_fa, with f16 K and V in the pool
    reserved_fa,      ///< since 2026-06-03: f16 K and V are planned with the attention's output tensor
};

}  // namespace vrambench::engine
