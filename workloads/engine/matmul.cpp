#include "workloads/engine/matmul.hpp"

#include "spec/units.hpp"
#include "workloads/engine/blas.hpp"
#include "workloads/engine/kernel_tables.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace vrambench::engine {
namespace {

// Activations are padded to this many values and stored in 8-bit blocks: 36 bytes per 32 values for the vector kernels,
// 144 per 128 for the matrix kernel, or, on Blackwell with 4-bit floats, 144 per 256.
constexpr std::uint64_t padded_values = 512;
constexpr std::uint64_t block_bytes = 144, block_values = 128, fp4_block_values = 256;
constexpr std::uint64_t tile_rows = 128;
constexpr std::uint64_t most_tail_tokens = 512;
constexpr std::uint64_t vector_kernel_tokens = 8;       // MMVQ; for experts on older cards 4 to 8 by type (unsure)
constexpr std::uint64_t float_kernel_tokens = 16;       // MMVF and MMF, or a product that BLAS takes as it is
constexpr std::uint64_t enough_efficiency = 90;         // per cent: from there on tiles are not split

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

bool is_fp4(tensor_type type) { return type == tensor_type::mxfp4 || type == tensor_type::nvfp4; }

bool takes_native_fp4(const target& t, era e, tensor_type type)
{
    return t.family == family::blackwell && is_fp4(type) && e != era::pool_fa_early;
}

std::uint64_t vector_bytes(std::uint64_t rows, std::uint64_t columns)
{
    return rows * round_up(columns, padded_values) * 36 / 32;
}

/// Bytes behind the activation, so that a tile may read past its end. Until 2026-07-13 those of the widest tile.
std::uint64_t tail_bytes(const target& t, era e, const weight_matrix& w, std::uint64_t tokens)
{
    const auto widths = product_widths(t.family, w.rows % tile_rows == 0);
    if (e == era::pool_fa_early) return product_widths(t.family, true).back() * block_bytes;
    const std::uint64_t most = std::min(tokens, most_tail_tokens) / 8 * 8;
    const auto above = std::upper_bound(widths.begin(), widths.end(), most);
    return above == widths.begin() ? 0 : *(above - 1) * block_bytes;
}

std::uint64_t matrix_bytes(const target& t, era e, const weight_matrix& w, std::uint64_t rows, std::uint64_t tail_tokens)
{
    const std::uint64_t values = takes_native_fp4(t, e, w.type) ? fp4_block_values : block_values;
    return rows * round_up(w.columns, padded_values) * block_bytes / values + tail_bytes(t, e, w, tail_tokens);
}

/// The narrowest tile that needs the fewest passes over the tokens.
std::uint64_t tile_width(const target& t, const weight_matrix& w, std::uint64_t tokens)
{
    const auto widths = product_widths(t.family, w.rows % tile_rows == 0);
    const std::uint64_t passes = divide_up(tokens, widths.back());
    return *std::find_if(widths.begin(), widths.end(), [&](std::uint64_t j) { return divide_up(tokens, j) == passes; });
}

/// Bytes of partial tiles; 0: every block has whole tiles. Until 2026-04-24 a block for each multiprocessor in any case.
std::uint64_t fixup_bytes(const target& t, era e, const weight_matrix& w, std::uint64_t tokens)
{
    if (!products_split(t.family)) return 0;
    const std::uint64_t j = tile_width(t, w, tokens);
    const std::uint64_t side_by_side = w.channels * std::max<std::uint64_t>(w.experts, 1);
    const std::uint64_t tiles = divide_up(w.rows, tile_rows) * divide_up(tokens, j) * side_by_side;
    const std::uint64_t blocks = t.multiprocessors;
    const std::uint64_t slots = blocks * divide_up(tiles, blocks);
    const bool may_stay_whole = !is_amd(t.family) && e != era::pool_fa_early;
    if (may_stay_whole && 100 * tiles / slots >= enough_efficiency) return 0;
    return tiles % blocks == 0 ? 0 : 4 * blocks * j * tile_rows;
}

bool is_simple(tensor_type type) { return is_quantised(type) && !is_k_quant(type) && !is_fp4(type); }

/// Whether MMQ takes a quantised matrix that is past the vector kernels; else BLAS does.
bool takes_matrix_kernel(const target& t, const weight_matrix& w, std::uint64_t tokens)
{
    switch (t.family) {
        case family::pascal: return t.compute_capability >= 61;
        case family::volta: return tokens < 64;
        case family::cdna1: case family::cdna2: return w.experts > 64 || tokens <= 128 || is_simple(w.type);
        case family::rdna3:
            return w.experts >= 64 || tokens <= 128 || (w.type != tensor_type::q2_k && w.type != tensor_type::q6_k);
        case family::gcn: return t.architecture == "gfx906" || w.experts != 0;
        default: return true;
    }
}

/// Until 2026-08-20 every quantised type ran on the vector kernels up to the same number of tokens.
std::uint64_t most_vector_tokens(const target& t, era e, const weight_matrix& w)
{
    const bool by_type = w.experts == 0 && is_k_quant(w.type) && e != era::pool_fa_early;
    return by_type ? t.vector_tokens_k_quants : vector_kernel_tokens;
}

bool has_matrix_units(family f)
{
    return is_amd(f) ? is_cdna(f) || f == family::rdna3 || f == family::rdna4 : f != family::pascal;
}

/// The matrix kernel multiplies whole tiles: tokens that fill a tile of each of `matrices` in part cost the whole tile.
std::uint64_t rows_in_tiles(const target& t, const weight_matrix& w, std::uint64_t tokens, std::uint64_t tokens_of_each,
                            std::uint64_t matrices)
{
    return matrices * round_up(tokens_of_each, tile_width(t, w, tokens));
}

/// `rows` products of a vector with one of `matrices` that are read.
op_cost product_cost(const weight_matrix& w, std::uint64_t rows, std::uint64_t matrices)
{
    const std::uint64_t weights = tensor_bytes(w.type, w.columns, w.rows) * matrices;
    return {.flops = 2 * rows * w.columns * w.rows, .bytes = weights + rows * (w.columns * 9 / 8 + w.rows * 4)};
}

matmul_plan vector_plan(const weight_matrix& w, std::uint64_t activation_rows)
{
    matmul_plan p{.path = matmul_path::vector, .timed_as = kernel_class::vector_product};
    p.buffers.add(buffer_kind::y, vector_bytes(activation_rows, w.columns));
    return p;
}

void add_fixup(matmul_plan& p, const target& t, era e, const weight_matrix& w, std::uint64_t tokens)
{
    if (const std::uint64_t bytes = fixup_bytes(t, e, w, tokens); bytes != 0) p.buffers.add(buffer_kind::fixup, bytes);
}

void add_expert_ids(matmul_plan& p, const weight_matrix& w, std::uint64_t tokens)
{
    p.buffers.add(buffer_kind::ids_source, 4 * tokens * w.used);
    p.buffers.add(buffer_kind::ids_target, 4 * tokens * w.used);
    p.buffers.add(buffer_kind::bounds, 4 * (w.experts + 1));
}

matmul_plan matrix_plan(const target& t, era e, const weight_matrix& w, std::uint64_t tokens)
{
    matmul_plan p{.path = matmul_path::matrix, .timed_as = kernel_class::quantised_product};
    const std::uint64_t rows = tokens * w.channels;
    p.buffers.add(buffer_kind::y, matrix_bytes(t, e, w, rows, tokens));
    if (w.type == tensor_type::nvfp4 && takes_native_fp4(t, e, w.type)) p.buffers.add(buffer_kind::y_scale, 4 * rows);
    add_fixup(p, t, e, w, tokens);
    return p;
}

matmul_plan expert_matrix_plan(const target& t, era e, const weight_matrix& w, std::uint64_t tokens,
                               std::uint64_t activation_rows)
{
    matmul_plan p{.path = matmul_path::matrix, .timed_as = kernel_class::quantised_product};
    add_expert_ids(p, w, tokens);
    p.buffers.add(buffer_kind::y, matrix_bytes(t, e, w, tokens * w.used, activation_rows));
    if (w.type == tensor_type::nvfp4 && takes_native_fp4(t, e, w.type))
        p.buffers.add(buffer_kind::y_scale, 4 * tokens * w.used);
    add_fixup(p, t, e, w, tokens);
    return p;
}

/// Experts that work on `tokens` tokens, and the tokens of each, where the router spreads them evenly.
struct spread {
    std::uint64_t experts, tokens;
};
spread spread_evenly(const weight_matrix& w, std::uint64_t tokens)
{
    const std::uint64_t active = std::min(w.experts, tokens * w.used);
    return {active, divide_up(tokens * w.used, active)};
}

matmul_plan expert_loop_plan(const target& t, era e, const weight_matrix& w, std::uint64_t tokens)
{
    matmul_plan p{.path = matmul_path::expert_loop};
    const std::uint64_t rows = tokens * w.used;
    const std::uint64_t value_bytes = is_quantised(w.type) ? 4 : layout_of(w.type).bytes;
    p.buffers.add(buffer_kind::ids_host, 8 * rows);
    p.buffers.add(buffer_kind::sorted_source, rows * w.columns * value_bytes);
    p.buffers.add(buffer_kind::sorted_target, 4 * rows * w.rows);
    const spread s = spread_evenly(w, tokens);
    const matmul_plan one = plan_matmul(t, e, {.columns = w.columns, .rows = w.rows, .type = w.type}, s.tokens);
    p.repeat_from = p.buffers.size();
    p.repeats = s.experts;
    for (const buffer& b : one.buffers) p.buffers.add(b.kind, b.bytes);
    p.timed_as = one.timed_as;
    return p;
}

matmul_plan float_plan(std::uint64_t rows)
{
    return {.path = matmul_path::float_kernel,
            .timed_as = rows <= float_kernel_tokens ? kernel_class::vector_product : kernel_class::float_product};
}

matmul_plan float_expert_plan(const target& t, era e, const weight_matrix& w, std::uint64_t tokens)
{
    if (is_amd(t.family) && tokens <= vector_kernel_tokens) return float_plan(tokens);
    if (!has_matrix_units(t.family) || tokens > (w.rows > 1024 ? 128 : 512)) return expert_loop_plan(t, e, w, tokens);
    matmul_plan p = float_plan(tokens);
    if (tokens > float_kernel_tokens) add_expert_ids(p, w, tokens);
    return p;
}

}  // namespace

