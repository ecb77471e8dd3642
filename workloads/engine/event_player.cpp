#include "workloads/engine/event_player.hpp"

#include <algorithm>
#include <utility>

namespace vrambench::engine {

void event_player::add(const event& e)
{
    if (empty()) clear();
    head_.events.push_back(e);
    if (pieces_.empty()) queue(head_);
}

walk_mode event_player::mode_of(const step_plan& step)
{
    const bool captures = step.mode == walk_mode::capture || step.mode == walk_mode::replay;
    return captures && find(step.shape).made.synchronises ? walk_mode::direct : step.mode;
}

std::uint64_t event_player::nanoseconds_of(const step_plan& step)
{
    known_walk& known = find(step.shape);
    if (!known.nanoseconds) known.nanoseconds = vrambench::engine::nanoseconds_of(known.made);
    return *known.nanoseconds;
}

void event_player::play(const step_plan& step)
{
    if (empty()) clear();
    if (pieces_.empty()) queue(head_);
    head_.events.insert(head_.events.end(), step.syncs_before, {.kind = event_kind::sync_stream, .stream = place_});
    known_walk& known = find(step.shape);
    switch (mode_of(step)) {
    case walk_mode::direct: queue(known.made); break;
    case walk_mode::capture:
        head_.events.push_back({.kind = event_kind::graph_begin, .stream = place_, .id = place_});
        queue(known.made);
        tail_.events.push_back({.kind = event_kind::graph_end, .stream = place_, .id = place_});
        [[fallthrough]];
    case walk_mode::replay:
        tail_.events.push_back({.kind = event_kind::graph_launch, .stream = place_, .id = place_});
        break;
    case walk_mode::sizes:
        if (!known.sizes) known.sizes = sizes_of(known.made);
        queue(*known.sizes);
        break;
    }
    tail_.events.insert(tail_.events.end(), step.syncs_after, {.kind = event_kind::sync_stream, .stream = place_});
    queue(tail_);
}

event_player::known_walk& event_player::find(const walk_shape& shape)
{
    if (last_ < known_.size() && known_[last_].shape == shape) return known_[last_];
    const auto found = std::find_if(known_.begin(), known_.end(), [&](const known_walk& k) { return k.shape == shape; });
    last_ = static_cast<std::size_t>(found - known_.begin());
    if (found != known_.end()) return *found;
    if (known_.size() < most_known) return known_.emplace_back(known_walk{shape, maker_.make(shape), {}, {}});
    last_ = std::exchange(oldest_, (oldest_ + 1) % most_known);
    return known_[last_] = {shape, maker_.make(shape), {}, {}};
}

void event_player::queue(const event_batch& piece) { pieces_.push_back(&piece); }

void event_player::queue(const walk& w)
{
    for (const std::uint32_t segment : w.order) queue(w.segments[segment]);
}

void event_player::clear()
{
    head_.clear(), tail_.clear(), pieces_.clear();
    at_piece_ = at_event_ = 0;
}

void event_player::copy_to(event_batch& batch)
{
    while (!empty() && batch.events.size() < batch_events) {
        const event_batch& piece = *pieces_[at_piece_];
        const std::size_t room = batch_events - batch.events.size();
        const std::size_t n = std::min(room, piece.events.size() - at_event_);
        const auto base = static_cast<std::uint32_t>(batch.operands.size());
        const std::size_t before = batch.events.size();
        const auto first = piece.events.begin() + static_cast<std::ptrdiff_t>(at_event_);
        batch.events.insert(batch.events.end(), first, first + static_cast<std::ptrdiff_t>(n));
        const bool of_walk = &piece != &head_ && &piece != &tail_;
        for (std::size_t i = before; i < batch.events.size(); ++i) batch.events[i].first_operand += base;
        if (of_walk && (place_ != 0 || first_tag_ != 0))
            for (std::size_t i = before; i < batch.events.size(); ++i) {
                batch.events[i].stream = place_;
                batch.events[i].tag = static_cast<std::uint16_t>(batch.events[i].tag + first_tag_);
            }
        batch.operands.insert(batch.operands.end(), piece.operands.begin(), piece.operands.end());
        at_event_ += n;
        if (at_event_ < piece.events.size()) return;
        at_event_ = 0;
        ++at_piece_;
    }
}

}  // namespace vrambench::engine
