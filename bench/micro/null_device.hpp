#pragma once
// A device that costs nothing: addresses come from a counter, nothing is checked, no clock runs. What is left of an
// allocator's call on it is the policy's own time on the host.

#include "device/device.hpp"

namespace vrambench::micro {

class null_device : public device {
public:
    null_device()
    {
        info_.kind = info_.name = info_.spec = "null";
        info_.total_bytes = std::uint64_t{1} << 60;
        info_.vmm_granularity = std::uint64_t{2} << 20;
    }

    const device_info& info() const override { return info_; }

    void set_streams(std::uint32_t) override {}
    void record(event_id, stream_id) override {}
    void wait(event_id, stream_id) override {}
    void sync_stream(stream_id) override {}
    void sync_device() override {}

    device_ptr malloc(std::uint64_t bytes) override { return address(bytes); }
    void free(device_ptr) override {}
    memory_info query_memory() override { return {info_.total_bytes, info_.total_bytes}; }

    pool_id create_pool(const pool_settings&) override { return 0; }
    void destroy_pool(pool_id) override {}
    pool_id default_pool() override { return 0; }
    void set_threshold(pool_id, std::uint64_t) override {}
    void trim_pool(pool_id, std::uint64_t) override {}
    pool_usage usage(pool_id) override { return {}; }
    device_ptr malloc_async(std::uint64_t bytes, pool_id, stream_id) override { return address(bytes); }
    void free_async(device_ptr, stream_id) override {}

    device_ptr reserve(std::uint64_t bytes) override { return address(bytes); }
    void unreserve(device_ptr, std::uint64_t) override {}
    vmm_handle create(std::uint64_t) override { return 1; }
    void map(device_ptr, std::uint64_t, vmm_handle) override {}
    void set_access(device_ptr, std::uint64_t) override {}
    void unmap(device_ptr, std::uint64_t) override {}
    void release(vmm_handle) override {}

    void launch(stream_id, std::int64_t, std::span<const kernel_access>) override {}
    void capture_begin(stream_id) override {}
    void capture_end(stream_id, graph_id) override {}
    void graph_launch(graph_id, stream_id) override {}
    device_activity activity() override { return {}; }
    void reset_activity() override {}

private:
    device_ptr address(std::uint64_t bytes)
    {
        const device_ptr p = next_;
        next_ += (bytes + 511) & ~std::uint64_t{511};
        return p;
    }

    device_info info_;
    device_ptr next_ = 512;
};

}  // namespace vrambench::micro
