#include "device/host_clock.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace vrambench {

namespace {

#if defined(__x86_64__)
bool counter_is_invariant()
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & (1u << 8)) != 0;
}

struct reading {
    std::uint64_t tick;
    std::int64_t ns;
};

/// Both clocks at one moment: the reading of the steady clock that the counter brackets most tightly out of a few.
reading read_both()
{
    reading best{};
    std::uint64_t tightest = UINT64_MAX;
    for (int i = 0; i < 16; ++i) {
        unsigned cpu;
        const std::uint64_t before = __rdtscp(&cpu);
        const auto t = std::chrono::steady_clock::now().time_since_epoch();
        const std::uint64_t after = __rdtscp(&cpu);
        if (after - before >= tightest) continue;
        tightest = after - before;
        best = {before + (after - before) / 2, std::chrono::duration_cast<std::chrono::nanoseconds>(t).count()};
    }
    return best;
}

double measure_ps_per_tick()
{
    const reading begin = read_both();
    reading end = begin;
    while (end.ns - begin.ns < 20'000'000) end = read_both();
    return static_cast<double>(end.ns - begin.ns) * 1000.0 / static_cast<double>(end.tick - begin.tick);
}
#endif

}  // namespace

host_clock host_clock::counter()
{
    host_clock c;
#if defined(__x86_64__)
    static const double ps_per_tick = counter_is_invariant() ? measure_ps_per_tick() : 0.0;
    static const std::uint64_t first = __rdtsc();
    c.ps_per_tick_ = ps_per_tick;
    c.first_tick_ = first;
#endif
    return c;
}

}  // namespace vrambench
