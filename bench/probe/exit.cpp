// What a process leaves to the driver when it ends: each takes memory in every way there is and ends without giving it back;
// the next ones see what is free when they start.

#include "bench/probe/probes.hpp"
#include "bench/probe/scene.hpp"

namespace vrambench::probing {

namespace {

constexpr const char* id = "release.exit";
constexpr const char* question = "memory after a process ends";
constexpr const char* free_at_start = "free_at_start";
constexpr std::uint64_t left_in_each_way = 256 * MiB;

}  // namespace

void probe_exit(session& s)
{
    s.ask(id, question, [&]() -> answer {
        device& dev = s.dev;
        const std::uint64_t before = settled_free(dev);
        s.need(4 * left_in_each_way);
        dev.malloc(left_in_each_way);
        if (dev.info().has_pools) dev.malloc_async(left_in_each_way, dev.create_pool({}), 0);
        if (const std::uint64_t granularity = dev.info().vmm_granularity) {
            const std::uint64_t bytes = round_up(left_in_each_way, granularity);
            const device_ptr base = dev.reserve(bytes);
            if (const vmm_handle h = dev.create(bytes)) dev.map(base, bytes, h), dev.set_access(base, bytes);
        }
        const std::uint64_t left = before - settled_free(dev);
        return {"asked", level::open, human_size(left) + " left to the driver", {{free_at_start, before}}};
    });
}

finding judge_exit(const std::vector<process_report>& reports)
{
    std::vector<std::uint64_t> starts;
    for (const auto& r : reports)
        for (const auto& f : r.findings)
            if (const auto n = f.found.numbers.find(free_at_start); n != f.found.numbers.end()) starts.push_back(n->second);
    if (starts.size() < 2) return {id, question, {"not asked", level::open, "it takes two processes that answer"}};
    const std::uint64_t least = *std::min_element(starts.begin() + 1, starts.end());
    const std::uint64_t missing = starts.front() > least ? starts.front() - least : 0;
    const std::string evidence = human_size(starts.front()) + " free at the first start, " + human_size(least) +
                                 " or more at the next " + std::to_string(starts.size() - 1);
    if (missing > left_in_each_way / 2) return {id, question, {"stays away", level::broken, evidence}};
    return {id, question, {"comes back", level::fine, evidence}};
}

}  // namespace vrambench::probing
