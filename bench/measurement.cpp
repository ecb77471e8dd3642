#include "bench/measurement.hpp"

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
