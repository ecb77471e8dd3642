#pragma once
// A trace of the engine: one or more contexts (a model with its cache, its stream and its graph) whose walks a planner orders.

#include "spec/spec.hpp"
#include "workloads/engine/schedule.hpp"
#include "workloads/engine/walk.hpp"
#include "workloads/trace.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace vrambench {

struct planned_walk {
    std::uint8_t context = 0;
    engine::step_plan plan;
};

/// One step of the trace.
struct planned_step {
    std::vector<planned_walk> walks;     ///< in order, with their synchronisations; none: the host waits for the device
    std::uint8_t phase = 0;
    std::uint8_t replayed_phase = 0;     ///< instead, where every walk is a replay
    std::uint16_t label = 0;             ///< index into engine_recipe::labels
    std::uint64_t tokens = 0;
};

/// Says what comes next. One reader of one trace.
class step_planner {
public:
    virtual ~step_planner() = default;
    /// Replaces `step` by the next one; false at the end. `elapsed_ns` is the stated kernel time of the step before.
    virtual bool next(planned_step& step, std::uint64_t elapsed_ns) = 0;
};

struct engine_context {
    engine::session session;
    bool weights = false;        ///< weights and KV cache are external allocations
    std::string prefix = {};     ///< of its tags, where there are several contexts: "draft "
};

struct engine_recipe {
    std::vector<engine_context> contexts;             ///< context i is on stream i and keeps graph i
    std::vector<std::string> phases, labels;
    std::function<std::unique_ptr<step_planner>()> plan;    ///< makes a planner for each reader
    bool timed = false;                               ///< the planner wants to know elapsed_ns, else it gets 0
    std::uint64_t seed = 0;
    std::vector<std::string> notes;
};

/// `c` is resolved against `e`.
std::unique_ptr<trace> make_engine_trace(const entry& e, const config& c, engine_recipe recipe);

}  // namespace vrambench
