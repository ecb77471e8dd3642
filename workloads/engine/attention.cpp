#include "workloads/engine/attention.hpp"

#include "spec/units.hpp"
#include "workloads/engine/kernel_tables.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace vrambench::engine {
namespace {

constexpr std::uint64_t cell_padding = 256;
constexpr std::uint64_t tensor_alignment = 128;            // of a CUDA back end's compute buffer, bytes
constexpr std::uint64_t masked_tokens = 1024;              // from here on the mask's last cells are searched for

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

bool is_turing_or_newer(family f) { return !is_amd(f) && f >= family::turing; }

/// Query heads of a KV head can share a tile.
bool shares_heads(const attention_shape& a) { return a.heads / a.kv_heads >= 2 && a.n_kv % cell_padding == 0; }

bool vector_takes(const attention_shape& a)
{
    return a.key_head <= 256 && a.key_head % 64 == 0 && a.key_head != 192 && a.n_kv % cell_padding == 0;
}

/// g2: the largest power of two that divides the query heads of a KV head, capped by the kernels that exist.
std::uint64_t power_of_two_groups(const attention_shape& a)
{
    const std::uint64_t most = a.key_head == 320 ? 32 : a.key_head == 192 || a.key_head == 576 ? 16 : 8;
    const std::uint64_t g = a.heads / a.kv_heads;
    return std::min(std::uint64_t{1} << std::countr_zero(g), most);
}

attention_kernel choose_on_turing_or_newer(const target& t, const attention_shape& a)
{
    const bool ada_or_newer = t.compute_capability >= 89;
    const std::uint64_t g = a.heads / a.kv_heads;
    bool vector = a.tokens == 1 && !shares_heads(a);
    if (is_quantised(a.cache)) vector |= a.tokens <= (ada_or_newer ? 2 : 1);
    else vector |= ada_or_newer && a.tokens == 1 && a.streams == 1 && !(g > 4 && a.n_kv >= 8192);
    return vector && vector_takes(a) ? attention_kernel::vector : attention_kernel::matrix;
}

attention_kernel choose_on_volta(const attention_shape& a)
{
    const std::uint64_t rows = a.tokens * power_of_two_groups(a);
    if (vector_takes(a) && rows <= 2) return attention_kernel::vector;
    return rows <= 16 ? attention_kernel::tile : attention_kernel::matrix;
}

bool amd_takes_matrix(const target& t, const attention_shape& a)
{
    const std::uint64_t rows = a.tokens * power_of_two_groups(a);
    if (is_cdna(t.family) && a.key_head <= 256) return rows > (a.key_head <= 64 ? 8 : a.key_head <= 128 ? 16 : 64);
    if (t.family == family::rdna3 || t.family == family::rdna4) return shares_heads(a) && a.key_head <= 128 && rows > 8;
    return false;
}

attention_kernel choose_kernel(const target& t, const attention_shape& a)
{
    const bool odd_head = a.key_head == 40 || a.key_head == 72;
    if (is_turing_or_newer(t.family) && !odd_head) return choose_on_turing_or_newer(t, a);
    if (t.family == family::volta && !odd_head) return choose_on_volta(a);
    if (!odd_head && amd_takes_matrix(t, a)) return attention_kernel::matrix;
    const bool vector = is_quantised(a.cache) ? a.tokens <= 2 : a.tokens == 1 && !shares_heads(a);
    return vector && vector_takes(a) ? attention_kernel::vector : attention_kernel::tile;
}

struct tile {
    std::uint64_t columns, groups;
};

/// The smallest of the areas (powers of two from `least` to `most`) whose columns hold all tokens, else the largest.
tile smallest_tile(std::uint64_t tokens, std::uint64_t groups, std::uint64_t least, std::uint64_t most)
{
    std::uint64_t area = std::max(least, groups);
    while (area < most && tokens > area / groups) area *= 2;
    return {area / groups, groups};
}

std::uint64_t matrix_groups(const target& t, const attention_shape& a)
{
    const std::uint64_t g = a.heads / a.kv_heads;
    if (a.key_head == 576) return g % 16 == 0 ? 16 : 4;
    if (a.key_head == 192) return g % 16 == 0 ? 16 : 8;
    if (a.key_head == 320) return 32;
    if (!shares_heads(a)) return 1;
    if (t.family == family::volta) return power_of_two_groups(a);
    return g > 4 ? 8 : g > 2 ? 4 : 2;
}

tile matrix_tile(const target& t, const attention_shape& a)
{
    const std::uint64_t groups = matrix_groups(t, a);
    const bool narrow = is_turing_or_newer(t.family) && groups <= 8;
    const bool half = t.family == family::turing || (is_amd(t.family) && a.key_head > 256);
    return smallest_tile(a.tokens, groups, narrow ? 8 : groups <= 16 ? 16 : 32, half ? 32 : 64);
}

tile tile_tile(const target& t, const attention_shape& a)
{
    const std::uint64_t g = a.heads / a.kv_heads;
    const std::uint64_t most = is_amd(t.family) && a.key_head <= 128 ? 64 : 32;
    if (a.key_head == 576) return smallest_tile(a.tokens, g % 16 == 0 ? 16 : 4, 2, most);
    const bool ungrouped = !is_amd(t.family) && g <= 4 && a.value_head <= 256 && a.tokens > 16;
    return smallest_tile(a.tokens, ungrouped || !shares_heads(a) ? 1 : power_of_two_groups(a), 2, most);
}

tile choose_tile(const target& t, attention_kernel kernel, const attention_shape& a)
{
    switch (kernel) {
        case attention_kernel::matrix: return matrix_tile(t, a);
        case attention_kernel::tile: return tile_tile(t, a);
        case attention_kernel::vector: break;
    }
    return {a.tokens == 1 ? std::uint64_t{1} : std::uint64_t{2}, 1};
}

/// Blocks of the matrix kernel. Few multiprocessors would idle in whole tiles: then a block takes a share of all tiles
/// (stream-k), rounded to whole tiles where that loses at most 5 %.
std::uint64_t stream_k_blocks(const target& t, std::uint64_t tiles, std::uint64_t kv_tiles, std::uint64_t occupancy)
{
    const std::uint64_t most = occupancy * t.multiprocessors;
    const bool always = is_amd(t.family) || t.compute_capability >= 89;
    if (!always && 100 * tiles >= 75 * most * divide_up(tiles, most)) return tiles;
    const std::uint64_t raw = std::min(most, kv_tiles * tiles);
    const std::uint64_t rounded = raw / tiles * tiles;
    return rounded != 0 && 100 * (raw - rounded) / raw <= 5 ? rounded : raw;
}

/// Splits of the KV cells, vector and tile kernels: the first number of splits that fills the device best, until it is
/// 95 % full and more would take another wave.
std::uint64_t split_count(const target& t, std::uint64_t tiles, std::uint64_t kv_tiles, std::uint64_t occupancy)
{
    const std::uint64_t slots = t.multiprocessors * occupancy;
    const std::uint64_t first = std::min(occupancy, kv_tiles);
    std::uint64_t best = first, best_efficiency = 0, best_waves = 0;
    for (std::uint64_t splits = first; splits <= kv_tiles; ++splits) {
        const std::uint64_t waves = divide_up(tiles * splits, slots);
        const std::uint64_t efficiency = 100 * tiles * splits / (waves * slots);
        if (best_efficiency >= 95 && waves > best_waves) break;
        if (efficiency <= best_efficiency) continue;
        best = splits;
        best_efficiency = efficiency;
        best_waves = waves;
    }
    return best;
}

std::uint64_t k_bytes(const attention_shape& a) { return 2 * a.key_head * a.n_kv * a.kv_heads * a.streams; }
std::uint64_t v_bytes(const attention_shape& a) { return 2 * a.value_head * a.n_kv * a.kv_heads * a.streams; }
std::uint64_t rows_of(const attention_shape& a) { return a.heads * a.tokens * a.streams; }

void add_split_buffers(attention_plan& p, const attention_shape& a)
{
    if (p.kernel == attention_kernel::matrix) {
        if (p.tiles % p.blocks != 0)
            p.buffers.add(buffer_kind::partial_meta, p.blocks * p.columns * p.groups * (16 + 4 * a.value_head));
    } else if (p.blocks > 1) {
        p.buffers.add(buffer_kind::partial, 4 * p.blocks * a.value_head * rows_of(a));
        p.buffers.add(buffer_kind::partial_meta, 8 * p.blocks * rows_of(a));
    }
}

void add_buffers(attention_plan& p, era e, const attention_shape& a)
{
    if (e != era::reserved_fa && p.converts_k) p.buffers.add(buffer_kind::k_f16, k_bytes(a));
    if (e != era::reserved_fa && p.converts_v) p.buffers.add(buffer_kind::v_f16, v_bytes(a));
    if (a.n_kv % cell_padding == 0 && (a.tokens >= masked_tokens || a.streams > 1))
        p.buffers.add(buffer_kind::kv_max, 4 * divide_up(a.tokens, p.columns) * a.streams);
    add_split_buffers(p, a);
}

void plan_output(attention_plan& p, era e, const attention_shape& a)
{
    const std::uint64_t result = 4 * a.value_head * rows_of(a);
    p.output_bytes = result;
    if (e != era::reserved_fa) return;
    if (p.converts_k) p.output_bytes = round_up(p.output_bytes, tensor_alignment) + k_bytes(a);
    if (p.converts_v) p.output_bytes = round_up(p.output_bytes, tensor_alignment) + v_bytes(a);
    p.temporary_bytes = p.output_bytes - result;
}

std::uint64_t cached_bytes(const attention_shape& a, std::uint64_t head)
{
    return tensor_bytes(a.cache, head * a.kv_heads, 1) * a.n_kv * a.streams;
}

/// Two flops for each query value and cell; capped where a context beyond any machine would not fit 64 bits.
std::uint64_t attention_flops(const attention_shape& a)
{
    const auto flops = static_cast<unsigned __int128>(2 * rows_of(a) * (a.key_head + a.value_head)) * a.n_kv;
    return flops > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(flops);
}

/// Converting reads the cache and writes f16, which the kernel reads; without it the kernel reads the cache.
void plan_costs(attention_plan& p, const attention_shape& a)
{
    const std::uint64_t k = cached_bytes(a, a.key_head), v = a.value_is_view ? 0 : cached_bytes(a, a.value_head);
    const std::uint64_t v_read = a.value_is_view ? 0 : p.converts_v ? v_bytes(a) : v;
    if (p.converts_k) p.convert_k_cost = {.bytes = k + k_bytes(a)};
    if (p.converts_v) p.convert_v_cost = {.bytes = v + v_bytes(a)};
    const std::uint64_t split = p.buffers.empty() ? 0 : p.buffers[p.buffers.size() - 1].bytes;
    p.combine_cost = {.bytes = p.kernel == attention_kernel::matrix ? split : split * a.value_head / 2};
    p.cost = {.flops = attention_flops(a),
              .bytes = (p.converts_k ? k_bytes(a) : k) + v_read + 4 * rows_of(a) * (a.key_head + a.value_head)};
    if (p.kernel == attention_kernel::vector)
        p.timed_as = is_quantised(a.cache) ? kernel_class::attention_vector_quantised : kernel_class::attention_vector;
}

}  // namespace

