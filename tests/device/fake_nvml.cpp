// Stands for NVIDIA's management library: one card on bus 0000:0a:00.0, with the older name of the call for what holds clocks.

#include <cstring>

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** card)
{
    static int the_card;
    if (std::strcmp(bus_id, "0000:0a:00.0") != 0) return 6;    // not found
    *card = &the_card;
    return 0;
}
int nvmlSystemGetDriverVersion(char* text, unsigned length)
{
    std::strncpy(text, "580.159", length);
    return 0;
}
int nvmlDeviceGetClockInfo(void*, int which, unsigned* mhz)
{
    *mhz = which == 1 ? 1980 : which == 2 ? 3201 : 0;
    return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* degrees)
{
    *degrees = 37;
    return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned*) { return 3; }    // not supported
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits)
{
    *bits = 0x5;
    return 0;
}

}  // extern "C"
