#include "workloads/engine/schedule.hpp"

#include "spec/units.hpp"

#include <algorithm>

namespace vrambench::engine {

walk_mode graph_state::next(const walk_shape& shape, bool graphs)
{
    walks_ = last_ == shape ? walks_ + 1 : 0;
    last_ = shape;
    if (!graphs || walks_ == 0) return walk_mode::direct;
    return walks_ == 1 ? walk_mode::capture : walk_mode::replay;
}

std::uint64_t end_of(const std::vector<slice>& slices)
{
    const slice& last = slices.back();
    return last.depth + last.prompt + last.tokens;
}

std::uint64_t graph_inputs(const session& s) { return s.rotates() ? 8 : 6; }

std::optional<step_plan> schedule::next()
{
    while (slice_ < s_.slices.size()) {
        const slice& now = s_.slices[slice_];
        if (position_ < now.depth) return micro_batch(now, now.depth, false);
        if (position_ < now.depth + now.prompt) return micro_batch(now, now.depth + now.prompt, true);
        if (position_ < now.depth + now.prompt + now.tokens) return decode_step();
        if (++slice_ < s_.slices.size()) begin_slice();
    }
    return std::nullopt;
}

void schedule::begin_slice()
{
    if (s_.slices[slice_].depth < position_) position_ = 0;
    if (s_.slices[slice_].after_idling) graphs_.forget();
}

/// One synchronise for each input before its copy, one for each copy (the output ids have none where no rows are asked for)
/// and one before the graph is computed.
std::uint32_t schedule::syncs_before(bool rows) const
{
    if (s_.sync != sync_rule::engine) return 0;
    return static_cast<std::uint32_t>(2 * s_.inputs + (rows ? 1 : 0));
}

step_plan schedule::micro_batch(const slice& now, std::uint64_t until, bool measured)
{
    if (batch_left_ == 0) batch_left_ = std::min(std::max<std::uint64_t>(s_.batch / s_.sequences, 1), until - position_);
    const std::uint64_t n = std::min(std::max<std::uint64_t>(s_.ubatch / s_.sequences, 1), batch_left_);
    batch_left_ -= n;
    position_ += n;
    const bool ends_batch = batch_left_ == 0;
    step_plan p{.shape = {.tokens = n, .n_kv = round_up(position_, cell_padding), .cut = s_.cut},
                .slice = static_cast<std::uint32_t>(slice_)};
    if (ends_batch && s_.cut) p.shape.rows = s_.sequences;
    if (!measured) {
        p.mode = walk_mode::sizes;
        p.syncs_before = s_.sync == sync_rule::none ? 0 : 1;    // a pool learns there what is complete
        return p;
    }
    p.mode = graphs_.next(p.shape, s_.graphs);
    p.tokens = n * s_.sequences;
    p.syncs_before = syncs_before(p.shape.rows != 0);
    const bool ends_prompt = position_ == now.depth + now.prompt;    // its logits are read
    const bool waits = s_.sync == sync_rule::token || (s_.sync == sync_rule::batch && ends_batch) ||
                       (s_.sync == sync_rule::engine && ends_prompt);
    p.syncs_after = waits ? 1 : 0;
    return p;
}

step_plan schedule::decode_step()
{
    ++position_;
    step_plan p{.shape = {.tokens = 1, .n_kv = round_up(position_, cell_padding), .rows = s_.sequences, .cut = s_.cut},
                .slice = static_cast<std::uint32_t>(slice_),
                .decode = true,
                .tokens = s_.sequences};
    p.mode = graphs_.next(p.shape, s_.graphs);
    p.syncs_before = syncs_before(true);
    p.syncs_after = s_.sync == sync_rule::none ? 0 : 1;
    return p;
}

}  // namespace vrambench::engine
