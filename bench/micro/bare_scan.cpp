#include "bench/micro/bare_scan.hpp"

namespace vrambench::micro {

int bare_scan(const scan_table& table, std::uint64_t bytes)
{
    int best = -1;
    std::uint64_t best_waste = std::uint64_t{64} << 30;
    for (int i = 0; i < static_cast<int>(table.size()); ++i) {
        const scan_slot& s = table[i];
        if (!s.pointer || s.bytes < bytes) continue;
        const std::uint64_t waste = s.bytes - bytes;
        if (waste >= best_waste) continue;
        best = i;
        best_waste = waste;
        if (waste == 0) break;
    }
    return best;
}

}  // namespace vrambench::micro
