#pragma once
// What the runner tells a device that checks the allocator: which block was handed out, to which stream, and when it
// came back. The simulated device implements it with its hazard checker.

#include <cstdint>
#include <string>
#include <vector>

namespace vrambench {

/// Something that a GPU would have hidden: memory used by two owners with no order between them, memory given back to the
/// driver under a queued kernel, and so on. `message` names both events and both streams, where there is a second one, and
/// what is missing: an event wait, a synchronisation, a free, a new capture.
struct hazard {
    std::string kind;                        ///< "reuse-before-ordered", "use-after-free", ... (docs/metrics.md lists them)
    std::uint64_t event = 0;                 ///< index of the trace event at which it was found
    std::uint64_t earlier_event = 0;         ///< index of the other event; UINT64_MAX where there is none
    std::string message;
};

class block_observer {
public:
    virtual ~block_observer() = default;

    /// The index of the trace event that is executed now; precedes everything that the event causes.
    virtual void at_event(std::uint64_t index) = 0;
    /// The allocator handed out [pointer, pointer + granted) for block `block` of `bytes` requested bytes on `stream`.
    virtual void allocated(std::uint32_t block, std::uint64_t pointer, std::uint64_t bytes, std::uint64_t granted,
                           std::uint32_t alignment, std::uint32_t stream) = 0;
    /// The block goes back to the allocator with the stated granted size, ordered on `stream`. Called before deallocate.
    virtual void freed(std::uint32_t block, std::uint64_t pointer, std::uint64_t granted, std::uint32_t stream) = 0;
    /// A block that was freed is back with its contents: the same memory, mapped at another address.
    virtual void moved(std::uint32_t block, std::uint64_t pointer, std::uint64_t bytes, std::uint64_t granted,
                       std::uint32_t alignment, std::uint32_t stream)
    {
        allocated(block, pointer, bytes, granted, alignment, stream);
    }
    /// All hazards so far, in the order found (at most the first 100 are kept; `count` goes on).
    virtual const std::vector<hazard>& hazards() const = 0;
    virtual std::uint64_t hazard_count() const = 0;
};

}  // namespace vrambench
