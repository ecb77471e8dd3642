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

device_error::device_error(driver_call call, int code, std::string name, const std::string& context)
    : std::runtime_error(std::string(to_string(call)) + ": " + name + " (" + std::to_string(code) + "): " + context),
      call_(call), code_(code), name_(std::move(name))
{
}

}  // namespace vrambench
