#include "workloads/engine/kernel_tables.hpp"

#include <array>
#include <bit>
#include <cstddef>

namespace vrambench::engine {
namespace {

using widths = std::span<const std::uint64_t>;

// One row for each tile area c1 * c2 of 2, 4, 8, 16, 32 and 64.
using tuning_row = std::array<attention_tuning, 6>;
constexpr attention_tuning none{64, 2};    // an area that no kernel of the table has

constexpr tuning_row matrix_to_128{{none, none, {128, 2}, {64, 2}, {64, 2}, {64, 2}}};
constexpr tuning_row matrix_to_256{{none, none, {64, 4}, {32, 4}, {32, 2}, {32, 2}}};
constexpr tuning_row matrix_above{{none, none, {32, 4}, {32, 4}, {32, 2}, {32, 1}}};
constexpr tuning_row matrix_rdna_64{{none, none, {64, 2}, {64, 2}, {64, 2}, {64, 2}}};
constexpr tuning_row matrix_rdna_128{{none, none, {32, 2}, {32, 2}, {64, 2}, {64, 2}}};
constexpr tuning_row matrix_cdna_64{{none, none, {64, 1}, {64, 2}, {64, 2}, {64, 4}}};
constexpr tuning_row matrix_cdna_128{{none, none, {64, 2}, {64, 2}, {64, 2}, {64, 2}}};

constexpr tuning_row tile_64{{{32, 3}, {64, 3}, {32, 2}, {128, 2}, {64, 2}, {64, 2}}};
constexpr tuning_row tile_128{{{128, 2}, {64, 2}, {64, 2}, {64, 2}, {64, 2}, {64, 2}}};
constexpr tuning_row tile_above{{none, {64, 2}, {64, 2}, {64, 2}, {128, 1}, {128, 1}}};
constexpr tuning_row tile_rdna_64{{{32, 8}, {32, 8}, {128, 5}, {128, 5}, {64, 4}, {64, 5}}};
constexpr tuning_row tile_rdna_128{{{32, 8}, {64, 8}, {64, 8}, {128, 3}, {128, 3}, {64, 3}}};
constexpr tuning_row tile_rdna_above{{none, {64, 2}, {64, 2}, {64, 4}, {128, 2}, {128, 2}}};

const tuning_row& matrix_row(family f, std::uint64_t head)
{
    if (is_rdna(f)) return head <= 64 ? matrix_rdna_64 : matrix_rdna_128;
    if (is_cdna(f)) return head <= 64 ? matrix_cdna_64 : matrix_cdna_128;
    if (head <= 128) return matrix_to_128;
    return head <= 256 ? matrix_to_256 : matrix_above;
}

const tuning_row& tile_row(family f, std::uint64_t head)
{
    if (is_rdna(f)) return head <= 64 ? tile_rdna_64 : head <= 256 ? tile_rdna_128 : tile_rdna_above;
    return head <= 64 ? tile_64 : head <= 256 ? tile_128 : tile_above;
}

attention_tuning by_table(const target& t, attention_kernel kernel, std::uint64_t head, std::uint64_t area)
{
    if (kernel == attention_kernel::vector) return {head, 1};
    const tuning_row& row = kernel == attention_kernel::matrix ? matrix_row(t.family, head) : tile_row(t.family, head);
    return row[static_cast<std::size_t>(std::countr_zero(area)) - 1];
}

bool fits(const measured_occupancy& o, era e, attention_kernel kernel, std::uint64_t head, std::uint64_t columns,
          std::uint64_t groups, tensor_type cache)
{
    return o.kernel == kernel && o.key_head == head && (!o.early_only || e == era::pool_fa_early) &&
           (o.columns == 0 || (o.columns == columns && o.groups == groups)) &&
           (o.any_cache || o.quantised_cache == is_quantised(cache));
}

}  // namespace

widths product_widths(family f, bool whole_tiles)
{
    static constexpr std::array<std::uint64_t, 11> nvidia{8, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128};
    static constexpr std::array<std::uint64_t, 5> nvidia_part{8, 16, 32, 64, 128};
    if (f == family::rdna3 || f == family::rdna4) {
        static constexpr std::array<std::uint64_t, 8> rdna3{16, 32, 48, 64, 80, 96, 112, 128};
        return whole_tiles ? widths(rdna3) : widths(nvidia_part).subspan(1);
    }
    if (is_cdna(f)) {
        static constexpr std::array<std::uint64_t, 4> cdna{16, 32, 48, 64};
        static constexpr std::array<std::uint64_t, 3> cdna_part{16, 32, 64};
        return whole_tiles ? widths(cdna) : widths(cdna_part);
    }
    const bool to_64 = is_amd(f) || f == family::pascal;
    if (!whole_tiles) return widths(nvidia_part).first(to_64 ? 4 : 5);
    return widths(nvidia).first(to_64 ? 7 : 11);
}

bool products_split(family f) { return is_amd(f) ? is_cdna(f) : f != family::pascal; }

attention_tuning tuning_of(const target& t, era e, attention_kernel kernel, std::uint64_t key_head, std::uint64_t columns,
                           std::uint64_t groups, tensor_type cache)
{
    attention_tuning tuning = by_table(t, kernel, key_head, columns * groups);
    for (const measured_occupancy& o : t.occupancies) {
        if (!fits(o, e, kernel, key_head, columns, groups, cache)) continue;
        tuning.occupancy = o.blocks;
        break;
    }
    return tuning;
}

}  // namespace vrambench::engine
