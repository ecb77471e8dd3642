#pragma once
// The yardstick for the list pool's hit: nothing but ggml's loop over 256 (pointer, size) pairs, without a pool around it.

#include <array>
#include <cstdint>

namespace vrambench::micro {

struct scan_slot {
    std::uint64_t pointer = 0;    ///< 0: empty
    std::uint64_t bytes = 0;
};
using scan_table = std::array<scan_slot, 256>;

/// Index of the smallest block of at least `bytes`, the lowest among equals, ending at an exact fit; -1 if there is none.
/// In a file of its own, so that it is compiled as the pool's loop is: a call, not inlined, nothing known of the table.
int bare_scan(const scan_table& table, std::uint64_t bytes);

}  // namespace vrambench::micro
