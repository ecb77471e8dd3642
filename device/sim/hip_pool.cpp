#include "device/sim/hip_pool.hpp"

#include "spec/units.hpp"

#include <algorithm>

namespace vrambench::sim {

namespace {

/// Addresses of blocks that do not come from the VM heap are the pool's own, apart as ROCr's memory is.
constexpr std::uint64_t page = 4096;

}  // namespace

bool hip_pool::block::is_safe_for(std::uint32_t stream) const { return std::find(safe.begin(), safe.end(), stream) != safe.end(); }

void hip_pool::block::make_safe_for(std::uint32_t stream)
{
    if (!is_safe_for(stream)) safe.push_back(stream);
}

hip_pool::hip_pool(hip_runtime& runtime, std::vector<stream_pool*>& pools_of_device, const pool_settings& settings)
    : runtime_(runtime), pools_of_device_(pools_of_device), settings_(settings)
{
    if (runtime_.rules().vm_heap) vm_.emplace(runtime_.total_bytes(), runtime_.heap(), static_cast<chunk_listener&>(*this));
    runtime_.add(*this);
    pools_of_device_.push_back(this);
    set_threshold(settings.threshold);
}

hip_pool::~hip_pool()
{
    runtime_.remove(*this);
    std::erase(pools_of_device_, this);
    if (vm_) {
        vm_->give_all_back();
        return;
    }
    for (auto& [offset, b] : blocks_) {
        if (listener_) listener_->unbacked(offset, b->extent);
        runtime_.heap().free(b->raw);
    }
}

// ---------------------------------------------------------------------------------------------------- the calls

std::uint64_t hip_pool::allocate(std::uint64_t bytes, std::uint32_t stream, pool_work& work)
{
    work = {};
    runtime_.begin_call();
    runtime_.order().pool_op(stream);
    block* b = find(bytes, stream);
    if (b) {
        take_free(*b, stream);
        work.how = pool_work::route::completed;
    } else {
        b = make_block(bytes);
        if (b) work.how = pool_work::route::mapped;
    }
    if (b) {
        b->safe = {stream};
        counts_.used += b->bytes;
        counts_.used_high = std::max(counts_.used_high, counts_.used);
    }
    note_reserved();
    return b ? b->offset : none;
}

bool hip_pool::free(std::uint64_t offset, std::uint32_t stream)
{
    const auto found = blocks_.find(offset);
    if (found == blocks_.end() || found->second->is_free) return false;
    block& b = *found->second;
    runtime_.begin_call();
    runtime_.press_up_to(*this);
    counts_.used -= b.bytes;
    b.make_safe_for(stream);
    if (runtime_.rules().keeps_event) wait_for(b);
    b.freed = runtime_.mark_free(stream);
    add_free(b);
    return true;
}

void hip_pool::trim(std::uint64_t keep_bytes, pool_work& work)
{
    work = {};
    runtime_.begin_call();
    release_down_to(keep_bytes, false);
}

void hip_pool::synchronised(const knowledge*, pool_work&)
{
    if (runtime_.rules().sync_releases) release_completed_blocks();
}

void hip_pool::set_threshold(std::uint64_t bytes)
{
    settings_.threshold = bytes;
    if (vm_) vm_->set_threshold(bytes);
}

const pool_counts& hip_pool::counts() const
{
    counts_.reserved = vm_ ? vm_->mapped_bytes() : counts_.used + free_bytes_;
    counts_.pending = 0;
    std::erase_if(unsettled_, [this](const block* b) { return runtime_.is_done(*b->freed); });
    for (const block* b : unsettled_) counts_.pending += b->bytes;
    return counts_;
}

// ---------------------------------------------------------------------------------------------------- reuse

hip_pool::block* hip_pool::find(std::uint64_t bytes, std::uint32_t stream)
{
    using window = hip_rules::window;
    const window rule = runtime_.rules().reuse;
    if (rule == window::whole_eighths) return find_oldest(bytes, stream);
    block wanted;
    wanted.bytes = bytes;
    for (auto it = free_.lower_bound(&wanted); it != free_.end(); ++it) {
        block& b = **it;
        const bool is_within = b.bytes * 8 <= bytes * 9;    // the source's comparison in floating point, exact below 2^49
        if (!is_within && rule == window::strict) return nullptr;
        if (serves(b, stream, is_within)) return &b;
    }
    return nullptr;
}

hip_pool::block* hip_pool::find_oldest(std::uint64_t bytes, std::uint32_t stream)
{
    block wanted;
    wanted.bytes = bytes;
    block* oldest = nullptr;
    for (auto it = free_.lower_bound(&wanted); it != free_.end() && (*it)->bytes <= bytes / 8 * 9; ++it)
        if ((!oldest || (*it)->age < oldest->age) && serves(**it, stream, true)) oldest = *it;
    return oldest;
}

bool hip_pool::serves(const block& b, std::uint32_t stream, bool may_poll) const
{
    return b.is_safe_for(stream) || !b.freed || (may_poll && settings_.opportunistic && runtime_.is_done(*b.freed));
}

void hip_pool::take_free(block& b, std::uint32_t stream)
{
    if (!b.is_safe_for(stream)) seen_done(b);    // that is how it was found
    remove_free(b);
    b.is_free = false;
    if (!runtime_.rules().keeps_event) b.freed.reset();
}

void hip_pool::follow(std::uint32_t stream, std::uint32_t source)
{
    if (!settings_.follow_events) return;
    for (block* b : free_)
        if (b->is_safe_for(source)) b->make_safe_for(stream);
}

// ---------------------------------------------------------------------------------------------------- new memory

hip_pool::block* hip_pool::make_block(std::uint64_t bytes)
{
    if (runtime_.is_too_large(bytes)) return nullptr;
    auto b = std::make_unique<block>();
    b->bytes = bytes;
    if (!(vm_ ? place_in_vm_heap(*b) : place_raw(*b))) return nullptr;
    b->age = ++ages_;
    block* const made = b.get();
    blocks_.emplace(made->offset, std::move(b));
    return made;
}

bool hip_pool::place_raw(block& b)
{
    b.raw = runtime_.heap().allocate(b.bytes);
    if (!b.raw) return false;
    b.extent = round_up(b.bytes, page);
    b.offset = places_.take(b.extent);
    if (listener_) listener_->backed(b.offset, b.extent);
    return true;
}

bool hip_pool::place_in_vm_heap(block& b)
{
    const auto home = vm_->allocate(b.bytes);
    if (!home) return false;
    b.home = *home;
    b.offset = vm_->address(*home);
    return true;
}

void hip_pool::note_reserved() { counts_.reserved_high = std::max(counts_.reserved_high, vm_ ? vm_->mapped_bytes() : counts_.used + free_bytes_); }

// ---------------------------------------------------------------------------------------------------- release

void hip_pool::relieve_pressure()
{
    if (!runtime_.rules().pressure || free_bytes_ <= counts_.used) return;
    release_down_to(0, false);
    if (runtime_.is_short_of_memory()) release_down_to(free_bytes_ >> 1, true);
}

std::vector<hip_pool::block*> hip_pool::in_release_order() const
{
    std::vector<block*> order(free_.begin(), free_.end());
    if (runtime_.rules().reuse == hip_rules::window::whole_eighths)    // its free heap is not sorted
        std::sort(order.begin(), order.end(), [](const block* a, const block* b) { return a->age < b->age; });
    return order;
}

/// A release that stops at `keep_bytes` leaves the VM heap's own trim out, as the original does.
void hip_pool::release_down_to(std::uint64_t keep_bytes, bool wait)
{
    for (block* b : in_release_order()) {
        if (free_bytes_ <= keep_bytes) return;
        if (wait) wait_for(*b);
        if (seen_done(*b)) give_back(*b);
    }
    if (vm_ && vm_->free_mapped_bytes() > keep_bytes) vm_->trim(keep_bytes);
}

void hip_pool::release_completed_blocks()
{
    for (block* b : in_release_order()) {
        if (!vm_ && free_bytes_ <= settings_.threshold) return;
        if (seen_done(*b)) give_back(*b);
    }
}

void hip_pool::give_back(block& b)
{
    remove_free(b);
    if (vm_) {
        vm_->free(b.home);
    } else {
        if (listener_) listener_->unbacked(b.offset, b.extent);
        runtime_.heap().free(b.raw);
        places_.give(b.offset, b.extent);
    }
    blocks_.erase(b.offset);
}

void hip_pool::add_free(block& b)
{
    b.is_free = true;
    free_.insert(&b);
    unsettled_.insert(&b);
    free_bytes_ += b.bytes;
}

void hip_pool::remove_free(block& b)
{
    free_.erase(&b);
    unsettled_.erase(&b);
    free_bytes_ -= b.bytes;
}

bool hip_pool::seen_done(const block& b)
{
    if (!b.freed) return true;
    if (!runtime_.is_done(*b.freed)) return false;
    if (listener_) listener_->observed(b.freed->stream, b.freed->at);
    return true;
}

void hip_pool::wait_for(block& b)
{
    if (b.freed && runtime_.wait_for(*b.freed) && listener_) listener_->observed(b.freed->stream, b.freed->at);
}

// ---------------------------------------------------------------------------------------------------- chunks

void hip_pool::chunk_mapped(std::uint64_t offset)
{
    if (listener_) listener_->backed(offset, vm_range::chunk_bytes);
    if (!runtime_.wait_after_map() || !listener_) return;
    for (std::uint32_t s = 0; s < runtime_.order().streams(); ++s) listener_->observed(s, runtime_.order().clock(s));
}

void hip_pool::chunk_unmapped(std::uint64_t offset)
{
    if (listener_) listener_->unbacked(offset, vm_range::chunk_bytes);
}

}  // namespace vrambench::sim
