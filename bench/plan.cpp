#include "bench/plan.hpp"

namespace vrambench {

const char* to_string(run_mode m)
{
    switch (m) {
    case run_mode::eager: return "eager";
    case run_mode::graph: return "graph";
    }
    return "?";
}

const char* to_string(kernel_model k)
{
    switch (k) {
    case kernel_model::hold: return "hold";
    case kernel_model::traffic: return "traffic";
    }
    return "?";
}

const char* to_string(verify_level v)
{
    switch (v) {
    case verify_level::off: return "off";
    case verify_level::sample: return "sample";
    case verify_level::full: return "full";
    }
    return "?";
}

}  // namespace vrambench
