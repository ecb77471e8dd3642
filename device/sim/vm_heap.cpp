#include "device/sim/vm_heap.hpp"

#include "spec/units.hpp"

#include <algorithm>
#include <iterator>

namespace vrambench::sim {

vm_range::vm_range(std::uint64_t first, std::uint64_t bytes, rocr_heap& memory, chunk_listener& heard)
    : first_(first), length_(round_up(bytes, chunk_bytes)), free_addresses_(length_), mapped_(length_ / chunk_bytes), free_{{0, length_}},
      memory_(memory), heard_(heard)
{
}

/// An exact fit, else the smallest that is larger; the lowest of equals.
vm_range::free_blocks::iterator vm_range::best_fit(std::uint64_t bytes)
{
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it)
        if (it->second >= bytes && (best == free_.end() || it->second < best->second)) best = it;
    return best;
}

std::optional<vm_range::block> vm_range::allocate(std::uint64_t bytes)
{
    created_ = true;
    const std::uint64_t size = round_up(bytes + block_step, block_step);
    const auto fit = best_fit(size);
    if (fit == free_.end()) return std::nullopt;
    const block b{fit->first, size};
    const std::uint64_t rest = fit->second - size;
    free_.erase(fit);
    if (rest) free_[b.offset + size] = rest;
    free_addresses_ -= size;
    for (std::uint64_t k = b.offset / chunk_bytes; k * chunk_bytes < b.offset + size; ++k)
        if (!mapped_[k] && !map_chunk(k)) return std::nullopt;
    return b;
}

bool vm_range::map_chunk(std::uint64_t index)
{
    if (!memory_.take(chunk_bytes)) return false;
    mapped_[index] = true;
    ++mapped_chunks_;
    heard_.chunk_mapped(first_ + index * chunk_bytes);
    return true;
}

void vm_range::unmap_chunk(std::uint64_t index)
{
    mapped_[index] = false;
    --mapped_chunks_;
    heard_.chunk_unmapped(first_ + index * chunk_bytes);
    memory_.give(chunk_bytes);
}

/// Whole chunks, the highest first, until at most `keep_bytes` are mapped and free in the range.
void vm_range::unmap_within(const block& b, std::uint64_t keep_bytes)
{
    std::uint64_t left = free_mapped_bytes() / chunk_bytes * chunk_bytes;
    const std::uint64_t lowest = round_up(b.offset, chunk_bytes) / chunk_bytes;
    for (std::uint64_t k = (b.offset + b.bytes) / chunk_bytes; k-- > lowest && left > keep_bytes;) {
        if (!mapped_[k]) continue;
        unmap_chunk(k);
        left -= chunk_bytes;
    }
}

void vm_range::release(const block& b)
{
    free_addresses_ += b.bytes;
    unmap_within(b, threshold_);
    add_free(b);
}

void vm_range::add_free(const block& b)
{
    auto it = free_.emplace(b.offset, b.bytes).first;
    if (const auto above = std::next(it); above != free_.end() && it->first + it->second == above->first) {
        it->second += above->second;
        free_.erase(above);
    }
    if (it == free_.begin()) return;
    const auto below = std::prev(it);
    if (below->first + below->second != it->first) return;
    below->second += it->second;
    free_.erase(it);
}

void vm_range::trim(std::uint64_t keep_bytes)
{
    for (const auto& [offset, bytes] : free_) unmap_within({offset, bytes}, keep_bytes);
}

void vm_range::give_all_back()
{
    for (std::uint64_t k = 0; k < mapped_.size(); ++k)
        if (mapped_[k]) unmap_chunk(k);
}

namespace {

std::uint64_t range_first(std::uint64_t total, int n)
{
    const std::array lengths{total / 8, total / 4, total * 5 / 8};
    std::uint64_t first = 0;
    for (int i = 0; i < n; ++i) first += round_up(lengths[static_cast<std::size_t>(i)], vm_range::chunk_bytes);
    return first;
}

}  // namespace

vm_heap::vm_heap(std::uint64_t total, rocr_heap& memory, chunk_listener& heard)
    : ranges_{vm_range(range_first(total, 0), total / 8, memory, heard), vm_range(range_first(total, 1), total / 4, memory, heard),
              vm_range(range_first(total, 2), total * 5 / 8, memory, heard), vm_range(range_first(total, 3), total, memory, heard)}
{
}

std::optional<vm_heap::block> vm_heap::allocate(std::uint64_t bytes)
{
    for (std::size_t i = 0; i < ranges_.size(); ++i) {
        if (ranges_[i].free_addresses() <= bytes + vm_range::chunk_bytes) continue;
        if (const auto b = ranges_[i].allocate(bytes)) return block{i, *b};
    }
    return std::nullopt;
}

/// Just above the threshold this falls below it, by as much as there was too much.
void vm_heap::free(const block& b)
{
    ranges_[b.range].release(b.where);
    const std::uint64_t mapped = free_mapped_bytes();
    if (mapped <= threshold_) return;
    const std::uint64_t extra = mapped - threshold_;
    trim(extra < threshold_ ? threshold_ - extra : 0);
}

void vm_heap::trim(std::uint64_t keep_bytes)
{
    for (vm_range& r : ranges_) {
        if (!r.is_created() || free_mapped_bytes() <= keep_bytes) return;
        r.trim(keep_bytes);
    }
}

void vm_heap::give_all_back()
{
    for (vm_range& r : ranges_) r.give_all_back();
}

void vm_heap::set_threshold(std::uint64_t bytes)
{
    for (vm_range& r : ranges_)
        if (r.is_created()) r.set_threshold(bytes);
    threshold_ = bytes;
}

std::uint64_t vm_heap::address(const block& b) const
{
    const std::uint64_t shift = b.where.offset % vm_range::chunk_bytes == 0 ? vm_range::block_step : 0;
    return ranges_[b.range].first() + b.where.offset + shift;
}

std::uint64_t vm_heap::free_mapped_bytes() const
{
    std::uint64_t sum = 0;
    for (const vm_range& r : ranges_) sum += r.free_mapped_bytes();
    return sum;
}

std::uint64_t vm_heap::mapped_bytes() const
{
    std::uint64_t sum = 0;
    for (const vm_range& r : ranges_) sum += r.mapped_bytes();
    return sum;
}

}  // namespace vrambench::sim
