#pragma once
// The lower line for time: an allocator that knows the whole trace before the clock starts and never asks the driver for
// anything after that. Traces whose frees are last in, first out get a bump stack of the exact size; others a best-fit
// plan of every block's place. One arena a stream, so that reuse is always ordered.

#include "allocators/allocator.hpp"
#include "allocators/byte_counter.hpp"

#include <algorithm>
#include <vector>

namespace vrambench {

class ideal final : public allocator {
public:
    /// A plan holds at most this many allocations (8 bytes each); longer traces that are not LIFO are unsupported.
    static constexpr std::uint64_t longest_plan = std::uint64_t{1} << 24;

    explicit ideal(device& dev) : device_(dev) {}
    ~ideal() override;

    /// Plans the trace and takes the arenas from the driver. Throws unsupported_error for a trace that cannot be planned.
    /// Without enough memory, every allocation fails.
    void prepare(const trace& t, const trace_summary& summary) override;

    allocation allocate(std::uint64_t bytes, std::uint64_t, stream_id stream) override
    {
        arena& a = arenas_[stream];
        if (!a.base) {
            ++failures_;
            return {.why = failure::memory, .asked_bytes = a.bytes, .beside_bytes = device_.info().raw_margin};
        }
        const std::uint64_t granted = (bytes + grain_ - 1) & ~(grain_ - 1);
        std::uint64_t offset = a.top;
        if (!lifo_) {
            offset = a.plan[a.next];
            if (++a.next == a.plan.size()) a.next = 0;    // the trace over again
        }
        a.top += granted;
        a.highest_top = std::max(a.highest_top, a.top);
        return {.pointer = a.base + offset, .granted_bytes = granted, .how = path::hit};
    }

    deallocation deallocate(device_ptr, std::uint64_t granted_bytes, stream_id stream) override
    {
        arenas_[stream].top -= granted_bytes;
        return {};
    }

    void notify(notification what) override;    ///< a pass starts its plan from the first block
    std::uint64_t trim(std::uint64_t) override { return 0; }
    allocator_stats stats() const override;
    allocator_traits traits() const override
    {
        return {.legal_in_capture = true, .can_trim = false};
    }

private:
    struct arena {
        device_ptr base = 0;
        std::uint64_t bytes = 0;
        std::uint64_t top = 0;                  ///< bytes in use; the stack's top when the trace is LIFO
        std::uint64_t highest_top = 0;
        std::vector<std::uint64_t> plan;        ///< offset of the n-th allocation; unused when the trace is LIFO
        std::size_t next = 0;
    };

    void plan_stack(const trace& t, std::uint32_t block_ids);
    void plan_best_fit(const trace& t, const trace_summary& summary);

    device& device_;
    bool lifo_ = true;
    std::uint64_t failures_ = 0;
    std::uint64_t grain_ = 1;                   ///< blocks are rounded up to the trace's largest alignment
    std::vector<arena> arenas_;
};

}  // namespace vrambench
