#include "device/sim/rocr_heap.hpp"

#include "spec/units.hpp"

#include <algorithm>
#include <iterator>

namespace vrambench::sim {

rocr_heap::rocr_heap(physical_memory& memory, std::uint64_t block, device_ptr first)
    : memory_(memory), block_(block), page_(std::min<std::uint64_t>(block, 4096)), places_(first)
{
}

bool rocr_heap::take(std::uint64_t bytes)
{
    if (memory_.take(bytes)) return true;
    while (!cache_.empty()) drop_oldest();
    return memory_.take(bytes);
}

device_ptr rocr_heap::allocate(std::uint64_t bytes)
{
    const std::uint64_t size = round_up(bytes, page_);
    if (const auto fits = free_.lower_bound({size, 0, 0}); fits != free_.end()) return carve(fits->where, size);
    return new_block(size);
}

/// The low part of a free fragment.
device_ptr rocr_heap::carve(device_ptr where, std::uint64_t bytes)
{
    const device_ptr block = block_of_.at(where);
    block_of_fragments& b = blocks_.at(block);
    unpublish(where, b.fragments.at(where));
    cut(b, where, bytes, block);
    return where;
}

void rocr_heap::cut(block_of_fragments& b, device_ptr where, std::uint64_t bytes, device_ptr block)
{
    fragment& taken = b.fragments.at(where);
    taken.is_free = false;
    if (taken.bytes == bytes) return;
    fragment& rest = b.fragments[where + bytes];
    rest = {taken.bytes - bytes, true, 0};
    taken.bytes = bytes;
    block_of_[where + bytes] = block;
    if (!b.is_own) publish(where + bytes, rest);
}

device_ptr rocr_heap::new_block(std::uint64_t bytes)
{
    device_ptr where = 0;
    std::uint64_t length = round_up(bytes, block_);
    if (bytes < block_ && !cache_.empty()) {
        where = cache_.back().where;
        length = cache_.back().bytes;
        cached_ -= length;
        cache_.pop_back();
    } else {
        if (!take(length)) return 0;
        where = places_.take(length);
    }
    block_of_fragments& b = blocks_[where];
    b.bytes = length;
    b.is_own = bytes > block_;
    b.fragments[where] = {length, true, 0};
    block_of_[where] = where;
    cut(b, where, bytes, where);
    if (!b.is_own) {
        in_use_ += length;
        balance();
    }
    return where;
}

bool rocr_heap::free(device_ptr pointer)
{
    const auto known = block_of_.find(pointer);
    if (known == block_of_.end()) return false;
    const device_ptr block = known->second;
    block_of_fragments& b = blocks_.at(block);
    fragment& f = b.fragments.at(pointer);
    if (f.is_free) return false;
    f.is_free = true;
    const device_ptr where = merge(b, pointer);
    if (b.fragments.size() == 1)
        block_became_empty(block);
    else
        publish(where, b.fragments.at(where));    // of a shared block: one of a large request has nothing beside it but its tail
    return true;
}

/// Joins a free fragment with its free neighbours. Returns where it begins then.
device_ptr rocr_heap::merge(block_of_fragments& b, device_ptr where)
{
    auto it = b.fragments.find(where);
    if (const auto above = std::next(it); above != b.fragments.end() && above->second.is_free) {
        unpublish(above->first, above->second);
        it->second.bytes += above->second.bytes;
        block_of_.erase(above->first);
        b.fragments.erase(above);
    }
    if (it == b.fragments.begin() || !std::prev(it)->second.is_free) return where;
    const auto below = std::prev(it);
    unpublish(below->first, below->second);
    below->second.bytes += it->second.bytes;
    block_of_.erase(it->first);
    b.fragments.erase(it);
    return below->first;
}

void rocr_heap::block_became_empty(device_ptr block)
{
    const auto it = blocks_.find(block);
    const std::uint64_t bytes = it->second.bytes;
    const bool is_own = it->second.is_own;
    blocks_.erase(it);
    block_of_.erase(block);
    if (is_own) {
        memory_.give(bytes);
        places_.give(block, bytes);
        return;
    }
    cache_.push_back({block, bytes});
    cached_ += bytes;
    in_use_ -= bytes;
    balance();
}

void rocr_heap::balance()
{
    while (cache_.size() > 1 && cached_ > 2 * in_use_) drop_oldest();
}

void rocr_heap::drop_oldest()
{
    const cached_block b = cache_.front();
    cache_.pop_front();
    cached_ -= b.bytes;
    memory_.give(b.bytes);
    places_.give(b.where, b.bytes);
}

void rocr_heap::publish(device_ptr where, fragment& f)
{
    f.listed = ++listings_;
    free_.insert({f.bytes, f.listed, where});
}

void rocr_heap::unpublish(device_ptr where, fragment& f)
{
    if (f.listed) free_.erase({f.bytes, f.listed, where});
    f.listed = 0;
}

std::uint64_t rocr_heap::extent(device_ptr pointer) const
{
    const auto known = block_of_.find(pointer);
    if (known == block_of_.end()) return 0;
    const fragment& f = blocks_.at(known->second).fragments.at(pointer);
    return f.is_free ? 0 : f.bytes;
}

}  // namespace vrambench::sim
