#pragma once
// Finds what a GPU would hide: happens-before over streams, events and host synchronisations, against every use of
// memory by kernels. A hazard is judged by order alone, never by whether the virtual clock happened to be kind.
//
// Order: operation m of stream t is before operation n of stream s when s waited for an event recorded after m (also
// through other streams), when the host learned that m was done (a synchronisation, a driver's poll) before it issued n,
// or when the driver made s wait for t.

#include "device/device.hpp"
#include "device/observer.hpp"
#include "device/sim/hazard_loss.hpp"
#include "device/sim/stream_order.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace vrambench::sim {

class hazard_checker final : public block_observer {
public:
    static constexpr std::size_t least_lessons = 1024;
    /// What streams learned is sifted once there are more than `sift_above` lessons; 0: at every wait, for tests.
    explicit hazard_checker(std::uint32_t streams, std::size_t sift_above = least_lessons);
    ~hazard_checker() override;

    // From the runner.
    void at_event(std::uint64_t index) override;
    void allocated(std::uint32_t block, std::uint64_t pointer, std::uint64_t bytes, std::uint64_t granted,
                   std::uint32_t alignment, std::uint32_t stream) override;
    void freed(std::uint32_t block, std::uint64_t pointer, std::uint64_t granted, std::uint32_t stream) override;
    std::uint64_t current_event() const;
    const std::vector<hazard>& hazards() const override;
    std::uint64_t hazard_count() const override;

    // From the device. `m` is the operation's mark on its stream (stream_order).
    void set_streams(std::uint32_t n);
    void launched(std::uint32_t stream, mark m, std::span<const kernel_access> accesses);
    /// A launch out of a replayed graph: addresses were baked in at capture, so blocks may have been freed since. The
    /// memory must still be there, must not be a block's that was handed out after the capture, and must not be in
    /// another owner's unordered use.
    void replayed(std::uint32_t stream, mark m, std::span<const kernel_access> accesses);
    void recorded(event_id event, std::uint32_t stream, mark m);
    /// `m` may be left out (0): then the wait is taken to follow the stream's last operation that was heard of here. It
    /// matters only to observed() and depends() with marks between the two.
    void waited(event_id event, std::uint32_t stream, mark m = 0);
    void synced_stream(std::uint32_t stream, mark m);        ///< m: the stream's last operation
    void synced_device();
    void observed(std::uint32_t stream, mark m);             ///< the host side saw that these are done
    /// The driver made `stream` wait, with its operation `at` (0: as for waited()), for operation `m` of `on`.
    void depends(std::uint32_t stream, std::uint32_t on, mark m, mark at = 0);
    /// Device memory appears at [pointer, pointer + bytes) / is taken away.
    void memory_obtained(device_ptr pointer, std::uint64_t bytes);
    void memory_returned(device_ptr pointer, std::uint64_t bytes, memory_loss how);

    /// Address ranges remembered: memory that exists, live blocks and freed memory whose uses may still be queued.
    std::size_t tracked_ranges() const;
    /// What streams knew at former operations, as far as it is remembered; bounded by the ranges and the blocks.
    std::size_t remembered_lessons() const;

private:
    class state;
    std::unique_ptr<state> state_;
};

}  // namespace vrambench::sim
