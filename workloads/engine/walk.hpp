#pragma once
// A graph walk: what the engine asks of the pool and launches, in order, while it goes once over the nodes of a graph. Between
// two operations no block is alive, so ids are depths: 0 for the first block of an operation.

#include "workloads/engine/attention.hpp"
#include "workloads/engine/era.hpp"
#include "workloads/engine/model.hpp"
#include "workloads/engine/target.hpp"
#include "workloads/trace.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace vrambench::engine {

/// Which operations are in the trace: all; attention only; of it only what the f16 copies of K and V need.
enum class traced_ops : std::uint8_t { all, attention, attention_copies };

/// What all walks of a session share.
struct session {
    engine::model model;
    engine::target target;
    engine::era era = era::reserved_fa;
    tensor_type cache = tensor_type::f16;
    bool flash = true;                  ///< fa=on
    std::uint64_t sequences = 1;        ///< each with a cache of its own
    std::uint64_t unified_sequences = 1;    ///< that share one cache
    std::uint64_t cells = 0;            ///< of a sequence's cache, padded
    std::uint64_t ubatch = 512;         ///< tokens, all sequences together
    traced_ops ops = traced_ops::all;

    /// A quantised cache is rotated by Hadamard matrices, which are two more graph inputs.
    bool rotates() const { return is_quantised(cache); }
    std::uint64_t sliding_cache_cells() const;
};

/// What makes a walk differ from another one of the session.
struct walk_shape {
    std::uint64_t tokens = 0;       ///< of each sequence
    std::uint64_t n_kv = 0;         ///< cells that global layers see, padded
    std::uint64_t rows = 0;         ///< requested outputs, all sequences together; 0: no lm_head
    bool cut = true;                ///< the last layer's feed-forward part works on `rows` rows only

    friend bool operator==(const walk_shape&, const walk_shape&) = default;
};

/// A walk as stretches of events, since layers repeat: the events of the walk are those of segments[order[0]],
/// segments[order[1]], ... Operands of a segment count from its own first one.
struct walk {
    std::vector<event_batch> segments;
    std::vector<std::uint32_t> order;
    bool synchronises = false;    ///< an operation waits for the device: such a walk cannot be captured
};

class tag_table;

/// Makes the walks of a session. One thread.
class walk_maker {
public:
    explicit walk_maker(session s);
    ~walk_maker();

    const session& settings() const { return session_; }
    /// Names of the events' tags: allocation sites and kernels.
    const std::vector<std::string>& tags() const;
    /// Kernels state nanoseconds. Events are on stream 0.
    walk make(const walk_shape& shape) const;

private:
    session session_;
    std::unique_ptr<const tag_table> tags_;
};

/// Stated time of all kernels of the walk.
std::uint64_t nanoseconds_of(const walk& w);

/// The allocations and frees of each distinct layer of the walk once, without launches: they leave a pool as the whole walk
/// does, since layers repeat.
event_batch sizes_of(const walk& w);

/// Bytes for f16 K and V that era::reserved_fa plans at start-up, for the whole cache; 0 in the other eras.
std::uint64_t reserved_bytes(const session& s);

}  // namespace vrambench::engine
