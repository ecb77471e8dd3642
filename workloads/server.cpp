#include "workloads/server.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/engine/server_schedule.hpp"
#include "workloads/engine_settings.hpp"
#include "workloads/engine_trace.hpp"
#include "workloads/lengths.hpp"

namespace vrambench {
namespace {

enum phases : std::uint8_t { phase_prefill, phase_decode, phase_replay };
enum labels : std::uint16_t { label_micro_batch, label_tokens };

class server_planner final : public step_planner {
public:
    explicit server_planner(const engine::server_settings& s) : schedule_(s) {}

    bool next(planned_step& step, std::uint64_t elapsed_ns) override
    {
        const auto plan = schedule_.next(elapsed_ns);
        if (!plan) return false;
        step.walks.assign(1, {.plan = *plan});
        step.tokens = plan->tokens;
        step.phase = plan->decode ? phase_decode : phase_prefill;
        step.replayed_phase = plan->decode ? phase_replay : phase_prefill;
        step.label = plan->decode ? label_tokens : label_micro_batch;
        return true;
    }

private:
    engine::server_schedule schedule_;
};

void check(const std::string& name, const config& c, const engine::server_settings& s, std::uint64_t longest)
{
    if (s.slots > s.batch)
        throw input_error(name + ": sequences=" + c.text("sequences") + " exceeds batch=" + c.text("batch") +
                          ", which must hold a token of each");
    if (longest > s.cells)
        throw input_error(name + ": prompt-max + answer-max = " + std::to_string(longest) + " exceeds context=" +
                          c.text("context") + ", the cells of the cache: no such request could be answered");
}

}  // namespace

const entry& server_entry()
{
    static const entry e = [] {
        entry made{.name = "server",
                   .help = "continuous batching: requests arrive at random, their prompts are processed beside running answers",
                   .origin = "llama.cpp's server with a unified cache, 2026; walks as recorded, arrivals and lengths ours",
                   .keys = engine_keys()};
        const auto add = [&](std::vector<key_info> keys) { made.keys.insert(made.keys.end(), keys.begin(), keys.end()); };
        add({{.name = "sequences", .type = key_type::integer, .default_value = "16", .unit = "sequences",
              .help = "that run at a time and share the cache; further requests wait", .least = 1, .most = 256},
             {.name = "context", .type = key_type::integer, .default_value = "32768", .unit = "cells",
              .help = "of the shared cache, padded to 256; a request waits until its prompt and answer fit", .least = 1,
              .most = std::uint64_t{1} << 24},
             {.name = "requests", .type = key_type::integer, .default_value = "100", .unit = "requests",
              .help = "after whose answers the trace ends", .least = 1, .most = 1'000'000'000},
             {.name = "gap-ms", .type = key_type::integer, .default_value = "200", .unit = "ms",
              .help = "mean time between arrivals (exponential), of stated kernel time; 0: all arrive at the start",
              .most = 1'000'000'000}});
        add(length_keys({.prompt = {32, 4096}, .answer = {16, 1024}}));
        add({layers_key(), graphs_key(), weights_key(), seed_key()});
        return made;
    }();
    return e;
}

std::unique_ptr<trace> make_server(config settings, std::uint64_t default_seed, const std::string& target)
{
    const std::string& name = server_entry().name;
    engine::session session = parse_engine(name, settings, target);
    const length_ranges lengths = parse_lengths(name, settings);
    const std::uint64_t longest = lengths.prompt.most + lengths.answer.most;
    const engine::server_settings s{.slots = settings.integer("sequences"),
                                    .cells = round_up(settings.integer("context"), engine::cell_padding),
                                    .requests = settings.integer("requests"),
                                    .gap_ns = settings.integer("gap-ms") * 1'000'000,
                                    .prompt = lengths.prompt.distribution(),
                                    .answer = lengths.answer.distribution(),
                                    .seed = parse_seed(settings, default_seed),
                                    .ubatch = session.ubatch,
                                    .batch = settings.integer("batch"),
                                    .graphs = settings.is("graphs", "on"),
                                    .inputs = engine::graph_inputs(session)};
    check(name, settings, s, longest);
    session.cells = s.cells;
    session.unified_sequences = s.slots;
    return make_engine_trace(server_entry(), settings,
                             {.contexts = {{.session = session, .weights = settings.is("weights", "on")}},
                              .phases = {"prefill", "decode", "replay"},
                              .labels = {"micro-batch", "tokens"},
                              .plan = [s] { return std::make_unique<server_planner>(s); },
                              .timed = true,
                              .seed = s.seed,
                              .notes = context_notes(name, longest, {session})});
}

}  // namespace vrambench
