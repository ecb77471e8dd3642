#pragma once
// Turns planned walks into events: synchronisations, and the walk or the graph that stands for it. Walks are made once and
// copied; what is kept does not grow with the length of the trace.

#include "workloads/engine/schedule.hpp"
#include "workloads/engine/walk.hpp"
#include "workloads/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vrambench::engine {

/// One context of the engine in one reader of one trace: its walks, its stream, and the graph that it keeps.
class event_player {
public:
    /// `place` is the number of the stream and of the graph; `first_tag` is where the maker's tags begin among the trace's.
    explicit event_player(const walk_maker& maker, std::uint16_t place = 0, std::uint16_t first_tag = 0)
        : maker_(maker), place_(place), first_tag_(first_tag)
    {
    }

    /// How a walk is really carried out: one that synchronises is never captured, so it is never replayed.
    walk_mode mode_of(const step_plan& step);
    /// Stated time of the walk's kernels.
    std::uint64_t nanoseconds_of(const step_plan& step);
    /// Queues one event without operands, to be copied before what is queued after it.
    void add(const event& e);
    /// Queues a walk. Only when nothing but added events is queued.
    void play(const step_plan& step);
    bool empty() const { return at_piece_ == pieces_.size(); }
    /// Appends what is queued, until the batch holds batch_events.
    void copy_to(event_batch& batch);

private:
    struct known_walk {
        walk_shape shape;
        walk made;
        std::optional<event_batch> sizes;
        std::optional<std::uint64_t> nanoseconds;
    };
    static constexpr std::size_t most_known = 64;

    known_walk& find(const walk_shape& shape);
    void queue(const event_batch& piece);
    void queue(const walk& w);
    void clear();

    const walk_maker& maker_;
    const std::uint16_t place_, first_tag_;
    std::vector<known_walk> known_;
    std::size_t oldest_ = 0, last_ = 0;
    event_batch head_, tail_;                   ///< what surrounds a walk
    std::vector<const event_batch*> pieces_;
    std::size_t at_piece_ = 0, at_event_ = 0;
};

}  // namespace vrambench::engine
