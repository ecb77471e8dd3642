#pragma once
// When the engine walks its graph: micro-batches inside batches, decode steps, what a captured graph replaces, and how often
// the host synchronises. Source: recorded runs (docs/workloads/launches.md).

#include "workloads/engine/walk.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace vrambench::engine {

/// n_kv and the cache grow by this many cells.
inline constexpr std::uint64_t cell_padding = 256;

enum class walk_mode : std::uint8_t {
    direct,     ///< launches execute
    capture,    ///< launches are recorded into the graph, which is then launched once
    replay,     ///< the graph is launched: no walk, no pool call
    sizes,      ///< allocations and frees of each distinct layer once, behind one synchronisation: a context that is not measured
};

/// Where the host waits for the stream.
enum class sync_rule : std::uint8_t {
    engine,    ///< as recorded: for each graph input and copy before a walk, and when outputs are read
    token,     ///< at the end of each step
    batch,     ///< at the end of each batch of the prompt and of each decode step
    none,
};

/// One step of a session: a micro-batch, or one token of each sequence.
struct step_plan {
    walk_shape shape;
    walk_mode mode = walk_mode::direct;
    std::uint32_t slice = 0;             ///< index of its slice
    bool decode = false;
    std::uint64_t tokens = 0;            ///< that are measured; 0 in walk_mode::sizes
    std::uint32_t syncs_before = 0;      ///< between the step's begin and its walk
    std::uint32_t syncs_after = 0;
};

/// The engine keeps one captured graph: the first walk of a shape is direct, the second captured, later ones replay it, and
/// another shape starts again.
class graph_state {
public:
    walk_mode next(const walk_shape& shape, bool graphs);
    void forget() { last_.reset(); }

private:
    std::optional<walk_shape> last_;
    std::uint64_t walks_ = 0;
};

/// A part of a session, tokens of each sequence: the context up to `depth` is replayed in sizes only, then `prompt` tokens
/// are processed and `tokens` decoded.
struct slice {
    std::uint64_t depth = 0, prompt = 0, tokens = 0;
    bool after_idling = false;           ///< captured graphs were dropped, as the engine does after 10 s without use
};

struct schedule_settings {
    std::vector<slice> slices;           ///< a depth below the end of the slice before: the cache was cleared
    std::uint64_t ubatch = 512, batch = 2048;    ///< tokens, all sequences together
    std::uint64_t sequences = 1;
    bool graphs = true;
    bool cut = true;                     ///< last-layer-cut: output rows in the last micro-batch of each batch
    sync_rule sync = sync_rule::engine;
    std::uint64_t inputs = 6;            ///< graph inputs
};

/// Tokens of each sequence when the run ends.
std::uint64_t end_of(const std::vector<slice>& slices);
/// Graph inputs as recorded: 6, and 2 rotation matrices for a quantised cache.
std::uint64_t graph_inputs(const session& s);

class schedule {
public:
    explicit schedule(schedule_settings s) : s_(std::move(s)) {}
    /// The next step, or nothing at the end.
    std::optional<step_plan> next();

private:
    void begin_slice();
    step_plan micro_batch(const slice& now, std::uint64_t until, bool measured);
    step_plan decode_step();
    std::uint32_t syncs_before(bool rows) const;

    schedule_settings s_;
    graph_state graphs_;
    std::size_t slice_ = 0;
    std::uint64_t position_ = 0;         ///< tokens of each sequence in the cache
    std::uint64_t batch_left_ = 0;       ///< tokens of each sequence until the batch ends
};

}  // namespace vrambench::engine
