#pragma once
// How HIP's stream-ordered pool, hipMalloc and hipFree decide, release by release, as data. Read from AMD's source (ROCm/clr
// by tag to 6.2.2, release/rocm-rel-6.3.0.1, for 7.x two later file versions; ROCr of August 2025), never measured: nobody
// here has an AMD card. docs/hip-pool.md has the rules in words.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench::sim {

struct hip_rules {
    /// What is done with a free block of more than 9/8 of the request.
    enum class window : std::uint8_t {
        whole_eighths,       ///< never taken; the limit is bytes / 8 * 9 in whole numbers, and blocks are searched by age
        strict,              ///< never taken
        soft,                ///< taken if the stream is safe for it, however large
    };

    std::string name;                        ///< as in `pool=`
    std::string releases;                    ///< that decide so
    std::string confidence;                  ///< "high" or "medium"
    std::string doubt;                       ///< what of it is less sure, or inferred
    window reuse = window::soft;
    bool vm_heap = false;                    ///< memory comes as 32 MiB chunks in address ranges, not as blocks like hipMalloc's
    bool sync_releases = true;               ///< synchronisations give memory back; else only trim does
    bool pressure = true;                    ///< a free gives memory back where more is free than used
    bool event_dependencies = true;          ///< hipStreamWaitEvent makes blocks safe for the waiting stream
    bool keeps_event = true;                 ///< a reused block keeps the event of its last free, and the next free waits for it
    bool map_waits = false;                  ///< mapping a chunk waits for all streams
    bool free_waits_first = true;            ///< hipFree waits for the device before it looks at pressure, not after
    unsigned largest_percent = 85;           ///< of the card's memory, in one allocation
};

const std::vector<hip_rules>& all_hip_rules();

/// Null for a name that is none of theirs ("cuda").
const hip_rules* find_hip_rules(std::string_view name);

}  // namespace vrambench::sim
