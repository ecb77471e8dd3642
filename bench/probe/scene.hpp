#pragma once
// What probes work with: memory that is given back when a question ends, however it ends; kernels that write and verify
// patterns; the passing of time.

#include "allocators/allocator.hpp"
#include "bench/probe/probe.hpp"
#include "spec/units.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vrambench::probing {

inline constexpr std::int64_t millisecond_ps = 1'000'000'000;

/// Throws unsupported_error where the device knows no times (a simulated card whose costs nobody has measured).
void need_times(const device& dev);
/// Lets time pass on the host without a call that could complete anything.
void pass_time(device& dev, std::int64_t ps);
/// Lets the device rest until the driver has cleaned what was given back (docs/calibration.md), and synchronises.
void rest(device& dev, std::uint64_t bytes);
/// Bytes that are free, after a synchronisation.
std::uint64_t settled_free(device& dev);

/// What frees and rounding of others may move without anybody's fault: bytes.
inline constexpr std::uint64_t slack = 4 * MiB;

/// A pool whose blocks are freed and which is destroyed in the end.
class own_pool {
public:
    own_pool(device& dev, const pool_settings& settings) : dev_(dev), pool_(dev.create_pool(settings)) {}
    ~own_pool();
    own_pool(const own_pool&) = delete;

    pool_id id() const { return pool_; }
    std::uint64_t reserved() { return dev_.usage(pool_).reserved; }
    /// 0: out of memory.
    device_ptr try_take(std::uint64_t bytes, stream_id stream = 0);
    /// Throws too_little_memory.
    device_ptr take(std::uint64_t bytes, stream_id stream = 0);
    void give(device_ptr block, stream_id stream = 0);

private:
    device& dev_;
    pool_id pool_;
    std::map<device_ptr, std::uint64_t> live_;
};

/// A range of reserved addresses, grown handle by handle as an engine's pool does: create, map, release, set access.
class mapped_range {
public:
    /// Throws device_error where the addresses cannot be had.
    mapped_range(device& dev, std::uint64_t address_bytes);
    ~mapped_range();
    mapped_range(const mapped_range&) = delete;

    device_ptr base() const { return base_; }
    device_ptr end() const { return base_ + mapped_; }
    /// Maps memory behind the end. Throws too_little_memory.
    void grow(std::uint64_t bytes);
    /// Unmaps the handle at `offset`, as it was mapped.
    void drop(std::uint64_t offset);

private:
    device& dev_;
    std::uint64_t address_bytes_;
    device_ptr base_;
    std::uint64_t mapped_ = 0;
    std::map<std::uint64_t, std::uint64_t> parts_;     ///< offset, bytes
};

/// Blocks whose contents kernels write and verify: by patterns on a card, by the order of uses on the simulator.
class watched_blocks {
public:
    explicit watched_blocks(device& dev) : dev_(dev), watcher_(dev.observer()), before_(watcher_ ? watcher_->hazard_count() : 0) {}

    /// Memory that was just obtained for use on `stream`. Returns the block's number.
    std::uint32_t add(device_ptr pointer, std::uint64_t bytes, stream_id stream = 0);
    /// To be said before the memory is given back, freed on `stream`.
    void drop(std::uint32_t block, stream_id stream = 0);
    /// A dropped block is mapped elsewhere, its contents are to be what they were.
    void moved(std::uint32_t block, device_ptr pointer, stream_id stream = 0);
    /// Copies the block's contents to `to` and lets the block go on there.
    void copy(std::uint32_t block, device_ptr to, stream_id stream = 0);
    /// A kernel of at least `ps` that writes, or verifies, all of the block.
    void write(std::uint32_t block, stream_id stream = 0, std::int64_t ps = 0) { launch(block, stream, ps, true); }
    void verify(std::uint32_t block, stream_id stream = 0, std::int64_t ps = 0) { launch(block, stream, ps, false); }
    /// Synchronises; wrong words (a card) or uses without order (the simulator) since construction.
    std::uint64_t wrong();
    /// The first of them, one line; empty where there is none.
    std::string first_wrong() const;

private:
    struct extent {
        device_ptr pointer = 0;
        std::uint64_t bytes = 0;
    };
    void launch(std::uint32_t block, stream_id stream, std::int64_t ps, bool write);

    device& dev_;
    block_observer* watcher_;
    std::uint64_t before_;
    std::vector<extent> blocks_;
    std::vector<std::uint32_t> unused_;
};

}  // namespace vrambench::probing
