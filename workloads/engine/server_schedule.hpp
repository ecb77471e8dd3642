#pragma once
// Continuous batching as llama.cpp's server does it: each batch holds one token of every answer that is being decoded, then
// as much of the waiting prompts as fits, and is processed in micro-batches. All sequences share one cache.

#include "workloads/engine/cell_map.hpp"
#include "workloads/engine/schedule.hpp"
#include "workloads/random_numbers.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace vrambench::engine {

struct server_settings {
    std::uint64_t slots = 16;                      ///< sequences that run at a time
    std::uint64_t cells = 32'768;                  ///< of the cache, padded; at least the longest prompt and answer
    std::uint64_t requests = 100;
    std::uint64_t gap_ns = 200'000'000;            ///< mean time between arrivals
    log_uniform prompt{1, 1}, answer{1, 1};        ///< tokens
    std::uint64_t seed = 1;
    std::uint64_t ubatch = 512, batch = 2048;      ///< tokens
    bool graphs = true;
    std::uint64_t inputs = 6;                      ///< graph inputs
};

/// Requests arrive at random times and wait, first come first served, until a slot is free and the cache has room for the
/// whole request. Time is the stated kernel time of what was processed, so that a trace is the same for every allocator;
/// where nothing runs it goes on to the next arrival. A request keeps its cells until its answer is complete.
class server_schedule {
public:
    explicit server_schedule(const server_settings& s);

    /// The next micro-batch, after `elapsed_ns` of kernels; nothing when all requests were answered. `decode` is true where it
    /// holds no token of a prompt.
    std::optional<step_plan> next(std::uint64_t elapsed_ns);

private:
    struct request {
        std::uint64_t arrival_ns = 0, prompt = 0, answer = 0;
        std::uint64_t cells() const { return prompt + answer; }
    };
    struct slot {
        std::uint64_t prompt_left = 0, answer_left = 0, cells_wanted = 0;    ///< cells_wanted = 0: the slot is free
        std::vector<std::uint32_t> cells;
    };
    struct part {
        std::size_t slot = 0;
        std::uint64_t tokens_left = 0;
        bool prompt = false;
    };

    void draw();
    void admit();
    void finish();
    bool form_batch();
    step_plan micro_batch();
    std::uint64_t process(part& p, std::uint64_t tokens);

    const server_settings s_;
    random_numbers numbers_;
    const exponential gap_;
    graph_state graphs_;
    cell_map cells_;
    std::vector<slot> slots_;
    std::optional<request> waiting_;    ///< who came first of those without a slot
    std::uint64_t drawn_ = 0, last_arrival_ns_ = 0, now_ns_ = 0, cells_promised_ = 0;
    std::vector<part> batch_;
    std::size_t at_part_ = 0;
    bool batch_has_rows_ = false;
};

}  // namespace vrambench::engine
