#include "bench/costs/cost_probe.hpp"

#include "spec/units.hpp"

#include <array>

namespace vrambench::costs {

namespace {

/// Powers of four from 256 B to a quarter of what is free, and 2 MiB, the block of many drivers.
std::vector<std::uint64_t> sizes_up_to(std::uint64_t most, bool quick)
{
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t s = 256; s <= most; s *= 4) {
        sizes.push_back(s);
        if (s == MiB && 2 * MiB <= most) sizes.push_back(2 * MiB);
    }
    if (quick) {
        constexpr std::array kept{4 * KiB, 2 * MiB, 64 * MiB, GiB};
        const std::uint64_t largest = sizes.empty() ? 0 : sizes.back();
        const auto dropped = [&](std::uint64_t s) { return s != largest && std::find(kept.begin(), kept.end(), s) == kept.end(); };
        std::erase_if(sizes, dropped);
    }
    return sizes;
}

void describe_device(cost_probe& p)
{
    device_info info = p.dev.info();
    if (const auto rates = p.dev.measure_rates()) use_rates(info, *rates);
    const memory_info memory = p.dev.query_memory();
    p.report.words = {{"kind", info.kind}, {"name", info.name}, {"spec", info.spec}};
    p.report.words["simulated"] = info.simulated ? "yes" : "no";
    for (const auto& [key, value] : info.facts) p.report.words.emplace(key, value);
    p.report.facts = {{"total_bytes", info.total_bytes},         {"free_bytes", memory.free_bytes},
                      {"physical_block", info.physical_block},   {"shared_up_to", info.shared_up_to},
                      {"vmm_granularity", info.vmm_granularity}, {"flops_per_second", info.flops_per_second},
                      {"bytes_per_second", info.bytes_per_second}};
    p.sizes = sizes_up_to(memory.free_bytes / 4, p.quick);
}

}  // namespace

stopwatch::stopwatch(const host_clock& clock) : clock_(clock)
{
    std::vector<std::int64_t> costs(1001);
    for (auto& c : costs) {
        const std::int64_t begin = clock_.now_ps();
        c = clock_.now_ps() - begin;
    }
    std::nth_element(costs.begin(), costs.begin() + 500, costs.end());
    cost_ps_ = costs[500];
}

cost_probe::cost_probe(device& d, bool be_quick) : dev(d), quick(be_quick), watch(d.clock()) {}

std::uint32_t cost_probe::repetitions(std::uint64_t bytes) const
{
    const std::uint32_t n = bytes <= 2 * MiB ? 21 : bytes <= 256 * MiB ? 11 : bytes <= 4 * GiB ? 5 : 3;
    return quick ? std::max(n / 3, 3u) : n;
}

void cost_probe::rest(std::uint64_t bytes)
{
    if (bytes < 16 * MiB) return;
    constexpr std::int64_t least_ps = 1'000'000'000;
    dev.launch(0, least_ps + static_cast<std::int64_t>(bytes) * 10 / 3, {});    // 300 GB/s; an H200 cleans 560
    dev.sync_stream(0);
}

void cost_probe::attempt(const char* part, const std::function<void()>& measure)
{
    try {
        measure();
    } catch (const unsupported_error& e) {
        report.notes.push_back(std::string(part) + " was not measured: " + e.what());
    } catch (const device_error& e) {
        report.notes.push_back(std::string(part) + " was not measured: " + e.what());
    }
}

cost_report measure_costs(device& dev, bool quick)
{
    cost_probe p(dev, quick);
    dev.set_streams(2);
    describe_device(p);
    p.rest(64 * GiB);    // a process before this one may have left memory that is not clean yet

    p.attempt("growing calls", [&] { measure_growth(p); });
    measure_calls(p);
    measure_launches(p);
    measure_pool(p);
    p.attempt("work_unit", [&] { measure_policy_work(p); });
    measure_full_card(p);
    return std::move(p.report);
}

}  // namespace vrambench::costs
