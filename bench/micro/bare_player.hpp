#pragma once
// Plays a trace and measures nothing: the calls of the allocator, the launches and the synchronisations, with what they need
// (blocks by id), and not a clock reading, histogram or byte account more. The yardstick for the runner's own cost.

#include "allocators/allocator.hpp"
#include "bench/kernel_clock.hpp"
#include "workloads/trace.hpp"

#include <vector>

namespace vrambench::micro {

class bare_player {
public:
    /// Throws input_error for a trace with graphs or external allocations.
    bare_player(const trace& t, const trace_summary& summary, device& dev, allocator& alloc);

    /// One pass, from the first event until the device is idle. Throws input_error where the allocator runs out of memory.
    void play();

private:
    struct block {
        device_ptr pointer = 0;
        std::uint64_t granted = 0, bytes = 0;
    };
    void execute(const event& e, const event_batch& batch);
    void allocate(const event& e);
    void launch(const event& e, const event_batch& batch);

    const trace& trace_;
    device& device_;
    allocator& allocator_;
    kernel_clock kernels_;
    bool needs_accesses_;
    std::vector<block> blocks_;
    std::vector<kernel_access> accesses_;
};

}  // namespace vrambench::micro
