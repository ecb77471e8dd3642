#include "device/sim/cuda_pool.hpp"

#include "spec/units.hpp"

#include <algorithm>

namespace vrambench::sim {

namespace {

constexpr std::uint64_t chunk = cuda_pool::chunk_bytes;

constexpr std::uint64_t slot_of(std::uint64_t offset) { return offset / chunk; }
constexpr std::uint64_t slot_after(std::uint64_t end) { return (end + chunk - 1) / chunk; }

}  // namespace

/// When a group of frees is seen as done. `last` is the latest free of the group.
struct cuda_pool::completion {
    mark last = 0;
    std::int64_t end_ps = 0;
    std::uint32_t blocks = 0;              ///< pending blocks that refer to it; it goes with the last
};

/// A piece of the address range. The blocks of all states together cover [0, tail_) without gaps.
struct cuda_pool::block {
    enum class state : std::uint8_t { live, pending, completed };

    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    block* below = nullptr;                ///< neighbours by address
    block* above = nullptr;
    state now = state::live;
    std::uint64_t entry = 0;               ///< pending, completed: when it entered its list

    std::uint64_t requested = 0;           ///< live

    std::uint32_t stream = 0;              ///< pending: freed on it
    mark freed = 0;                        ///< pending: the latest free in it ...
    std::int64_t freed_end_ps = 0;         ///< ... and the stream's end time at that free
    completion* done = nullptr;
    block* older = nullptr;                ///< pending: neighbours on the same stream by the time of the free
    block* newer = nullptr;

    std::uint64_t missing = 0;             ///< completed: empty slots; they always lie wholly inside one range

