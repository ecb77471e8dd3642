#pragma once
// A deterministic simulated GPU: virtual host clock, one timeline per stream, a launch queue that blocks the host,
// physical memory in the driver's own steps, stream-ordered pools, virtual memory. The same calls give the same answers
// and the same virtual times on any machine.
//
// Time is integer picoseconds. A call first advances the host by its price (profile), then takes effect.

#include "device/device.hpp"
#include "device/sim/activity_meter.hpp"
#include "device/sim/hazard_checker.hpp"
#include "device/sim/hip_runtime.hpp"
#include "device/sim/physical_memory.hpp"
#include "device/sim/profile.hpp"
#include "device/sim/raw_heap.hpp"
#include "device/sim/stream_order.hpp"
#include "device/sim/stream_pool.hpp"
#include "device/sim/virtual_memory.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace vrambench::sim {

class sim_device final : public device {
public:
    /// `free_bytes`: what a memory query says before anything is allocated; at most the profile's.
    sim_device(profile p, std::string canonical_spec, std::uint64_t free_bytes, bool check_hazards);
    ~sim_device() override;

    const device_info& info() const override { return info_; }

    void set_streams(std::uint32_t n) override;
    void record(event_id event, stream_id stream) override;
    void wait(event_id event, stream_id stream) override;
    void sync_stream(stream_id stream) override;
    void sync_device() override;

    device_ptr malloc(std::uint64_t bytes) override;
    void free(device_ptr pointer) override;
    memory_info query_memory() override;

    pool_id create_pool(const pool_settings& settings) override;
    void destroy_pool(pool_id pool) override;
    pool_id default_pool() override;
    void set_threshold(pool_id pool, std::uint64_t bytes) override;
    void trim_pool(pool_id pool, std::uint64_t keep_bytes) override;
    pool_usage usage(pool_id pool) override;
    device_ptr malloc_async(std::uint64_t bytes, pool_id pool, stream_id stream) override;
    void free_async(device_ptr pointer, stream_id stream) override;

    device_ptr reserve(std::uint64_t bytes) override;
    void unreserve(device_ptr pointer, std::uint64_t bytes) override;
    vmm_handle create(std::uint64_t bytes) override;
    void map(device_ptr pointer, std::uint64_t bytes, vmm_handle handle) override;
    void set_access(device_ptr pointer, std::uint64_t bytes) override;
    void unmap(device_ptr pointer, std::uint64_t bytes) override;
    void release(vmm_handle handle) override;

    void launch(stream_id stream, std::int64_t picoseconds, std::span<const kernel_access> accesses) override;
    void copy(device_ptr to, device_ptr from, std::uint64_t bytes) override;
    void capture_begin(stream_id stream) override;
    void capture_end(stream_id stream, graph_id graph) override;
    void graph_launch(graph_id graph, stream_id stream) override;

    device_activity activity() override { return meter_.read(now_); }
    void reset_activity() override { meter_.reset(now_); }
    std::int64_t busy_until_ps() const override;
    std::int64_t busy_within_ps(std::int64_t begin, std::int64_t end) override;
    std::uint64_t lowest_free_bytes() const override
    {
        const std::uint64_t lowest = memory_.lowest_free_bytes();
        return hip_ ? hip_->heap().whole_blocks(lowest) : lowest;    // as query_memory() says it
    }
    void reset_low_water() override
    {
        memory_.reset_low_water();
        highest_used_ = std::max(highest_used_, used_bytes());
    }
    block_observer* observer() override { return checker_.get(); }

private:
    struct pool_slot;          ///< a pool, its address range and its link to the hazard checker
    /// What makes pools give memory up at the moment, for the hazard checker's reports.
    struct pool_call {
        memory_loss how = memory_loss::destroy;
        const pool_slot* by = nullptr;       ///< other pools give up for this one
    };
    struct queued_launches;    ///< ring of when a stream's last launches ran
    struct captured_launch {
        std::int64_t picoseconds;
        std::vector<kernel_access> accesses;
    };

    std::uint64_t used_bytes() const { return start_free_ - memory_.free_bytes(); }
    void forbid_in_capture(driver_call call) const;
    void spend(std::int64_t picoseconds) { now_ += picoseconds; }
    bool loaded() const { return busy_until_ps() > now_; }
    std::int64_t price(const call_cost& cost, std::uint64_t bytes, bool growing) const;
    std::int64_t price(const pool_work& work) const;
    /// Memory that was never taken before costs more than memory that was just given back.
    bool would_grow(std::uint64_t bytes) const { return used_bytes() + bytes > highest_used_; }
    /// Out of memory: by what is free where the profile knows that, else as if it had been served.
    std::int64_t refusal_price(const call_cost& cost, std::uint64_t bytes, bool growing) const;
    /// Of a raw call; `takes`: it takes memory of the device or gives some back.
    std::int64_t raw_price(const call_cost& cost, std::uint64_t bytes, bool growing, bool takes) const;
    /// Lets the time pass that requests have to wait until memory is clean.
    void spend_cleaning() { spend(memory_.take_wait_ps()); }
    void spend_release(std::uint64_t dropped_bytes);
    void wait_for_room(stream_id stream);
    void after_sync(const knowledge* known);
    std::int64_t execute(stream_id stream, std::int64_t ready, std::int64_t picoseconds);    ///< when it starts
    pool_slot& slot(pool_id pool);
    std::uint32_t release_all_pools();
    // Raw memory: CUDA's heap, or ROCr's.
    device_ptr take_raw(std::uint64_t bytes);
    std::uint64_t raw_extent(device_ptr pointer) const { return hip_ ? hip_->heap().extent(pointer) : heap_.extent(pointer); }
    void free_raw(device_ptr pointer);
    void wait_for_device();

    profile profile_;
    device_info info_;
    std::int64_t now_ = 0;
    std::uint64_t start_free_;
    std::uint64_t highest_used_ = 0;
    physical_memory memory_;
    stream_order order_;
    raw_heap heap_;
    std::optional<hip_runtime> hip_;                         ///< where pools follow HIP's rules; raw memory does, too
    virtual_memory virtual_;
    activity_meter meter_;
    std::unique_ptr<hazard_checker> checker_;
    pool_call pool_call_;
    std::vector<stream_pool*> pools_;                        ///< what pools know of each other
    std::vector<std::unique_ptr<pool_slot>> pool_slots_;     ///< by pool_id; null once destroyed
    std::optional<pool_id> default_pool_;
    std::vector<queued_launches> queues_;
    std::optional<stream_id> capturing_;
    std::vector<captured_launch> capture_;
    std::vector<std::vector<captured_launch>> graphs_;
};

}  // namespace vrambench::sim
