#include "device/sim/raw_heap.hpp"

#include "spec/units.hpp"

namespace vrambench::sim {

raw_heap::raw_heap(physical_memory& memory, std::uint64_t block, std::uint64_t shared_up_to, std::uint64_t margin, device_ptr base)
    : memory_(memory), block_(block), shared_up_to_(shared_up_to), margin_(margin), next_(base)
{
}

device_ptr raw_heap::place(std::uint64_t extent)
{
    auto& places = free_places_[extent];
    if (!places.empty()) {
        const device_ptr p = places.back();
        places.pop_back();
        return p;
    }
    const device_ptr p = next_;
    next_ += extent;
    return p;
}

device_ptr raw_heap::allocate(std::uint64_t bytes)
{
    if (bytes <= shared_up_to_) return allocate_small(bytes);
    const std::uint64_t extent = round_up(bytes, block_);
    if (!memory_.take(extent, margin_)) return 0;
    const device_ptr p = place(extent);
    live_[p] = {bytes, extent, 0};
    return p;
}

device_ptr raw_heap::allocate_small(std::uint64_t bytes)
{
    const std::uint64_t extent = round_up(bytes, small_grain);
    for (auto& [block, ranges] : shared_)
        if (const device_ptr p = carve(block, ranges, bytes, extent)) return p;
    if (!memory_.take(block_, margin_)) return 0;
    const device_ptr block = place(block_);
    auto& ranges = shared_[block];
    ranges[0] = block_;
    return carve(block, ranges, bytes, extent);
}

device_ptr raw_heap::carve(device_ptr block, free_ranges& ranges, std::uint64_t bytes, std::uint64_t extent)
{
    for (auto it = ranges.begin(); it != ranges.end(); ++it) {
        if (it->second < extent) continue;
        const auto [offset, length] = *it;
        ranges.erase(it);
        if (length > extent) ranges[offset + extent] = length - extent;
        live_[block + offset] = {bytes, extent, block};
        return block + offset;
    }
    return 0;
}

std::uint64_t raw_heap::free(device_ptr pointer)
{
    const auto it = live_.find(pointer);
    if (it == live_.end()) return 0;
    const block_info info = it->second;
    live_.erase(it);
    if (info.shared_block) {
        free_small(pointer, info);
    } else {
        memory_.give(info.extent);
        free_places_[info.extent].push_back(pointer);
    }
    return info.requested;
}

void raw_heap::free_small(device_ptr pointer, const block_info& info)
{
    auto& ranges = shared_[info.shared_block];
    std::uint64_t offset = pointer - info.shared_block;
    std::uint64_t length = info.extent;
    auto next = ranges.lower_bound(offset);
    if (next != ranges.end() && offset + length == next->first) {
        length += next->second;
        next = ranges.erase(next);
    }
    if (next != ranges.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == offset) {
            offset = before->first;
            length += before->second;
            ranges.erase(before);
        }
    }
    if (length == block_) {
        shared_.erase(info.shared_block);
        memory_.give(block_);
        free_places_[block_].push_back(info.shared_block);
    } else {
        ranges[offset] = length;
    }
}

bool raw_heap::is_last_of_its_memory(device_ptr pointer) const
{
    const block_info& info = live_.at(pointer);
    if (!info.shared_block) return true;
    std::uint64_t free_bytes = 0;
    for (const auto& [offset, length] : shared_.at(info.shared_block)) free_bytes += length;
    return free_bytes + info.extent == block_;
}

std::uint64_t raw_heap::extent(device_ptr pointer) const
{
    const auto it = live_.find(pointer);
    return it == live_.end() ? 0 : it->second.extent;
}

}  // namespace vrambench::sim
