#include "workloads/engine/event_player.hpp"

#include <algorithm>
#include <utility>

namespace vrambench::engine {

void event_player::add(const event& e)
{
    if (empty()) clear();
    head_.events.push_back(e);
    if (pieces_.empty()) pieces_.push_back(&head_);
}

walk_mode event_player::mode_of(const step_plan& step)
{
    const bool captures = step.mode == walk_mode::capture || step.mode == walk_mode::replay;
    return captures && find(step.shape).made.synchronises ? walk_mode::direct : step.mode;
}

void event_player::play(const step_plan& step, std::uint8_t phase, std::uint16_t label)
{
    clear();
    head_.events.push_back({.kind = event_kind::step, .phase = phase, .tag = label, .tokens = step.tokens});
    head_.events.insert(head_.events.end(), step.syncs_before, {.kind = event_kind::sync_stream});
    queue(head_);
    known_walk& known = find(step.shape);
    switch (mode_of(step)) {
    case walk_mode::direct: queue(known.made); break;
    case walk_mode::capture:
        head_.events.push_back({.kind = event_kind::graph_begin});
        queue(known.made);
        tail_.events.push_back({.kind = event_kind::graph_end});
        [[fallthrough]];
    case walk_mode::replay: tail_.events.push_back({.kind = event_kind::graph_launch}); break;
    case walk_mode::sizes:
        if (!known.sizes) known.sizes = sizes_of(known.made);
        queue(*known.sizes);
        break;
    }
    tail_.events.insert(tail_.events.end(), step.syncs_after, {.kind = event_kind::sync_stream});
    queue(tail_);
}

event_player::known_walk& event_player::find(const walk_shape& shape)
{
    const auto found = std::find_if(known_.begin(), known_.end(), [&](const known_walk& k) { return k.shape == shape; });
    if (found != known_.end()) return *found;
    if (known_.size() < most_known) return known_.emplace_back(known_walk{shape, maker_.make(shape), {}});
    known_walk& reused = known_[std::exchange(oldest_, (oldest_ + 1) % most_known)];
    return reused = {shape, maker_.make(shape), {}};
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
        for (std::size_t i = before; i < batch.events.size(); ++i) batch.events[i].first_operand += base;
        batch.operands.insert(batch.operands.end(), piece.operands.begin(), piece.operands.end());
        at_event_ += n;
        if (at_event_ < piece.events.size()) return;
        at_event_ = 0;
        ++at_piece_;
    }
}

}  // namespace vrambench::engine
