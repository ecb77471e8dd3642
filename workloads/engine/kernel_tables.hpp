#pragma once
// What ggml's kernel tables say by architecture: tile widths of the quantised product, block sizes and launch bounds of the
// attention kernels. Source: ggml's CUDA back end as of 2026-08-21. Architectures that the tables do not name take the
// nearest that they do.

#include "workloads/engine/target.hpp"

#include <cstdint>
#include <span>

namespace vrambench::engine {

/// Tile widths J of the quantised product, ascending. Fewer exist where a matrix's rows are no multiple of 128.
std::span<const std::uint64_t> product_widths(family f, bool whole_tiles);

/// True where the quantised product can split along K (stream-k) and then needs a fixup buffer.
bool products_split(family f);

struct attention_tuning {
    std::uint64_t rows = 0;         ///< nb: KV cells that a block takes at a time
    std::uint64_t occupancy = 0;    ///< blocks resident on a multiprocessor
};
/// `key_head` D, tile `columns` c1 x `groups` c2. The occupancy is the target's measured one where there is one.
attention_tuning tuning_of(const target& t, era e, attention_kernel kernel, std::uint64_t key_head, std::uint64_t columns,
                           std::uint64_t groups, tensor_type cache);

}  // namespace vrambench::engine