attention_shape attention_of(const model& m, tensor_type cache, std::uint64_t tokens, std::uint64_t n_kv,
                             std::uint64_t streams)
{
    return {.heads = m.heads,
            .kv_heads = m.kv_heads,
            .key_head = m.key_head,
            .value_head = m.value_head,
            .value_is_view = m.value_is_view(),
            .tokens = tokens,
            .streams = streams,
            .n_kv = n_kv,
            .cache = cache};
}

attention_plan plan_attention(const target& t, era e, const attention_shape& a)
{
    attention_plan p{.kernel = choose_kernel(t, a)};
    const tile shape = choose_tile(t, p.kernel, a);
    p.columns = shape.columns;
    p.groups = shape.groups;
    const attention_tuning tuning = tuning_of(t, e, p.kernel, a.key_head, p.columns, p.groups, a.cache);
    p.tiles = divide_up(a.tokens, p.columns) * divide_up(a.heads / a.kv_heads, p.groups) * a.kv_heads * a.streams;
    const std::uint64_t kv_tiles = divide_up(a.n_kv, tuning.rows);
    p.blocks = p.kernel == attention_kernel::matrix ? stream_k_blocks(t, p.tiles, kv_tiles, tuning.occupancy)
                                                    : split_count(t, p.tiles, kv_tiles, tuning.occupancy);
    p.converts_k = p.kernel == attention_kernel::vector ? a.cache == tensor_type::f32 : a.cache != tensor_type::f16;
    p.converts_v = p.converts_k && !a.value_is_view;
    add_buffers(p, e, a);
    plan_output(p, e, a);
    plan_costs(p, a);
    return p;
}

}  // namespace vrambench::engine
