#include "bench/traffic_target.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/engine/target.hpp"
#include "workloads/registry.hpp"

namespace vrambench {

namespace {

std::string fact(const device_info& info, const char* key)
{
    const auto found = info.facts.find(key);
    return found == info.facts.end() ? std::string{} : found->second;
}

}  // namespace

std::string card_target(const device_info& info)
{
    try {
        const std::uint64_t count = parse_integer(fact(info, "multiprocessors"), "multiprocessors", 1, 1 << 20);
        return engine::target_text(info.kind == "hip" ? "amd" : "nvidia", fact(info, "architecture"), count,
                                   info.flops_per_second, info.bytes_per_second);
    } catch (const input_error&) {
        return default_target;
    }
}

std::string simulated_target(const std::string& name)
{
    for (const auto& [known, json] : engine::built_in_targets())
        if (known == name) return name;
    return default_target;
}

}  // namespace vrambench
