#pragma once
// What a simulated card is made of and what its driver's calls cost. Read from JSON: the shipped ones are built in
// (device/sim/profiles), others are files (`sim:@FILE.json`). Sizes in bytes; times in nanoseconds in the file, in
// integer picoseconds here.

#include "device/sim/physical_memory.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vrambench::sim {

/// Cost by size: linear between the points in between, constant below the first, the last slope beyond the last.
class cost_curve {
public:
    cost_curve() = default;
    /// Points (bytes, picoseconds), ascending in bytes. At least one.
    explicit cost_curve(std::vector<std::pair<std::uint64_t, std::int64_t>> points);
    /// 0 where there are no points.
    std::int64_t at(std::uint64_t bytes) const;

private:
    std::vector<std::pair<std::uint64_t, std::int64_t>> points_;
};

/// A call in the situations that were seen to differ, by its size.
struct call_cost {
    cost_curve idle;                         ///< the device idle, memory that was just given back
    cost_curve growing;                      ///< the device idle, more memory taken than ever before
    cost_curve loaded;                       ///< kernels queued or running
    std::optional<cost_curve> shared = {};   ///< a small block in memory that others hold: nothing is taken or given back
    std::optional<cost_curve> refused = {};  ///< out of memory, by the bytes that are free
};

/// Prices of a stream-ordered pool's work (pool_work), picoseconds.
struct pool_cost {
    std::int64_t own = 0, completed = 0, other_stream = 0, merged = 0, internal = 0, fail = 0, free = 0, trim = 0;
    std::int64_t map_call = 0;                 ///< once for a call that maps anything
    std::int64_t per_new_chunk = 0, per_remapped = 0, per_mapped = 0, per_released = 0, per_polled = 0;
    std::int64_t per_trimmed = 0;              ///< per_released, of a trim
    std::int64_t stream_gap = 0;               ///< after a free the stream's next kernel starts this much later
};

struct profile {
    std::string name;
    std::string source;                        ///< how it was measured
    std::uint64_t total_bytes = 0;
    std::uint64_t free_bytes = 0;              ///< after the context was made
    std::uint64_t physical_block = 0;          ///< raw allocations occupy multiples of this
    std::uint64_t shared_up_to = 0;            ///< raw requests up to this share one block
    std::uint64_t vmm_granularity = 0;         ///< 0: no virtual memory management
    std::uint64_t raw_margin = 0;              ///< a raw allocation is refused that would leave less than this free,
    std::uint64_t handle_margin = 0;           ///< and a handle
    cleaning memory_cleaning = {};
    std::uint64_t address_space = 0;           ///< that can be reserved
    std::string pool_rules;                    ///< "cuda", or the name of HIP's (hip_rules.hpp)
    bool late_markers = false;                 ///< HIP: when a free is seen to be done (hip_runtime.hpp); no file has it
    bool free_waits = true;                    ///< raw free returns only when the device is idle
    std::uint32_t launch_queue = 0;            ///< launches that a stream can hold before the host blocks
    std::uint64_t flops_per_second = 0, bytes_per_second = 0;

    bool costs_known = true;                   ///< false: all that follow are 0, and no time that comes of it means anything
    std::int64_t work_unit = 0;                ///< a policy's slot or node visited
    std::int64_t launch = 0, launch_latency = 0, kernel_overhead = 0, graph_launch = 0;
    std::int64_t sync = 0, record = 0, wait = 0, memory_info = 0, reserve = 0, unreserve = 0;
    std::int64_t release_mapped = 0;           ///< releasing a handle whose memory stays mapped
    call_cost malloc, free, create, map, set_access, unmap, release;
    pool_cost pool;
};

/// Parses a profile. One without "work_unit_ps", "times_ns", "calls_ns" and "pool_ns" is of a card whose costs nobody knows. `origin` names it in errors. Throws input_error with one clear line.
profile parse_profile(std::string_view json, const std::string& origin);

/// "cuda" and those of HIP's releases.
std::vector<std::string> pool_rule_names();

/// Reads a profile file. Throws input_error.
profile load_profile(const std::string& path);

/// Hash of a profile file's text, 16 hexadecimal digits.
std::string profile_hash(const std::string& path);

/// The built-in profiles: name and JSON text.
const std::vector<std::pair<std::string, std::string_view>>& built_in_profiles();

}  // namespace vrambench::sim
