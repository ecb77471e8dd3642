#include "allocators/list_pool.hpp"

#include "spec/units.hpp"

namespace vrambench {

std::uint64_t list_pool::look_ahead(std::uint64_t bytes)
{
    return round_up(static_cast<std::uint64_t>(1.05 * static_cast<double>(bytes)), 256);
}

list_pool::~list_pool()
{
    for (const auto& s : table_)
        if (s.pointer) quietly([&] { device_.free(s.pointer); });
}

/// The original's search: every slot, empty or not, the smallest waste, the lowest slot among equals, ended by an exact fit.
/// An empty slot has 0 bytes, and its waste wraps around, as that of a block too small does, to more than any limit: one
/// comparison a slot answers all three questions. Eight slots are compared before anything hangs on the answer, since a
/// branch a slot costs more than the comparison.
list_pool::fit list_pool::best_fit(std::uint64_t bytes) const
{
    constexpr int group = 8;
    fit best;
    std::uint64_t best_waste = waste_limit;
    for (int first = 0; first < slots; first += group) {
        bool better = false;
        for (int i = first; i < first + group; ++i) better |= table_[i].bytes - bytes < best_waste;
        if (!better) continue;
        for (int i = first; i < first + group; ++i) {
            const std::uint64_t waste = table_[i].bytes - bytes;
            if (waste >= best_waste) continue;
            best.slot = i;
            best_waste = waste;
            if (waste == 0) return {i, static_cast<std::uint32_t>(i + 1)};
        }
    }
    return best;
}

allocation list_pool::allocate(std::uint64_t bytes, std::uint64_t, stream_id)
{
    const fit found = best_fit(bytes);
    if (found.slot < 0) return miss(bytes, found.visited);
    slot& s = table_[found.slot];
    const allocation a{.pointer = s.pointer, .granted_bytes = s.bytes, .how = path::hit, .work = found.visited};
    s = {};
    counter_.handed_out(a.granted_bytes);
    return a;
}

allocation list_pool::miss(std::uint64_t bytes, std::uint32_t work)
{
    const std::uint64_t wanted = look_ahead(bytes);
    const device_ptr p = device_.malloc(wanted);
    if (!p) {
        counter_.failed();
        return {.why = failure::memory, .work = work, .asked_bytes = wanted,
                .beside_bytes = device_.info().raw_margin};
    }
    reserved_ += wanted;
    counter_.handed_out(wanted);
    counter_.reserved_is(reserved_);
    return {.pointer = p, .granted_bytes = wanted, .how = path::grow, .work = work};
}

deallocation list_pool::deallocate(device_ptr pointer, std::uint64_t granted_bytes, stream_id)
{
    for (int i = 0; i < slots; ++i) {
        slot& s = table_[i];
        if (s.pointer) continue;
        s = {pointer, granted_bytes};
        counter_.taken_back(granted_bytes, reserved_);
        return {.how = path::hit, .work = static_cast<std::uint32_t>(i + 1)};
    }
    give_back({pointer, granted_bytes});    // the table is full
    counter_.taken_back(granted_bytes, reserved_);
    return {.how = path::driver, .work = slots};
}

void list_pool::give_back(const slot& block)
{
    device_.free(block.pointer);
    reserved_ -= block.bytes;
    ++epoch_;
}

std::uint64_t list_pool::trim(std::uint64_t keep_bytes)
{
    const std::uint64_t before = reserved_;
    counter_.reserved_is(reserved_);
    for (auto& s : table_) {
        // A block that came here from another stream's pool is in that pool's count, so nothing means: every slot.
        if (keep_bytes > 0 && reserved_ <= keep_bytes) break;
        if (!s.pointer) continue;
        give_back(s);
        s = {};
    }
    return before - reserved_;
}

std::vector<std::uint64_t> list_pool::cached_blocks() const
{
    std::vector<std::uint64_t> sizes;
    for (const auto& s : table_)
        if (s.pointer) sizes.push_back(s.bytes);
    return sizes;
}

}  // namespace vrambench
