#pragma once
// A device around another one that leaves every call to it. Adaptors derive from it and override what they change.

#include "device/device.hpp"

#include <memory>
#include <utility>

namespace vrambench {

class forwarding_device : public device {
public:
    explicit forwarding_device(std::unique_ptr<device> inner) : inner_(std::move(inner)) { clock_ = inner_->clock(); }

    const device_info& info() const override { return inner_->info(); }
    void settle() override { inner_->settle(); }
    void set_streams(std::uint32_t n) override { inner_->set_streams(n); }
    void record(event_id event, stream_id stream) override { inner_->record(event, stream); }
    void wait(event_id event, stream_id stream) override { inner_->wait(event, stream); }
    void sync_stream(stream_id stream) override { inner_->sync_stream(stream); }
    void sync_device() override { inner_->sync_device(); }
    device_ptr malloc(std::uint64_t bytes) override { return inner_->malloc(bytes); }
    void free(device_ptr pointer) override { inner_->free(pointer); }
    memory_info query_memory() override { return inner_->query_memory(); }
    pool_id create_pool(const pool_settings& settings) override { return inner_->create_pool(settings); }
    void destroy_pool(pool_id pool) override { inner_->destroy_pool(pool); }
    pool_id default_pool() override { return inner_->default_pool(); }
    void set_threshold(pool_id pool, std::uint64_t bytes) override { inner_->set_threshold(pool, bytes); }
    void trim_pool(pool_id pool, std::uint64_t keep_bytes) override { inner_->trim_pool(pool, keep_bytes); }
    pool_usage usage(pool_id pool) override { return inner_->usage(pool); }
    device_ptr malloc_async(std::uint64_t bytes, pool_id pool, stream_id stream) override
    {
        return inner_->malloc_async(bytes, pool, stream);
    }
    void free_async(device_ptr pointer, stream_id stream) override { inner_->free_async(pointer, stream); }
    device_ptr reserve(std::uint64_t bytes) override { return inner_->reserve(bytes); }
    void unreserve(device_ptr pointer, std::uint64_t bytes) override { inner_->unreserve(pointer, bytes); }
    vmm_handle create(std::uint64_t bytes) override { return inner_->create(bytes); }
    void map(device_ptr pointer, std::uint64_t bytes, vmm_handle handle) override { inner_->map(pointer, bytes, handle); }
    void set_access(device_ptr pointer, std::uint64_t bytes) override { inner_->set_access(pointer, bytes); }
    void unmap(device_ptr pointer, std::uint64_t bytes) override { inner_->unmap(pointer, bytes); }
    void release(vmm_handle handle) override { inner_->release(handle); }
    void launch(stream_id stream, std::int64_t picoseconds, std::span<const kernel_access> accesses) override
    {
        inner_->launch(stream, picoseconds, accesses);
    }
    void copy(device_ptr to, device_ptr from, std::uint64_t bytes) override { inner_->copy(to, from, bytes); }
    peer_trial try_peer(int to, int from, std::uint64_t bytes) override { return inner_->try_peer(to, from, bytes); }
    void capture_begin(stream_id stream) override { inner_->capture_begin(stream); }
    void capture_end(stream_id stream, graph_id graph) override { inner_->capture_end(stream, graph); }
    void graph_launch(graph_id graph, stream_id stream) override { inner_->graph_launch(graph, stream); }
    device_activity activity() override { return inner_->activity(); }
    void reset_activity() override { inner_->reset_activity(); }
    std::int64_t busy_until_ps() const override { return inner_->busy_until_ps(); }
    std::int64_t busy_within_ps(std::int64_t begin, std::int64_t end) override { return inner_->busy_within_ps(begin, end); }
    std::optional<card_condition> condition() override { return inner_->condition(); }
    std::optional<card_rates> measure_rates() override { return inner_->measure_rates(); }
    std::uint64_t lowest_free_bytes() const override { return inner_->lowest_free_bytes(); }
    void reset_low_water() override { inner_->reset_low_water(); }
    block_observer* observer() override { return inner_->observer(); }
    driver_call_counts calls() const override { return inner_->calls(); }
    driver_call_counts refused_calls() const override { return inner_->refused_calls(); }
    bool refused_on_purpose() const override { return inner_->refused_on_purpose(); }

protected:
    device& inner() { return *inner_; }
    const device& inner() const { return *inner_; }

private:
    std::unique_ptr<device> inner_;
};

}  // namespace vrambench
