// In the program, a back end that is a module: opens the module when the first device of the vendor is asked for, since the vendor's
// runtime library may not be there and takes its time to load. The module brings its own copy of what it needs, and C++ on Linux
// tells classes by their names, so that what it throws is caught here by type.

#include "device/gpu_device.hpp"
#include "spec/errors.hpp"

#include <dlfcn.h>

namespace vrambench::gpu::inline VRAMBENCH_VENDOR {

namespace {

/// The module stays loaded: devices and what they throw are made of it.
opener* load(const std::string& spec)
{
    const auto refuse = [&] {
        const char* const why = ::dlerror();
        throw input_error("no device " + in_quotes(spec) + ": " + printable(why ? why : VRAMBENCH_MODULE) +
                          " (--device sim:h200 needs none)");
    };
    void* const module = ::dlopen(VRAMBENCH_MODULE, RTLD_NOW | RTLD_LOCAL);    // found beside the program: $ORIGIN
    if (!module) refuse();
    void* const door = ::dlsym(module, "vrambench_back_end");
    if (!door) refuse();
    return reinterpret_cast<opener* (*)()>(door)();
}

}  // namespace

std::unique_ptr<device> open(int ordinal, const std::string& spec, const device_options& options, volatile std::uint8_t* current_call)
{
    static opener* const loaded = load(spec);
    return loaded(ordinal, spec, options, current_call);
}

}  // namespace vrambench::gpu
