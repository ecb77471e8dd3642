#include "bench/costs/cost_probe.hpp"

#include "allocators/allocator.hpp"
#include "spec/units.hpp"

namespace vrambench::costs {

namespace {

struct row {
    std::uint64_t bytes = 0;
    std::vector<device_ptr> blocks;
};

/// Takes blocks of one size until `wanted` of them took memory of the device (small ones share it), at most `most`.
row take_row(cost_probe& p, std::uint64_t bytes, std::uint64_t wanted, std::uint64_t most)
{
    row r{bytes, {}};
    samples growing, shared;
    std::uint64_t free_before = p.dev.query_memory().free_bytes;
    while (growing.size() < wanted && r.blocks.size() < most) {
        device_ptr block = 0;
        const std::int64_t ps = p.watch.time([&] { block = p.dev.malloc(bytes); });
        if (!block) break;
        r.blocks.push_back(block);
        const std::uint64_t free_now = p.dev.query_memory().free_bytes;
        (free_now < free_before ? growing : shared).push_back(ps);
        free_before = free_now;
    }
    p.report.add({"malloc", situation::growing, bytes}, growing);
    p.report.add({"malloc", situation::shared, bytes}, shared);
    return r;
}

void free_row(cost_probe& p, const row& r)
{
    samples growing, shared;
    std::uint64_t free_before = p.dev.query_memory().free_bytes;
    for (const device_ptr block : r.blocks) {
        const std::int64_t ps = p.watch.time([&] { p.dev.free(block); });
        const std::uint64_t free_now = p.dev.query_memory().free_bytes;
        (free_now > free_before ? growing : shared).push_back(ps);
        free_before = free_now;
    }
    p.report.add({"free", situation::growing, r.bytes}, growing);
    p.report.add({"free", situation::shared, r.bytes}, shared);
}

/// Handles of one size, mapped one behind the other.
struct handle_row {
    std::uint64_t bytes = 0;
    device_ptr base = 0;
    std::uint64_t count = 0;                 ///< that the reservation has room for
    std::vector<vmm_handle> handles;
};

handle_row take_handles(cost_probe& p, std::uint64_t bytes, std::uint64_t n)
{
    handle_row r{bytes, p.dev.reserve(n * bytes), n, {}};
    if (!r.base) return r;
    samples create, map, set_access;
    for (std::uint64_t i = 0; i < n; ++i) {
        vmm_handle handle = 0;
        const std::int64_t ps = p.watch.time([&] { handle = p.dev.create(bytes); });
        if (!handle) break;
        const device_ptr at = r.base + i * bytes;
        create.push_back(ps);
        map.push_back(p.watch.time([&] { p.dev.map(at, bytes, handle); }));
        set_access.push_back(p.watch.time([&] { p.dev.set_access(at, bytes); }));
        r.handles.push_back(handle);
    }
    p.report.add({"create", situation::growing, bytes}, create);
    p.report.add({"map", situation::growing, bytes}, map);
    p.report.add({"set_access", situation::growing, bytes}, set_access);
    return r;
}

void release_handles(cost_probe& p, const handle_row& r)
{
    if (!r.base) return;
    samples unmap, release;
    for (std::uint64_t i = 0; i < r.handles.size(); ++i) {
        unmap.push_back(p.watch.time([&] { p.dev.unmap(r.base + i * r.bytes, r.bytes); }));
        release.push_back(p.watch.time([&] { p.dev.release(r.handles[i]); }));
    }
    p.dev.unreserve(r.base, r.count * r.bytes);
    p.report.add({"unmap", situation::growing, r.bytes}, unmap);
    p.report.add({"release", situation::growing, r.bytes}, release);
}

/// How many blocks of each size fit into `budget` together, none for sizes that do not.
class budget_split {
public:
    explicit budget_split(std::uint64_t budget) : budget_(budget) {}
    std::uint64_t blocks(std::uint64_t bytes)
    {
        const std::uint64_t n = std::clamp<std::uint64_t>(budget_ / (8 * bytes), 1, 16);
        if (taken_ + n * bytes > budget_) return 0;
        taken_ += n * bytes;
        return n;
    }

private:
    std::uint64_t budget_;
    std::uint64_t taken_ = 0;
};

constexpr std::uint64_t most_small_blocks = 12'500;     // three blocks of 2 MiB in pieces of 512 B
constexpr std::uint64_t small_block_samples = 3;

}  // namespace

void measure_growth(cost_probe& p)
{
    const std::uint64_t quarter = p.dev.query_memory().free_bytes / 4;
    std::vector<row> rows;
    budget_split raw(quarter), virt(quarter);
    for (const auto bytes : p.sizes) {
        const bool small = bytes <= p.dev.info().shared_up_to;
        const std::uint64_t n = raw.blocks(bytes);
        if (n) rows.push_back(small ? take_row(p, bytes, small_block_samples, most_small_blocks) : take_row(p, bytes, n, n));
    }
    // Raw memory is still held, so that handles grow too.
    std::vector<handle_row> handles;
    const std::uint64_t granularity = p.dev.info().vmm_granularity;
    for (const auto bytes : p.sizes) {
        if (!granularity || bytes % granularity) continue;
        if (const std::uint64_t n = virt.blocks(bytes)) handles.push_back(take_handles(p, bytes, n));
    }
    for (const auto& r : handles) release_handles(p, r);
    for (const auto& r : rows) free_row(p, r);
    p.rest(2 * quarter);
}

}  // namespace vrambench::costs
