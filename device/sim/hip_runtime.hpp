#pragma once
// What HIP's pools of one simulated card share: the rules, ROCr's heap, and what the runtime knows of completed frees. A
// free puts a marker into its stream; the marker is seen to be done once the stream is past it and, with `late` markers,
// one more pool call was made since. A synchronisation makes those of its stream surely done. Which of `early` and `late` a
// card shows hangs on microseconds.

#include "device/sim/hip_rules.hpp"
#include "device/sim/rocr_heap.hpp"
#include "device/sim/stream_order.hpp"

#include <cstdint>
#include <vector>

namespace vrambench::sim {

class hip_pool;

/// The event of a free.
struct free_marker {
    std::uint32_t stream = 0;
    mark at = 0;
    std::int64_t end_ps = 0;
    std::uint64_t call = 0;
    bool surely_done = false;
};

class hip_runtime {
public:
    struct settings {
        hip_rules rules;
        bool late_markers = false;
        std::uint64_t total_bytes = 0;       ///< of the card: the pressure rule and the address ranges hang on it
        std::uint64_t block = 0;             ///< ROCr's, 2 MiB on a card
        device_ptr first = 0;                ///< addresses of raw allocations start here
    };
    /// References outlive it. A host wait moves `now_ps` on.
    hip_runtime(settings s, physical_memory& memory, stream_order& order, std::int64_t& now_ps);

    const hip_rules& rules() const { return settings_.rules; }
    std::uint64_t total_bytes() const { return settings_.total_bytes; }
    rocr_heap& heap() { return heap_; }
    const rocr_heap& heap() const { return heap_; }
    stream_order& order() { return order_; }
    std::uint64_t host_waits() const { return host_waits_; }
    bool is_too_large(std::uint64_t bytes) const;
    bool is_short_of_memory() const { return heap_.reported_free() < settings_.total_bytes >> 3; }

    // Of the device: raw memory beside the pools, and what happened on its streams.
    device_ptr malloc(std::uint64_t bytes) { return is_too_large(bytes) ? 0 : heap_.allocate(bytes); }
    void press_all();
    void synced(std::uint32_t stream);
    void synced_device();
    /// `stream` waits for an event that was recorded on `source`.
    void waited(std::uint32_t stream, std::uint32_t source);

    // Of the pools.
    void add(hip_pool& pool) { pools_.push_back(&pool); }
    void remove(hip_pool& pool) { std::erase(pools_, &pool); }
    void begin_call() { ++calls_; }
    /// A free that goes to `pool` looks at the pressure of every pool that is asked before it.
    void press_up_to(const hip_pool& pool);
    free_marker mark_free(std::uint32_t stream);
    bool is_done(const free_marker& m) const;
    /// True if the host had to wait.
    bool wait_for(free_marker& m);
    /// Mapping runs on the null stream, which waits for all others. True if a kernel was still running.
    bool wait_after_map();

private:
    settings settings_;
    rocr_heap heap_;
    stream_order& order_;
    std::int64_t& now_ps_;
    std::vector<hip_pool*> pools_;           ///< oldest first
    std::vector<mark> surely_done_;          ///< by stream
    std::uint64_t calls_ = 0, host_waits_ = 0;
};

}  // namespace vrambench::sim
