#include "allocators/ideal.hpp"

#include "spec/units.hpp"

#include <map>
#include <set>

namespace vrambench {

namespace {

/// Calls `on_alloc(event)` and `on_free(event)` in trace order.
template <class Alloc, class Free> void walk(const trace& t, Alloc on_alloc, Free on_free)
{
    const auto source = t.open();
    event_batch batch;
    while (source->fill(batch))
        for (const auto& e : batch.events) {
            if (e.kind == event_kind::alloc) on_alloc(e);
            if (e.kind == event_kind::free) on_free(e);
        }
}

/// Best fit over one address range without an end; free ranges merge with their neighbours.
class best_fit_plan {
public:
    std::uint64_t place(std::uint64_t bytes)
    {
        const auto fit = by_size_.lower_bound({bytes, 0});
        if (fit == by_size_.end()) return place_at_end(bytes);
        const auto [length, offset] = *fit;
        remove(offset, length);
        if (length > bytes) add(offset + bytes, length - bytes);
        return offset;
    }

    void take_back(std::uint64_t offset, std::uint64_t bytes)
    {
        const auto next = by_offset_.find(offset + bytes);
        if (next != by_offset_.end()) {
            const std::uint64_t length = next->second;
            remove(offset + bytes, length);
            bytes += length;
        }
        auto before = by_offset_.lower_bound(offset);
        if (before != by_offset_.begin() && (--before)->first + before->second == offset) {
            const auto [first, length] = *before;
            remove(first, length);
            offset = first;
            bytes += length;
        }
        add(offset, bytes);
    }

    std::uint64_t end() const { return end_; }

private:
    /// No free range fits: the one that touches the end grows.
    std::uint64_t place_at_end(std::uint64_t bytes)
    {
        std::uint64_t offset = end_;
        if (!by_offset_.empty()) {
            const auto [first, length] = *by_offset_.rbegin();
            if (first + length == end_) {
                remove(first, length);
                offset = first;
            }
        }
        end_ = offset + bytes;
        return offset;
    }
    void add(std::uint64_t offset, std::uint64_t length)
    {
        by_offset_[offset] = length;
        by_size_.emplace(length, offset);
    }
    void remove(std::uint64_t offset, std::uint64_t length)
    {
        by_offset_.erase(offset);
        by_size_.erase({length, offset});
    }

    std::map<std::uint64_t, std::uint64_t> by_offset_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
    std::uint64_t end_ = 0;
};

struct placed {
    std::uint32_t stream = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

}  // namespace

ideal::~ideal()
{
    for (const auto& a : arenas_)
        if (a.base) quietly([&] { device_.free(a.base); });
}

void ideal::prepare(const trace& t, const trace_summary& summary)
{
    arenas_.resize(summary.streams);
    lifo_ = summary.lifo;
    grain_ = std::max<std::uint64_t>(summary.max_alignment, 1);
    if (lifo_)
        plan_stack(t, summary.block_ids);
    else
        plan_best_fit(t, summary);
    for (auto& a : arenas_) {
        if (a.bytes == 0) continue;
        a.base = device_.malloc(a.bytes);
        if (a.base) reserved_ += a.bytes;
    }
}

void ideal::plan_stack(const trace& t, std::uint32_t block_ids)
{
    std::vector<std::uint64_t> top(arenas_.size(), 0), bytes(block_ids, 0);
    walk(
        t,
        [&](const event& e) {
            bytes[e.id] = round_up(e.bytes, grain_);
            top[e.stream] += bytes[e.id];
            arenas_[e.stream].bytes = std::max(arenas_[e.stream].bytes, top[e.stream]);
        },
        [&](const event& e) { top[e.stream] -= bytes[e.id]; });
}

void ideal::plan_best_fit(const trace& t, const trace_summary& summary)
{
    if (summary.alloc_calls > longest_plan)
        throw unsupported_error("ideal plans at most " + std::to_string(longest_plan) + " allocations of a trace that is not LIFO");
    std::vector<best_fit_plan> plans(arenas_.size());
    std::vector<placed> live(summary.block_ids);
    walk(
        t,
        [&](const event& e) {
            const std::uint64_t bytes = round_up(e.bytes, grain_);
            live[e.id] = {e.stream, plans[e.stream].place(bytes), bytes};
            arenas_[e.stream].plan.push_back(live[e.id].offset);
        },
        [&](const event& e) {
            const placed& p = live[e.id];
            if (p.stream != e.stream)
                throw unsupported_error("ideal: block " + std::to_string(e.id) + " is freed on stream " + std::to_string(e.stream) +
                                        " but was allocated on stream " + std::to_string(p.stream));
            plans[p.stream].take_back(p.offset, p.bytes);
        });
    for (std::size_t s = 0; s < arenas_.size(); ++s) arenas_[s].bytes = plans[s].end();
}

void ideal::notify(notification what)
{
    if (what != notification::pass_begin) return;
    for (auto& a : arenas_) a.next = 0;
}

allocator_stats ideal::stats() const
{
    allocator_stats s;
    for (const auto& a : arenas_) s.live += a.top, s.peak_live += a.highest_top;
    s.reserved = s.peak_reserved = reserved_;
    s.cached = reserved_ - std::min(reserved_, s.live);
    s.peak_cached = reserved_;    // before the first request
    s.failures = failures_;
    return s;
}

}  // namespace vrambench
