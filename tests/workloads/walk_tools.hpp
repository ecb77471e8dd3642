#pragma once
// Sessions and walks for tests.

#include "workloads/engine/walk.hpp"

#include <string>
#include <utility>
#include <vector>

namespace vrambench::engine {

struct session_choice {
    std::string model = "llama-3.1-8b";
    era when = era::pool_fa_early;
    tensor_type cache = tensor_type::q8_0;
    bool flash = true;
    std::uint64_t layers = 0;    ///< 0: the model's
    std::string target = "h200";
    std::uint64_t sequences = 1;
};

inline session session_of(const session_choice& c)
{
    session s{.model = find_model(c.model), .target = find_target(c.target), .era = c.when, .cache = c.cache,
              .flash = c.flash, .sequences = c.sequences, .cells = 131'072, .ubatch = 512};
    if (c.layers != 0) s.model.layers = c.layers;
    return s;
}

/// All events of a walk in order; operands count from the events' segments, so each event carries its own.
struct walked_event {
    event e;
    std::vector<std::uint32_t> reads, writes;
};

inline std::vector<walked_event> events_of(const walk& w)
{
    std::vector<walked_event> out;
    for (const std::uint32_t i : w.order) {
        const event_batch& s = w.segments[i];
        for (const event& e : s.events)
            out.push_back({e, {s.reads(e).begin(), s.reads(e).end()}, {s.writes(e).begin(), s.writes(e).end()}});
    }
    return out;
}

inline std::uint64_t count_of(const walk& w, event_kind kind)
{
    std::uint64_t n = 0;
    for (const auto& x : events_of(w)) n += x.e.kind == kind ? 1 : 0;
    return n;
}

/// The walk as the recordings write it: "+N" launches, "A" or "F" with bytes.
inline std::string story_of(const walk& w)
{
    std::string out;
    std::uint64_t launches = 0;
    std::vector<std::uint64_t> live;
    const auto tell = [&](char what, std::uint64_t bytes) {
        out += (out.empty() ? "+" : " +") + std::to_string(std::exchange(launches, 0)) + " " + what + std::to_string(bytes);
    };
    for (const auto& x : events_of(w)) {
        if (x.e.kind == event_kind::kernel) ++launches;
        if (x.e.kind == event_kind::alloc) {
            live.push_back(x.e.bytes);
            tell('A', x.e.bytes);
        }
        if (x.e.kind == event_kind::free) {
            tell('F', live.back());
            live.pop_back();
        }
    }
    return launches == 0 ? out : out + " +" + std::to_string(launches);
}

inline constexpr walk_shape prompt_512{.tokens = 512, .n_kv = 16'384};
inline constexpr walk_shape prompt_512_outputs{.tokens = 512, .n_kv = 16'384, .rows = 1};
inline constexpr walk_shape one_token{.tokens = 1, .n_kv = 16'640, .rows = 1};

}  // namespace vrambench::engine
