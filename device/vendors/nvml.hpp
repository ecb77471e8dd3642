#pragma once
// NVIDIA's management library, found at run time: a machine without it, or a container that hides it, is fine. Only what
// reads is declared here; nothing ever changes a setting of the card. The names and numbers are those of its public header,
// whose interface is stable over versions.

#include "device/vendors/clocks.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <string>

namespace vrambench::gpu::nvml {

inline constexpr clock_holder clock_holders[] = {
    {0x001, "idle"},           {0x002, "applications-setting"}, {0x004, "power-cap"},     {0x008, "hardware-slowdown"},
    {0x010, "sync-boost"},     {0x020, "thermal"},              {0x040, "hardware-thermal"}, {0x080, "power-brake"},
    {0x100, "display-setting"},
};

/// The library for one card. Without the library every reading fails.
class management {
public:
    static constexpr const char* library = "libnvidia-ml.so.1";

    management() = default;
    ~management()
    {
        if (shutdown_ && started_) shutdown_();
        if (handle_) dlclose(handle_);
    }
    management(const management&) = delete;
    management& operator=(const management&) = delete;

    /// `bus_id` as the runtime names the card ("0000:0a:00.0"), since the two may count cards differently. False, with the
    /// reason, where the library or the card in it is not there.
    bool load(const char* bus_id)
    {
        handle_ = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (!handle_) return fails("is not on this machine");
        int (*start)() = nullptr;
        int (*by_bus)(const char*, void**) = nullptr;
        const bool found = find("nvmlInit_v2", start) && find("nvmlShutdown", shutdown_) &&
                           find("nvmlDeviceGetHandleByPciBusId_v2", by_bus) && find("nvmlDeviceGetClockInfo", clock_) &&
                           find("nvmlDeviceGetTemperature", temperature_) && find("nvmlDeviceGetPowerUsage", power_) &&
                           (find("nvmlDeviceGetCurrentClocksEventReasons", reasons_) ||
                            find("nvmlDeviceGetCurrentClocksThrottleReasons", reasons_));
        if (!found) return fails("lacks a function");
        if (start() != 0) return fails("does not start");
        started_ = true;
        if (by_bus(bus_id, &card_) != 0) return fails("does not know the card");
        find("nvmlSystemGetDriverVersion", driver_);
        return true;
    }
    bool is_loaded() const { return card_ != nullptr; }
    const char* why_not() const { return why_not_; }

    /// The driver's own version ("580.159"), as its vendor's notes name it; empty where the library does not tell.
    std::string driver() const
    {
        char text[96] = {};    // the library's longest is 80
        return card_ && driver_ && driver_(text, sizeof text - 1) == 0 ? text : "";
    }

    /// False where the clocks or what holds them cannot be read; a card without a sensor reads 0 there.
    bool read(clock_reading* r) const
    {
        constexpr int sm = 1, memory = 2, gpu_sensor = 0;
        unsigned value = 0;
        unsigned long long bits = 0;
        *r = {};
        if (!card_ || clock_(card_, sm, &value) != 0) return false;
        r->sm_mhz = value;
        if (clock_(card_, memory, &value) != 0 || reasons_(card_, &bits) != 0) return false;
        r->memory_mhz = value;
        r->held_by = bits;
        if (temperature_(card_, gpu_sensor, &value) == 0) r->temperature_c = value;
        if (power_(card_, &value) == 0) r->power_mw = value;
        return true;
    }

private:
    bool fails(const char* why)
    {
        why_not_ = why;
        card_ = nullptr;
        return false;
    }
    template <class F> bool find(const char* name, F& f)
    {
        f = reinterpret_cast<F>(dlsym(handle_, name));
        return f != nullptr;
    }

    void* handle_ = nullptr;
    void* card_ = nullptr;
    bool started_ = false;
    const char* why_not_ = "was not asked";
    int (*shutdown_)() = nullptr;
    int (*clock_)(void*, int, unsigned*) = nullptr;
    int (*temperature_)(void*, int, unsigned*) = nullptr;
    int (*power_)(void*, unsigned*) = nullptr;
    int (*driver_)(char*, unsigned) = nullptr;
    int (*reasons_)(void*, unsigned long long*) = nullptr;
};

}  // namespace vrambench::gpu::nvml
