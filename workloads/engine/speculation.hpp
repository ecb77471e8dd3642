#pragma once
// Speculative decoding: in each round a small model proposes tokens one by one, and the large one checks them all in one small
// batch. A proposal counts while all before it did; the large model adds one token of its own.

#include "workloads/engine/schedule.hpp"
#include "workloads/random_numbers.hpp"

#include <cstdint>
#include <vector>

namespace vrambench::engine {

struct speculation_settings {
    std::uint64_t depth = 0;           ///< tokens in both caches before
    std::uint64_t tokens = 512;        ///< decoded at least: the last round is finished
    std::uint64_t proposals = 4;       ///< of a round
    double acceptance = 0.7;           ///< probability of each proposal
    std::uint64_t seed = 1;
    bool graphs = true;
    std::uint64_t target_inputs = 6, draft_inputs = 6;    ///< graph inputs
};

struct speculation_round {
    std::vector<step_plan> draft;      ///< a token each; the first also processes what the draft has not seen
    step_plan target;                  ///< proposals and the token before them, with an output row each
    std::uint64_t tokens = 0;          ///< that the round adds to the answer
};

/// The host waits for every walk, since it must read the outputs to choose the next token.
class speculation {
public:
    explicit speculation(const speculation_settings& s)
        : s_(s), numbers_(s.seed), accepts_(s.acceptance), position_(s.depth)
    {
    }
    /// False when enough tokens were decoded.
    bool next(speculation_round& round);

private:
    step_plan walk(graph_state& graphs, std::uint64_t tokens, std::uint64_t end, std::uint64_t rows, std::uint64_t inputs) const;

    const speculation_settings s_;
    random_numbers numbers_;
    const chance accepts_;
    graph_state target_graphs_, draft_graphs_;
    std::uint64_t position_;           ///< tokens of the answer and before it in the target's cache
    std::uint64_t unseen_ = 0;         ///< of them, those that the draft has not processed
    std::uint64_t decoded_ = 0;
};

}  // namespace vrambench::engine
