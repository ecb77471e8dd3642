#include "bench/metrics.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

namespace vrambench {

namespace {

constexpr std::array table{
    metric_info{"added_ns_per_token", "ns", better::lower,
                "time beyond the reference's, per token (per step, unit ns/step, where a trace has no tokens); paired"},
    metric_info{"slowdown", "ratio", better::lower, "time over the reference's; paired by repetition"},
    metric_info{"step_ns", "ns", better::lower, "duration of one step, by phase"},
    metric_info{"pp_tokens_per_s", "tokens/s", better::higher, "prefill rate; modelled, since compute time is"},
    metric_info{"tg_tokens_per_s", "tokens/s", better::higher, "decode rate; modelled, since compute time is"},
    metric_info{"alloc_ns", "ns", better::lower, "duration of one allocation, by the path that served it"},
    metric_info{"free_ns", "ns", better::lower, "duration of one deallocation: hit (kept) or driver (given back)"},
    metric_info{"unsplit_calls", "calls", better::none, "calls above the threshold of the split into drain and idle without one"},
    metric_info{"device_idle_ns", "ns", better::lower, "time inside the trace in which no kernel runs"},
    metric_info{"stall_ns", "ns", better::lower, "device_idle_ns beyond the reference's; paired by repetition"},
    metric_info{"host_bound", "share", better::lower, "share of device time with an empty launch queue"},
    metric_info{"overrun_share", "share", better::lower, "share of kernels with a stated time whose memory traffic outlasted it (a GPU)"},
    metric_info{"peak_live_bytes", "bytes", better::none, "largest sum of requested bytes alive, as executed"},
    metric_info{"max_live_bytes", "bytes", better::none, "the same of the trace alone: no allocator can peak lower"},
    metric_info{"peak_reserved_bytes", "bytes", better::lower,
                "largest sum of bytes asked of the driver and not given back, in the allocator's own units"},
    metric_info{"peak_device_bytes", "bytes", better::lower, "the same as the driver sees it: free before minus lowest free"},
    metric_info{"device_bloat", "ratio", better::lower, "peak_device_bytes over max_live_bytes"},
    metric_info{"end_reserved_bytes", "bytes", better::lower, "bytes kept after the last event"},
    metric_info{"idle_reserved_bytes", "bytes", better::lower, "bytes kept at the end of each idle phase: a list, the floor after each turn"},
    metric_info{"byte_seconds_ratio", "ratio", better::lower, "integral of reserved bytes over integral of live bytes"},
    metric_info{"driver_calls", "calls", better::lower, "successful driver calls of each kind up to the last event"},
    metric_info{"oom", "events", better::lower, "failures, recoveries, flushes and evictions, with their bytes and times"},
};

}  // namespace

const char* to_string(better b)
{
    switch (b) {
    case better::lower: return "lower";
    case better::higher: return "higher";
    case better::none: return "none";
    }
    return "?";
}

std::span<const metric_info> metrics() { return table; }

const metric_info& metric(std::string_view name)
{
    const auto found = std::find_if(table.begin(), table.end(), [&](const metric_info& m) { return m.name == name; });
    if (found == table.end()) throw std::logic_error("no metric is named '" + std::string(name) + "'");
    return *found;
}

}  // namespace vrambench
