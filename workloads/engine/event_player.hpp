#pragma once
// Turns planned steps into events: the step, its synchronisations, and its walk or the graph that stands for it. Walks are
// made once and copied; what is kept does not grow with the length of the trace.

#include "workloads/engine/schedule.hpp"
#include "workloads/engine/walk.hpp"
#include "workloads/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace vrambench::engine {

/// One reader of one trace. Stream 0, graph 0.
class event_player {
public:
    explicit event_player(const walk_maker& maker) : maker_(maker) {}

    /// Queues one event without operands.
    void add(const event& e);
    /// How a step is really carried out: a walk that synchronises is never captured, so it is never replayed.
    walk_mode mode_of(const step_plan& step);
    /// Queues a step. Only when everything queued was copied.
    void play(const step_plan& step, std::uint8_t phase, std::uint16_t label);
    bool empty() const { return at_piece_ == pieces_.size(); }
    /// Appends what is queued, until the batch holds batch_events.
    void copy_to(event_batch& batch);

private:
    struct known_walk {
        walk_shape shape;
        walk made;
        std::optional<event_batch> sizes;
    };
    static constexpr std::size_t most_known = 64;

    known_walk& find(const walk_shape& shape);
    void queue(const event_batch& piece);
    void queue(const walk& w);
    void clear();

    const walk_maker& maker_;
    std::vector<known_walk> known_;
    std::size_t oldest_ = 0;
    event_batch head_, tail_;                   ///< what surrounds a walk
    std::vector<const event_batch*> pieces_;
    std::size_t at_piece_ = 0, at_event_ = 0;
};

}  // namespace vrambench::engine
