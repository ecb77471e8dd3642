#pragma once
// The cards of a fake runtime: what both facades (CUDA and HIP) call. Statuses are the vendors' numbers, which are the same in
// both for what is used here. One process, one thread at a time.

#include "device/device.hpp"
#include "tests/fake_runtime/backing.hpp"
#include "tests/fake_runtime/host_kernels.hpp"
#include "tests/fake_runtime/switches.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace vrambench::fake {

inline constexpr int out_of_memory = 2, invalid_value = 1, no_device = 100, invalid_device = 101, illegal_access = 700,
                     not_supported = 801, no_host_kernel = 500,
                     peer_already_enabled = 704, peer_not_enabled = 705;

/// A call that a driver refuses.
struct refused {
    int code;
};

/// One simulated card with real memory behind its addresses.
class card {
public:
    card(const switches& how, std::vector<std::string>& log);

    const device_info& info() const { return device_->info(); }
    std::uint64_t stated_granularity(bool smallest) const;

    // Streams (0 is the null stream) and events.
    stream_id create_stream();
    void destroy_stream(stream_id s);
    void sync_stream(stream_id s);
    void sync_device();
    event_id create_event();
    void destroy_event(event_id e);
    void record(event_id e, stream_id s);
    void wait(event_id e, stream_id s);

    // Memory. 0 is out of memory; what a driver calls an error is thrown as `refused` or device_error.
    std::uint64_t malloc(std::uint64_t bytes);
    void free(std::uint64_t p);
    memory_info query();
    pool_id create_pool();
    void destroy_pool(pool_id p);
    pool_id default_pool();
    void set_threshold(pool_id p, std::uint64_t bytes);
    pool_usage usage(pool_id p);
    void trim(pool_id p, std::uint64_t keep);
    std::uint64_t malloc_async(std::uint64_t bytes, pool_id p, stream_id s);
    void free_async(std::uint64_t p, stream_id s);
    std::uint64_t reserve(std::uint64_t bytes);
    void unreserve(std::uint64_t p, std::uint64_t bytes);
    vmm_handle create(std::uint64_t bytes);
    void map(std::uint64_t p, std::uint64_t bytes, vmm_handle h);
    void set_access(std::uint64_t p, std::uint64_t bytes);
    void unmap(std::uint64_t p, std::uint64_t bytes);
    void release(vmm_handle h);

    // Kernels and graphs.
    void launch(std::unique_ptr<host_kernel> k, stream_id s);
    void capture_begin(stream_id s);
    graph_id capture_end(stream_id s);
    void graph_launch(graph_id g, stream_id s);
    void instantiate(graph_id g) { ++graphs_.at(g).holders; }       ///< the executable form holds it too
    void drop_graph(graph_id g);
    bool is_capturing() const { return capturing_.has_value(); }

    /// Before and after each call: virtual time and real time keep up with each other.
    void catch_up();
    void last_as_long();
    /// What a program made and has not given back, one word each.
    std::string alive() const;
    /// The error that ends everything on this card; 0: none yet.
    int broken() const { return broken_; }
    void break_for_good(int code) { broken_ = code; }
    /// Access to memory of another card; false where it was enabled, or not, before.
    bool enable_peer(int ordinal) { return peers_.insert(ordinal).second; }
    bool disable_peer(int ordinal) { return peers_.erase(ordinal) != 0; }
    bool may_touch(std::uint64_t p, std::uint64_t bytes) const { return accessible_.covers(p, bytes); }

private:
    struct raw_block {
        host_range memory;
        device_ptr simulated;
    };
    struct pool_state {
        host_range memory;
        device_ptr simulated = 0;            ///< where its range begins; 0: no block yet
        std::uint64_t threshold = 0;
        std::map<std::uint64_t, std::uint64_t> blocks;    ///< bytes by host address
    };
    struct reservation {
        host_range memory;
        device_ptr simulated;
    };
    struct handle_state {
        std::uint64_t offset, bytes;
        int mappings = 0;
        bool released = false;
    };
    struct mapping {
        std::uint64_t bytes;
        vmm_handle handle;
    };
    using launches = std::vector<std::unique_ptr<host_kernel>>;
    struct captured_graph {
        launches kernels;
        int holders = 1;
    };

    void note(driver_call call, std::uint64_t bytes) { log_.push_back(std::string(to_string(call)) + " " + std::to_string(bytes)); }
    void wait_for_all() { device_->sync_device(); }
    void pool_call();
    void lose_what_is_free(std::uint64_t wanted);
    void zero_pools();
    std::map<std::uint64_t, reservation>::iterator reservation_of(std::uint64_t p);
    device_ptr simulated(std::uint64_t p);
    void execute(const host_kernel& k, stream_id s);
    void drop_if_unused(vmm_handle h);

    const switches& how_;
    std::vector<std::string>& log_;
    std::unique_ptr<device> device_;
    std::int64_t tick_ps_ = 0;               ///< of one unit that can be charged to virtual time
    std::int64_t virtual_began_ps_;
    std::chrono::steady_clock::time_point real_began_;
    accessible_ranges accessible_;
    handle_store store_;
    std::map<std::uint64_t, raw_block> raw_;
    std::map<pool_id, pool_state> pools_;
    std::optional<pool_id> default_pool_;
    std::map<std::uint64_t, reservation> reservations_;
    std::map<vmm_handle, handle_state> handles_;
    std::map<std::uint64_t, mapping> mappings_;
    std::vector<bool> streams_;              ///< which are lent out; the first is the null stream
    std::vector<std::int64_t> stream_ends_;  ///< virtual time at which the work queued ends
    std::vector<bool> events_;
    std::vector<std::int64_t> event_times_;
    std::optional<stream_id> capturing_;
    launches captured_;
    graph_id next_graph_ = 0;
    std::map<graph_id, captured_graph> graphs_;
    std::set<int> peers_;                    ///< the cards whose memory it was given access to
    int broken_ = 0;
};

}  // namespace vrambench::fake
