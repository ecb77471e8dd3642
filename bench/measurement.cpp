#include "bench/measurement.hpp"

#include <limits>

namespace vrambench {

const char* to_string(status s)
{
    switch (s) {
    case status::completed: return "completed";
    case status::oom: return "oom";
    case status::starved: return "starved";
    case status::corrupted: return "corrupted";
    case status::unsupported: return "unsupported";
    case status::timeout: return "timeout";
    case status::crashed: return "crashed";
    }
    return "?";
}

void recovery_record::forget_times()
{
    times = {.bytes_given_back = times.bytes_given_back};
    misses_ps = -1;
    steps_before = steps_after = 0;
    steps_before_ps = steps_after_ps = 0;
}

void pass_measurement::forget_times()
{
    const std::uint64_t given_back = recovery.bytes_given_back;
    recovery = {};
    recovery.bytes_given_back = given_back;
    for (recovery_record& r : first_recoveries) r.forget_times();
    alloc = free = {};
    alloc_parts = free_parts = {};
    unsplit_calls = 0;
    activity = {-1, -1, -1};
    for (phase_measurement& p : phases) {
        p.time_ps = 0;
        p.step = {};
    }
    live_byte_ps = reserved_byte_ps = std::numeric_limits<double>::quiet_NaN();
    time_ps = -1;
}

const char* to_string(role r)
{
    switch (r) {
    case role::timed: return "timed";
    case role::memory: return "memory";
    case role::verify: return "verify";
    }
    return "?";
}

}  // namespace vrambench
