#include "bench/costs/cost_probe.hpp"

#include "allocators/allocator.hpp"
#include "allocators/list_pool.hpp"

namespace vrambench::costs {

/// Per slot of a list pool with 256 cached blocks of mixed sizes, none an exact fit: every request scans them all. No driver
/// call is made, so on a card this is the host's own time; on the simulator, what it charges.
void measure_policy_work(cost_probe& p)
{
    constexpr std::uint64_t slots = 256, step = 4096;
    list_pool pool(p.dev);
    std::vector<allocation> blocks;
    for (std::uint64_t i = 0; i < slots; ++i) {
        blocks.push_back(pool.allocate((2 + i * 97 % slots) * step, 256, 0));
        if (!blocks.back().pointer) throw unsupported_error("too little memory for 256 cached blocks");
    }
    for (const auto& b : blocks) pool.deallocate(b.pointer, b.granted_bytes, 0);

    constexpr std::uint64_t scans = 64;
    samples per_scan;
    for (std::uint32_t i = 0; i < p.repetitions(0); ++i) {
        std::uint64_t visited = 0;
        std::int64_t sum = 0;
        for (std::uint64_t k = 0; k < scans; ++k) {
            allocation a;
            sum += p.watch.time([&] {
                a = pool.allocate(step, 256, 0);
                p.dev.charge(a.work);
            });
            visited += a.work;
            pool.deallocate(a.pointer, a.granted_bytes, 0);
        }
        per_scan.push_back(sum / static_cast<std::int64_t>(visited));
    }
    p.report.add("work_unit", per_scan);
}

}  // namespace vrambench::costs
