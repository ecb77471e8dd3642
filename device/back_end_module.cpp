// The door of a back end that is a module: the only name that load_back_end.cpp looks for.

#include "device/gpu_device.hpp"

extern "C" __attribute__((visibility("default"))) vrambench::gpu::opener* vrambench_back_end() { return vrambench::gpu::VRAMBENCH_VENDOR::open; }
