#pragma once
// How a fake runtime is set: by the environment variable VRAMBENCH_FAKE_RUNTIME when a process first calls it, and by a test
// through `cudaFakeControl` (as if the process began anew) or `cudaFakeArm` (in the middle of things), or hip's. All take
// "key=value;key=value":
//
//   device=SPEC       the simulated device behind it, as --device takes it (sim:h200)
//   devices=N         how many of them there are (1)
//   driver=N          version of the driver, as the runtime numbers it; 0: none (CUDA only)
//   pace=0|1          1: virtual time keeps up with real time and the other way round, so that calls last as long as they say;
//                     0: calls return at once (1)
//   fail=CALL:N:CODE  the N-th call of CALL from now on (1 is the next) answers CODE; with N+ every one from the N-th on does. CALL
//                     is a runtime's name without its prefix (Malloc, MemPoolCreate), "any" for every call; empty: none
//   defects=A+B       what the driver does wrong, by the names of the table below; empty: nothing

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench::fake {

/// A defect that was reported of a driver, and where.
struct defect {
    std::string_view name;
    std::string_view what;
};

inline constexpr defect defects[] = {
    {"threshold-ignored", "a pool's release threshold is accepted and stays 0 (rocm-systems#11690)"},
    {"trim-ignored", "a trim gives nothing back"},
    {"tail-access-refused", "set_access behind the start of a reservation fails while another one exists (rocm-systems#6977)"},
    {"granularity-4k", "4 KiB is stated, and memory that is mapped in less than 2 MiB cannot be opened (rocm-systems#9360)"},
    {"zeros", "with two streams, what is in blocks of a pool at threshold 0 reads as zero after a synchronisation (#10943)"},
    {"pool-hangs", "the first call that concerns pools never returns"},
    {"pool-crashes", "the first call that concerns pools kills the process"},
    {"failure-keeps-memory", "a refused malloc_async keeps what it could get for good (rocm-systems#11642)"},
    {"failure-sticks", "after a refused call every later one fails"},
    {"free-keeps-memory", "raw memory that is freed does not come back"},
    {"release-leaks", "memory of a released handle does not come back (VMM leak, fixed in ROCm 6.4.2)"},
    {"unmap-hits-neighbour", "what is mapped just behind a range that is unmapped loses its contents"},
    {"handle-forgets", "a kept handle that is mapped again has lost its contents"},
    {"malloc-waits", "malloc waits for running kernels"},
    {"malloc-async-waits", "malloc_async waits for running kernels"},
    {"free-async-waits", "free_async waits for running kernels"},
    {"map-waits", "map waits for running kernels, as before ROCm 7.11"},
    {"unmap-waits", "unmap waits for running kernels"},
    {"peer-copy-wrong", "peer access is stated and enabled, and the second half of a copy between devices never arrives"},
};

struct fault {
    std::string call;                ///< empty: none
    std::uint64_t in = 0;            ///< calls until it happens; 0: no more
    bool stays = false;              ///< and from then on
    int code = 0;
};

struct switches {
    std::string device = "sim:h200";
    int devices = 1;
    int driver = -1;                 ///< negative: the runtime's own version
    bool pace = true;
    fault fail;
    std::set<std::string, std::less<>> defects;

    /// Applies "key=value;...". Ends the process with one line on anything that it does not know: a test that sets nothing
    /// would show nothing.
    void apply(std::string_view text);
    bool has(std::string_view defect_name) const { return defects.count(defect_name) != 0; }
};

}  // namespace vrambench::fake
