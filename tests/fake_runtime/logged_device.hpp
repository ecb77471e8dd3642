#pragma once
// Writes down every driver call that is made of a device, in order: "malloc 4194304".

#include "device/forwarding_device.hpp"

#include <string>
#include <vector>

namespace vrambench::test {

class logged_device final : public forwarding_device {
public:
    logged_device(std::unique_ptr<device> inner, std::vector<std::string>& log) : forwarding_device(std::move(inner)), log_(log) {}

    void record(event_id e, stream_id s) override { note(driver_call::record), inner().record(e, s); }
    void wait(event_id e, stream_id s) override { note(driver_call::wait), inner().wait(e, s); }
    void sync_stream(stream_id s) override { note(driver_call::sync), inner().sync_stream(s); }
    void sync_device() override { note(driver_call::sync), inner().sync_device(); }
    device_ptr malloc(std::uint64_t n) override { return note(driver_call::malloc, n), inner().malloc(n); }
    void free(device_ptr p) override { note(driver_call::free), inner().free(p); }
    memory_info query_memory() override { return note(driver_call::memory_info), inner().query_memory(); }
    pool_id create_pool(const pool_settings& s) override { return note(driver_call::pool_create), inner().create_pool(s); }
    void destroy_pool(pool_id p) override { note(driver_call::pool_destroy), inner().destroy_pool(p); }
    void trim_pool(pool_id p, std::uint64_t keep) override { note(driver_call::pool_trim, keep), inner().trim_pool(p, keep); }
    device_ptr malloc_async(std::uint64_t n, pool_id p, stream_id s) override
    {
        return note(driver_call::malloc_async, n), inner().malloc_async(n, p, s);
    }
    void free_async(device_ptr p, stream_id s) override { note(driver_call::free_async), inner().free_async(p, s); }
    device_ptr reserve(std::uint64_t n) override { return note(driver_call::reserve, n), inner().reserve(n); }
    void unreserve(device_ptr p, std::uint64_t n) override { note(driver_call::unreserve, n), inner().unreserve(p, n); }
    vmm_handle create(std::uint64_t n) override { return note(driver_call::create, n), inner().create(n); }
    void map(device_ptr p, std::uint64_t n, vmm_handle h) override { note(driver_call::map, n), inner().map(p, n, h); }
    void set_access(device_ptr p, std::uint64_t n) override { note(driver_call::set_access, n), inner().set_access(p, n); }
    void unmap(device_ptr p, std::uint64_t n) override { note(driver_call::unmap, n), inner().unmap(p, n); }
    void release(vmm_handle h) override { note(driver_call::release), inner().release(h); }
    void launch(stream_id s, std::int64_t ps, std::span<const kernel_access> accesses) override
    {
        note(driver_call::launch), inner().launch(s, ps, accesses);
    }
    void graph_launch(graph_id g, stream_id s) override { note(driver_call::graph_launch), inner().graph_launch(g, s); }

private:
    void note(driver_call call, std::uint64_t bytes = 0) { log_.push_back(std::string(to_string(call)) + " " + std::to_string(bytes)); }

    std::vector<std::string>& log_;
};

}  // namespace vrambench::test