const char* to_string(matmul_path path)
{
    static constexpr std::array<const char*, 5> names{"vector", "matrix", "blas", "float", "expert-loop"};
    return names[static_cast<std::size_t>(path)];
}

matmul_plan plan_matmul(const target& t, era e, const weight_matrix& w, std::uint64_t tokens)
{
    matmul_plan p;
    if (!is_quantised(w.type)) {
        p = tokens <= float_kernel_tokens ? float_plan(tokens) : blas_plan(t, w, tokens);
    } else if (tokens <= most_vector_tokens(t, e, w)) {
        p = vector_plan(w, tokens * w.channels);
    } else {
        p = takes_matrix_kernel(t, w, tokens) ? matrix_plan(t, e, w, tokens) : blas_plan(t, w, tokens);
    }
    p.cost = product_cost(w, tokens * w.channels, w.channels);
    if (p.path == matmul_path::matrix)
        p.cost.flops = 2 * w.columns * w.rows * rows_in_tiles(t, w, tokens, tokens, w.channels);
    return p;
}

matmul_plan plan_expert_matmul(const target& t, era e, const weight_matrix& w, std::uint64_t tokens,
                               std::uint64_t activation_rows)
{
    matmul_plan p;
    if (!is_quantised(w.type)) {
        p = float_expert_plan(t, e, w, tokens);
    } else if (tokens <= most_vector_tokens(t, e, w)) {
        p = vector_plan(w, tokens * activation_rows);
    } else {
        p = takes_matrix_kernel(t, w, tokens) ? expert_matrix_plan(t, e, w, tokens, activation_rows)
                                              : expert_loop_plan(t, e, w, tokens);
    }
    const spread s = spread_evenly(w, tokens);
    p.cost = product_cost(w, tokens * w.used, s.experts);
    if (p.path == matmul_path::matrix)
        p.cost.flops = 2 * w.columns * w.rows * rows_in_tiles(t, w, tokens, s.tokens, s.experts);
    return p;
}

bool gate_up_are_fused(const target& t, const weight_matrix& w, std::uint64_t tokens)
{
    return tokens == 1 && is_quantised(w.type) && (is_amd(t.family) || t.compute_capability > 60);
}

}  // namespace vrambench::engine
