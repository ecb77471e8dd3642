#include "device/device.hpp"

namespace vrambench {

const char* to_string(driver_call call)
{
    static constexpr const char* names[driver_call_kinds] = {
        "malloc",  "free",      "malloc_async", "free_async", "pool_create", "pool_destroy", "pool_trim",
        "reserve", "unreserve", "create",       "map",        "set_access",  "unmap",        "release",
        "sync",    "record",    "wait",         "launch",     "graph_launch", "memory_info",
    };
    return names[static_cast<std::size_t>(call)];
}

void use_rates(device_info& info, const card_rates& rates)
{
    constexpr std::uint64_t h200_flops = 790'000'000'000'000, h200_bytes = 4'300'000'000'000;
    const auto choose = [&](std::uint64_t measured, const std::string& source, std::uint64_t instead, const char* name, std::uint64_t& to) {
        to = measured ? measured : instead;
        info.facts[name] = measured ? source : (source.empty() ? "not measured" : source) + "; an H200's stands in";
    };
    choose(rates.flops_per_second, rates.flops_source, h200_flops, "flops_source", info.flops_per_second);
    choose(rates.bytes_per_second, rates.bytes_source, h200_bytes, "bytes_source", info.bytes_per_second);
}

device_error::device_error(driver_call call, int code, std::string name, const std::string& context)
    : std::runtime_error(std::string(to_string(call)) + ": " + name + " (" + std::to_string(code) + "): " + context),
      call_(call), code_(code), name_(std::move(name))
{
}

}  // namespace vrambench
