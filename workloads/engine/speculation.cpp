#include "workloads/engine/speculation.hpp"

#include "spec/units.hpp"

namespace vrambench::engine {

step_plan speculation::walk(graph_state& graphs, std::uint64_t tokens, std::uint64_t end, std::uint64_t rows,
                            std::uint64_t inputs) const
{
    step_plan p;
    p.shape = {.tokens = tokens, .n_kv = round_up(end, cell_padding), .rows = rows};
    p.mode = graphs.next(p.shape, s_.graphs);
    p.decode = true;
    p.syncs_before = static_cast<std::uint32_t>(2 * inputs + 1);
    p.syncs_after = 1;
    return p;
}

bool speculation::next(speculation_round& round)
{
    if (decoded_ >= s_.tokens) return false;
    round.draft.clear();
    for (std::uint64_t i = 0; i < s_.proposals; ++i)
        round.draft.push_back(walk(draft_graphs_, i == 0 ? 1 + unseen_ : 1, position_ + 1 + i, 1, s_.draft_inputs));
    const std::uint64_t checked = s_.proposals + 1;
    round.target = walk(target_graphs_, checked, position_ + checked, checked, s_.target_inputs);
    std::uint64_t accepted = 0;
    while (accepted < s_.proposals && accepts_(numbers_)) ++accepted;
    // The last proposal was never an input of the draft; the others that count are in its cache.
    unseen_ = accepted == s_.proposals ? 1 : 0;
    round.tokens = accepted + 1;
    position_ += round.tokens;
    decoded_ += round.tokens;
    return true;
}

}  // namespace vrambench::engine