    std::uint64_t end() const { return offset + bytes; }
    std::uint64_t first_whole() const { return slot_after(offset); }
    std::uint64_t last_whole() const { return slot_of(end()); }      ///< one past it
    std::uint64_t whole_chunks() const
    {
        return last_whole() > first_whole() ? last_whole() - first_whole() - missing : 0;
    }
    fit_key key() { return {bytes, entry, this}; }
};

cuda_pool::cuda_pool(const pool_environment& env, const pool_settings& settings)
    : env_(env), settings_(settings), address_range_(round_up(2 * env.total_bytes, chunk))
{
    env_.pools.push_back(this);
}

cuda_pool::~cuda_pool()
{
    std::erase(env_.pools, this);
    for (slot_index k = 0, first = 0; k < slots_.size(); first = k) {
        while (k < slots_.size() && slots_[k] != slot::empty) ++k;
        if (k > first) report_unbacked(first, k);
        while (k < slots_.size() && slots_[k] == slot::empty) ++k;
    }
    env_.memory.give(counts_.reserved);
    // Blocks are trivially destructible: their memory goes with nodes_.
}

// ---------------------------------------------------------------------------------------------------- the calls

std::uint64_t cuda_pool::allocate(std::uint64_t bytes, std::uint32_t stream, pool_work& work)
{
    work = {};
    env_.order.pool_op(stream);
    // Nothing beyond the address range can fit; the cap keeps sums of offsets and sizes from wrapping round.
    const std::uint64_t size = std::max(block_step, round_up(std::min(bytes, address_range_ + 1), block_step));

    block* b = reuse_own(size, stream, work);
    if (!b) b = reuse_completed(size, work);
    if (!b) b = reuse_other(size, stream, work);
    if (!b) {
        if (settings_.opportunistic) poll(work);
        b = grow(size, work);
    }
    if (!b) work.released += release_to_threshold();
    if (!b && settings_.internal_dependencies) b = reuse_after_dependency(size, stream, work);
    if (!b) return none;

    b->requested = bytes;
    live_.emplace(b->offset, b);
    counts_.used += bytes;
    counts_.used_high = std::max(counts_.used_high, counts_.used);
    return b->offset;
}

bool cuda_pool::free(std::uint64_t offset, std::uint32_t stream)
{
    const auto it = live_.find(offset);
    if (it == live_.end()) return false;
    block* b = it->second;
    live_.erase(it);
    counts_.used -= b->requested;

    const auto joins = [stream](const block* n) {
        return n && n->now == block::state::pending && n->stream == stream;
    };
    if (joins(b->above)) {
        remove_pending(*b->above);
        absorb_above(*b);
    }
    if (joins(b->below)) {
        remove_pending(*b->below);
        b = &absorb_into_below(*b);
    }
    append_pending(*b, stream);
    return true;
}

void cuda_pool::trim(std::uint64_t keep_bytes, pool_work& work)
{
    work = {};
    if (counts_.reserved > keep_bytes) work.released = release((counts_.reserved - keep_bytes) / chunk);
}

void cuda_pool::synchronised(const knowledge* known, pool_work& work)
{
    std::uint64_t completed = 0;
    for (const std::uint32_t t : env_.order.pool_order()) {
        const mark covered = !known ? UINT64_MAX : t < known->size() ? (*known)[t] : 0;
        mark unused = 0;
        completed += complete_prefix(pending_of(t), [covered](const block& b) { return b.freed <= covered; }, unused);
    }
    if (completed > 0) work.released += release_to_threshold();
}

std::uint32_t cuda_pool::release_completed() { return release(UINT64_MAX); }

// ---------------------------------------------------------------------------------------------------- reuse

cuda_pool::block* cuda_pool::best_fit(const fit_index& index, std::uint64_t bytes)
{
    const auto it = index.lower_bound({bytes, 0, nullptr});
    return it == index.end() ? nullptr : it->where;
}

cuda_pool::block* cuda_pool::reuse_own(std::uint64_t bytes, std::uint32_t stream, pool_work& work)
{
    block* b = best_fit(pending_of(stream).by_size, bytes);
    if (!b) return nullptr;
    work.how = pool_work::route::own;
    return &take_pending(*b, bytes);
}

cuda_pool::block* cuda_pool::reuse_completed(std::uint64_t bytes, pool_work& work)
{
    block* b = best_fit(backed_, bytes);
    if (!b) return nullptr;
    work.how = pool_work::route::completed;
    return &take_completed(*b, bytes);
}

cuda_pool::block* cuda_pool::reuse_other(std::uint64_t bytes, std::uint32_t stream, pool_work& work)
{
    block* b = nullptr;
    if (settings_.follow_events) b = reuse_by_event(bytes, stream);
    if (!b && settings_.opportunistic) b = reuse_by_time(bytes, stream);
    if (!b) return nullptr;
    work.how = pool_work::route::other_stream;
    return &take_pending(*b, bytes);
}

/// The first block that `visit(stream, its blocks)` finds, over the other streams that have pending blocks.
template <class Visit>
cuda_pool::block* cuda_pool::first_in_others(std::uint32_t stream, Visit visit)
{
    for (const std::uint32_t t : env_.order.pool_order()) {
        if (t == stream) continue;
        stream_blocks& blocks = pending_of(t);
        if (!blocks.oldest) continue;
        if (block* b = visit(t, blocks)) return b;
    }
    return nullptr;
}

// Both searches below look at the oldest block first: marks and end times only grow along a stream, so if that one does
// not qualify, none does, and the usual miss costs nothing.

cuda_pool::block* cuda_pool::reuse_by_event(std::uint64_t bytes, std::uint32_t stream)
{
    const knowledge& known = env_.order.know(stream);
    return first_in_others(stream, [&](std::uint32_t t, stream_blocks& blocks) -> block* {
        if (blocks.oldest->freed > known[t]) return nullptr;
        auto it = blocks.by_size.lower_bound({bytes, 0, nullptr});
        while (it != blocks.by_size.end() && it->where->freed > known[t]) ++it;
        return it == blocks.by_size.end() ? nullptr : it->where;
    });
}

cuda_pool::block* cuda_pool::reuse_by_time(std::uint64_t bytes, std::uint32_t stream)
{
    return first_in_others(stream, [&](std::uint32_t t, stream_blocks& blocks) -> block* {
        if (!is_done(*blocks.oldest)) return nullptr;
        auto it = blocks.by_size.lower_bound({bytes, 0, nullptr});
        while (it != blocks.by_size.end() && !is_done(*it->where)) ++it;
        if (it == blocks.by_size.end()) return nullptr;
        if (listener_) listener_->observed(t, it->where->freed);
        return it->where;
    });
}

cuda_pool::block* cuda_pool::reuse_after_dependency(std::uint64_t bytes, std::uint32_t stream, pool_work& work)
{
    block* b = first_in_others(stream, [&](std::uint32_t, stream_blocks& blocks) {
        return best_fit(blocks.by_size, bytes);
    });
    if (!b) return nullptr;
    env_.order.depend(stream, b->freed_end_ps);
    if (listener_) listener_->depends(stream, b->stream, b->freed);
    work.how = pool_work::route::internal;
    return &take_pending(*b, bytes);
}

// ---------------------------------------------------------------------------------------------------- growth

cuda_pool::block* cuda_pool::grow(std::uint64_t bytes, pool_work& work)
{
    block* range = best_fit(completed_, bytes);
    const bool at_end = range == nullptr;
    if (at_end && top_ && top_->now == block::state::completed) range = top_;
    const std::uint64_t begin = range ? range->offset : tail_;
    const std::uint64_t end = begin + bytes;
    if (at_end && round_up(end, chunk) > address_range_) return nullptr;

    if (!gather(range, begin, end, work)) return nullptr;
    work.mapped = map_bare(begin, end);
    work.how = work.mapped > 0 ? pool_work::route::mapped : pool_work::route::merged;
    if (at_end) range = &extend_end(range, end);
    return &take_completed(*range, bytes);
}

/// Fills the empty slots of [begin, end): free chunks elsewhere in the pool first, then new ones. `range`: the completed
/// range at `begin`, or null. If they do not suffice, false, and what was gathered stays in the first of the slots.
bool cuda_pool::gather(block* range, std::uint64_t begin, std::uint64_t end, pool_work& work)
{
    const std::vector<slot_index> need = empty_slots(begin, end);
    if (need.empty()) return true;
    const auto wanted = static_cast<std::uint32_t>(need.size());
    const vacated moved = vacate(wanted, begin, end);
    work.remapped = moved.mapped;
    const std::uint32_t have = moved.chunks + obtain_chunks(wanted - moved.chunks, work);
    fill(range, need, have);
    return have == wanted;
}

std::uint32_t cuda_pool::obtain_chunks(std::uint32_t wanted, pool_work& work)
{
    work.new_chunks = take_chunks(wanted);
    if (work.new_chunks < wanted) {
        work.released += release_others();
        work.new_chunks += take_chunks(wanted - work.new_chunks);
    }
    return work.new_chunks;
}

std::uint32_t cuda_pool::take_chunks(std::uint32_t wanted)
{
    std::uint32_t n = 0;
    while (n < wanted && env_.memory.take(chunk, chunk_margin)) ++n;
    return n;
}

std::uint32_t cuda_pool::release_others()
{
    std::uint32_t n = 0;
    for (stream_pool* pool : env_.pools)
        if (pool != this) n += pool->release_completed();
    return n;
}

std::uint32_t cuda_pool::map_bare(std::uint64_t begin, std::uint64_t end)
{
    std::uint32_t n = 0;
    for (slot_index k = slot_of(begin); k < slot_after(end); ++k) {
        if (slots_[k] != slot::bare) continue;
        slots_[k] = slot::mapped;
        ++n;
    }
    return n;
}

/// Moves the open end so that the completed range there reaches to `end` at least. `range` is that range, or null.
cuda_pool::block& cuda_pool::extend_end(block* range, std::uint64_t end)
{
    const std::uint64_t tail = std::max(tail_, round_up(end, chunk));
    if (range) {
        remove_completed(*range);
        range->bytes = tail - range->offset;
    } else {
        range = new_block(tail_, tail - tail_, top_);
        top_ = range;
    }
    tail_ = tail;
    add_completed(*range);
    return *range;
}

// ---------------------------------------------------------------------------------------------------- chunks and slots

std::vector<cuda_pool::slot_index> cuda_pool::empty_slots(std::uint64_t begin, std::uint64_t end) const
{
    std::vector<slot_index> out;
    for (slot_index k = slot_of(begin); k < slot_after(end); ++k)
        if (slot_at(k) == slot::empty) out.push_back(k);
    return out;
}

/// Puts chunks into the first `n` of `slots`, which ascend. Those beyond tail_ belong to no range yet.
void cuda_pool::fill(block* range, const std::vector<slot_index>& slots, std::uint32_t n)
{
    if (n == 0) return;
    if (range) remove_completed(*range);
    if (slots_.size() <= slots[n - 1]) slots_.resize(slots[n - 1] + 1, slot::empty);
    for (std::uint32_t i = 0, first = 0; i < n; ++i) {
        slots_[slots[i]] = slot::bare;
        if (range && slots[i] * chunk < range->end()) --range->missing;
        if (i + 1 < n && slots[i + 1] == slots[i] + 1) continue;
        report_backed(slots[first], slots[i] + 1);
        first = i + 1;
    }
    if (range) add_completed(*range);
    counts_.reserved += n * chunk;
    counts_.reserved_high = std::max(counts_.reserved_high, counts_.reserved);
}

/// Empties up to `at_most` slots whose chunks are free and completed, by falling address, but none that touches
/// [keep_begin, keep_end). The chunks stay in the caller's hand.
cuda_pool::vacated cuda_pool::vacate(std::uint64_t at_most, std::uint64_t keep_begin, std::uint64_t keep_end)
{
    vacated out;
    slot_index run_first = 0, run_last = 0;                // the run of emptied slots that is not reported yet
    const auto empty_within = [&](slot_index first, slot_index last) {
        std::uint64_t n = 0;
        for (slot_index k = std::min<slot_index>(last, slots_.size()); k-- > first && out.chunks < at_most;) {
            if (slots_[k] == slot::empty || (k * chunk < keep_end && (k + 1) * chunk > keep_begin)) continue;
            out.mapped += slots_[k] == slot::mapped;
            slots_[k] = slot::empty;
            ++out.chunks;
            ++n;
            if (k + 1 != run_first) {
                report_unbacked(run_first, run_last);
                run_last = k + 1;
            }
            run_first = k;
        }
        return n;
    };

    empty_within(slot_of(tail_), slots_.size());           // what a failed call left beyond the end
    std::uint64_t above = UINT64_MAX;                      // the lowest range that was looked at: entries come and go
    while (out.chunks < at_most) {
        auto it = with_chunks_.lower_bound(above);
        if (it == with_chunks_.begin()) break;
        block& range = *(--it)->second;
        above = range.offset;
        const std::uint64_t n = empty_within(range.first_whole(), range.last_whole());
        if (n == 0) continue;
        remove_completed(range);
        range.missing += n;
        add_completed(range);
    }
    report_unbacked(run_first, run_last);
    counts_.reserved -= out.chunks * chunk;
    return out;
}

std::uint32_t cuda_pool::release(std::uint64_t at_most)
{
    const std::uint32_t n = vacate(at_most, 0, 0).chunks;
    env_.memory.give(n * chunk);
    return n;
}

std::uint32_t cuda_pool::release_to_threshold()
{
    if (counts_.reserved <= settings_.threshold) return 0;
    return release(slot_after(counts_.reserved - settings_.threshold));
}

void cuda_pool::report_backed(slot_index first, slot_index last) const
{
    if (listener_ && last > first) listener_->backed(first * chunk, (last - first) * chunk);
}

void cuda_pool::report_unbacked(slot_index first, slot_index last) const
{
    if (listener_ && last > first) listener_->unbacked(first * chunk, (last - first) * chunk);
}

// ---------------------------------------------------------------------------------------------------- pending blocks

cuda_pool::stream_blocks& cuda_pool::pending_of(std::uint32_t stream)
{
    while (pending_.size() <= stream) pending_.emplace_back(&nodes_);
    return pending_[stream];
}

void cuda_pool::append_pending(block& b, std::uint32_t stream)
{
    stream_blocks& blocks = pending_of(stream);
    b.now = block::state::pending;
    b.entry = ++entries_;
    b.stream = stream;
    b.freed = env_.order.pool_op(stream);
    b.freed_end_ps = env_.order.end_ps(stream);

    // A launch since the group's latest free closes the group.
    if (!blocks.latest || blocks.latest->last <= env_.order.last_launch(stream))
        blocks.latest = make_.new_object<completion>();
    blocks.latest->last = b.freed;
    blocks.latest->end_ps = b.freed_end_ps;
    ++blocks.latest->blocks;
    b.done = blocks.latest;

    b.older = blocks.newest;
    b.newer = nullptr;
    (b.older ? b.older->newer : blocks.oldest) = &b;
    blocks.newest = &b;
    blocks.by_size.insert(b.key());
    ++pending_blocks_;
    counts_.pending += b.bytes;
}

void cuda_pool::remove_pending(block& b)
{
    stream_blocks& blocks = pending_[b.stream];
    blocks.by_size.erase(b.key());
    (b.older ? b.older->newer : blocks.oldest) = b.newer;
    (b.newer ? b.newer->older : blocks.newest) = b.older;
    leave_completion(b);
    --pending_blocks_;
    counts_.pending -= b.bytes;
}

void cuda_pool::leave_completion(block& b)
{
    if (--b.done->blocks > 0) return;
    if (pending_[b.stream].latest == b.done) pending_[b.stream].latest = nullptr;
    make_.delete_object(b.done);
    b.done = nullptr;
}

/// Makes the low `bytes` of a pending block live. The rest is a new entry, but keeps the block's place in time.
cuda_pool::block& cuda_pool::take_pending(block& b, std::uint64_t bytes)
{
    if (b.bytes == bytes) {
        remove_pending(b);
        b.now = block::state::live;
        return b;
    }
    stream_blocks& blocks = pending_[b.stream];
    blocks.by_size.erase(b.key());
    block& rest = *split(b, bytes);
    (rest.older ? rest.older->newer : blocks.oldest) = &rest;
    (rest.newer ? rest.newer->older : blocks.newest) = &rest;
    blocks.by_size.insert(rest.key());
    counts_.pending -= bytes;
    b.now = block::state::live;
    return b;
}

bool cuda_pool::is_done(const block& b) const { return b.done->end_ps <= env_.now_ps; }

/// Completes the oldest blocks of a stream, as many as are `done`, latest free first. Returns how many; `up_to` becomes
/// the latest of their marks.
template <class Done>
std::uint64_t cuda_pool::complete_prefix(stream_blocks& blocks, Done done, mark& up_to)
{
    block* b = nullptr;
    for (block* next = blocks.oldest; next && done(*next); next = next->newer) b = next;
    if (b) up_to = b->freed;
    std::uint64_t n = 0;
    while (b) {
        block* older = b->older;
        remove_pending(*b);
        complete(*b);
        b = older;
        ++n;
    }
    return n;
}

void cuda_pool::poll(pool_work& work)
{
    work.polled = static_cast<std::uint32_t>(pending_blocks_);
    for (const std::uint32_t t : env_.order.pool_order()) {
        mark up_to = 0;
        const auto n = complete_prefix(pending_of(t), [this](const block& b) { return is_done(b); }, up_to);
        if (n > 0 && listener_) listener_->observed(t, up_to);
    }
}

// ---------------------------------------------------------------------------------------------------- completed ranges

/// A block that is in no list becomes a completed range, merged with its neighbours.
void cuda_pool::complete(block& b)
{
    block* range = &b;
    range->missing = 0;
    if (range->above && range->above->now == block::state::completed) {
        remove_completed(*range->above);
        absorb_above(*range);
    }
    if (range->below && range->below->now == block::state::completed) {
        remove_completed(*range->below);
        range = &absorb_into_below(*range);
    }
    range->entry = ++entries_;
    add_completed(*range);
}

void cuda_pool::add_completed(block& b)
{
    b.now = block::state::completed;
    if (b.whole_chunks() > 0) with_chunks_.emplace(b.offset, &b);
    if (b.end() == tail_) return;          // the open end is found through top_
    completed_.insert(b.key());
    if (b.missing == 0) backed_.insert(b.key());
}

void cuda_pool::remove_completed(block& b)
{
    if (b.whole_chunks() > 0) with_chunks_.erase(b.offset);
    if (b.end() == tail_) return;
    completed_.erase(b.key());
    if (b.missing == 0) backed_.erase(b.key());
}

/// Makes the low `bytes` of a completed range live. They are wholly backed; slots that miss a chunk are the rest's.
cuda_pool::block& cuda_pool::take_completed(block& b, std::uint64_t bytes)
{
    remove_completed(b);
    if (block* rest = split(b, bytes)) add_completed(*rest);
    b.now = block::state::live;
    b.missing = 0;
    return b;
}

// ---------------------------------------------------------------------------------------------------- address order

cuda_pool::block* cuda_pool::new_block(std::uint64_t offset, std::uint64_t bytes, block* below)
{
    block* b = make_.new_object<block>();
    b->offset = offset;
    b->bytes = bytes;
    b->below = below;
    b->entry = ++entries_;
    if (below) {
        b->above = below->above;
        below->above = b;
    }
    if (b->above) b->above->below = b;
    return b;
}

/// `b` takes over the bytes of the block above it, which is in no list any more.
void cuda_pool::absorb_above(block& b)
{
    block* gone = b.above;
    b.bytes += gone->bytes;
    b.missing += gone->missing;
    b.above = gone->above;
    if (b.above) b.above->below = &b;
    if (top_ == gone) top_ = &b;
    make_.delete_object(gone);
}

cuda_pool::block& cuda_pool::absorb_into_below(block& b)
{
    block& below = *b.below;
    absorb_above(below);
    return below;
}

/// Cuts `b` to its low `bytes`; what is left becomes a block of the same state with a new entry number, or null.
cuda_pool::block* cuda_pool::split(block& b, std::uint64_t bytes)
{
    if (b.bytes == bytes) return nullptr;
    block* rest = new_block(b.offset + bytes, b.bytes - bytes, &b);
    block* const above = rest->above;
    const std::uint64_t offset = rest->offset, size = rest->bytes, entry = rest->entry;
    *rest = b;
    rest->offset = offset;
    rest->bytes = size;
    rest->entry = entry;
    rest->below = &b;
    rest->above = above;
    b.bytes = bytes;
    if (top_ == &b) top_ = rest;
    return rest;
}

}  // namespace vrambench::sim
