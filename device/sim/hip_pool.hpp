#pragma once
// HIP's stream-ordered memory pool (hipMallocAsync, hipFreeAsync) as rule sets, one a release (hip_rules.hpp). It agrees
// with a reference model in Python, written from AMD's source, call by call (tests/device/fixtures/hip_pool_sequences.txt).
//
// Words: *free heap* = blocks that were freed, whether or not the GPU is past the free; *safe stream* = one that may have a
// block without asking the GPU: those that allocated or freed it, and with event dependencies those that waited for one.
//
//  1. A request is served from the free heap first, from the smallest block that holds it upwards, in whole: no split, no
//     merge. Beyond 9/8 of the request nothing is taken, but to 6.4 (from 6.2) by a safe stream.
//  2. Else new memory: a block of its own through ROCr, or chunks in the VM heap. Nothing is released or waited for when
//     there is none, and in the VM heap a failed call keeps the chunks that it got.
//  3. A free first looks at pressure (from 6.2): where more is free than used, all completed blocks go, whatever the
//     threshold; where then less than 1/8 of the card is free, more go, waiting on the host for each.
//  4. A synchronisation (from 6.1) releases completed blocks: the smallest first while more than the threshold is *free*;
//     with the VM heap all of them, and the heap then unmaps chunks down to a threshold.
//  5. Unsafe as the source reads: a block that was allocated on one stream and freed on another is at once safe for the
//     first again; a wait for an event also covers frees after its record. The hazard checker reports both.
//
// Left out, since no caller of ours can reach them: hipFree of a pool's block, a maximum pool size, IPC and graph pools.

#include "device/device.hpp"
#include "device/sim/hip_runtime.hpp"
#include "device/sim/stream_pool.hpp"
#include "device/sim/vm_heap.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace vrambench::sim {

/// `counts().used` counts whole blocks, as HIP's attribute does; `reserved_high` is the true maximum, which HIP's attribute
/// is not in every release. `work` is left without prices: none is known.
class hip_pool final : public stream_pool, private chunk_listener {
public:
    hip_pool(hip_runtime& runtime, std::vector<stream_pool*>& pools_of_device, const pool_settings& settings);
    ~hip_pool() override;
    hip_pool(const hip_pool&) = delete;
    hip_pool& operator=(const hip_pool&) = delete;

    std::uint64_t allocate(std::uint64_t bytes, std::uint32_t stream, pool_work& work) override;
    bool free(std::uint64_t offset, std::uint32_t stream) override;
    void trim(std::uint64_t keep_bytes, pool_work& work) override;
    void synchronised(const knowledge* known, pool_work& work) override;
    /// Nothing: no driver call asks HIP's pools to give up memory.
    std::uint32_t release_completed() override { return 0; }
    void set_threshold(std::uint64_t bytes) override;
    const pool_counts& counts() const override;
    std::uint64_t address_range() const override { return vm_ ? vm_->length() : UINT64_MAX; }
    void set_listener(pool_listener* listener) override { listener_ = listener; }

    // From the runtime.
    void relieve_pressure();
    void follow(std::uint32_t stream, std::uint32_t source);

private:
    struct block {
        std::uint64_t offset = 0, bytes = 0;
        std::uint64_t age = 0;                   ///< counts new blocks
        bool is_free = false;
        std::vector<std::uint32_t> safe;         ///< streams
        std::optional<free_marker> freed;
        device_ptr raw = 0;                      ///< without the VM heap
        std::uint64_t extent = 0;                ///< of the pool's addresses, without the VM heap
        vm_heap::block home = {};                ///< in the VM heap

        bool is_safe_for(std::uint32_t stream) const;
        void make_safe_for(std::uint32_t stream);
    };
    struct smaller_then_older {
        bool operator()(const block* a, const block* b) const { return a->bytes != b->bytes ? a->bytes < b->bytes : a->age < b->age; }
    };
    using free_heap = std::set<block*, smaller_then_older>;

    block* find(std::uint64_t bytes, std::uint32_t stream);
    block* find_oldest(std::uint64_t bytes, std::uint32_t stream);
    bool serves(const block& b, std::uint32_t stream, bool may_poll) const;
    void take_free(block& b, std::uint32_t stream);
    block* make_block(std::uint64_t bytes);
    bool place_raw(block& b);
    bool place_in_vm_heap(block& b);
    void add_free(block& b);
    void remove_free(block& b);
    void give_back(block& b);
    std::vector<block*> in_release_order() const;
    void release_down_to(std::uint64_t keep_bytes, bool wait);
    void release_completed_blocks();
    bool seen_done(const block& b);
    void wait_for(block& b);
    void note_reserved();

    void chunk_mapped(std::uint64_t offset) override;
    void chunk_unmapped(std::uint64_t offset) override;

    hip_runtime& runtime_;
    std::vector<stream_pool*>& pools_of_device_;
    pool_settings settings_;
    pool_listener* listener_ = nullptr;
    std::optional<vm_heap> vm_;
    address_places places_{0};
    std::unordered_map<std::uint64_t, std::unique_ptr<block>> blocks_;    ///< by offset, live and free
    free_heap free_;
    mutable std::unordered_set<const block*> unsettled_;     ///< free, and not yet known to be done
    std::uint64_t free_bytes_ = 0, ages_ = 0;
    mutable pool_counts counts_;
};

}  // namespace vrambench::sim
