#include "bench/failure_cause.hpp"

#include "spec/units.hpp"

namespace vrambench {

std::uint64_t free_if_given_back(const failure_scene& scene, const allocator& alloc)
{
    // A list of blocks goes back block by block, each with the physical memory that it was rounded up to; small ones share
    // theirs, and only whole blocks go back.
    const auto blocks = alloc.cached_blocks();
    const auto whole_blocks = [&](std::uint64_t n) { return n / scene.physical_block * scene.physical_block; };
    if (blocks.empty()) return scene.driver_free + whole_blocks(alloc.stats().cached);
    std::uint64_t bytes = scene.driver_free, small = 0;
    for (const auto b : blocks)
        if (b <= scene.shared_up_to)
            small += b;
        else
            bytes += round_up(b, scene.physical_block);
    return bytes + whole_blocks(small);
}

std::uint64_t free_needed(const failure_scene& scene)
{
    return round_up(scene.asked ? scene.asked : scene.wanted, scene.physical_block) + scene.beside;
}

const char* judge_failure(const failure_scene& scene, const allocator& alloc)
{
    if (scene.why == failure::injected) return "injected";
    if (scene.why == failure::address_space) return "address-space";
    if (scene.live + scene.wanted > scene.limit) return "live";
    const allocator_stats s = alloc.stats();
    if (s.cached == 0) return "fragmented";    // nothing is held back: the driver could not or would not
    const std::uint64_t needed = free_needed(scene), reachable = free_if_given_back(scene, alloc);
    if (reachable < needed) return "fragmented";
    return reachable - std::min(s.pending, reachable) < needed ? "pending" : "retained";
}

std::string failure_in_words(const outcome& o)
{
    return "wanted " + human_size(o.wanted_bytes) + " for " + o.tag + ", live " + human_size(o.live_bytes) +
           ", unused by the allocator " + human_size(o.cached_bytes) + ", free " + human_size(o.driver_free_bytes);
}

std::string external_failure_in_words(const outcome& o)
{
    return "an external allocation of " + human_size(o.wanted_bytes) + " failed with " + human_size(o.driver_free_bytes) + " free" +
           (o.cached_bytes ? " while the allocator held " + human_size(o.cached_bytes) + " unused" : "");
}

}  // namespace vrambench
