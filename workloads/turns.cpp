#include "workloads/turns.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/engine_settings.hpp"
#include "workloads/engine_trace.hpp"
#include "workloads/lengths.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace vrambench {
namespace {

enum phases : std::uint8_t { phase_prefill, phase_decode, phase_replay, phase_idle };
enum labels : std::uint16_t { label_micro_batch, label_token, label_idle };

/// Each turn is a slice of the schedule; after each comes an idle step.
class turns_planner final : public step_planner {
public:
    explicit turns_planner(const engine::schedule_settings& s)
        : schedule_(s), turns_(s.slices.size()), next_(schedule_.next())
    {
    }

    bool next(planned_step& step, std::uint64_t) override
    {
        step.walks.clear();
        if (turn_ < (next_ ? next_->slice : turns_)) {
            step = {.walks = std::move(step.walks), .phase = phase_idle, .label = label_idle};
            ++turn_;
            return true;
        }
        if (!next_) return false;
        step.walks.push_back({.plan = *next_});
        step.tokens = next_->tokens;
        step.phase = next_->decode ? phase_decode : phase_prefill;
        step.replayed_phase = next_->decode ? phase_replay : phase_prefill;
        step.label = next_->decode ? label_token : label_micro_batch;
        next_ = schedule_.next();
        return true;
    }

private:
    engine::schedule schedule_;
    const std::size_t turns_;
    std::size_t turn_ = 0;
    std::optional<engine::step_plan> next_;
};

std::vector<engine::slice> draw_turns(const config& c, const length_ranges& lengths, std::uint64_t seed)
{
    random_numbers numbers(seed);
    const log_uniform prompt = lengths.prompt.distribution(), answer = lengths.answer.distribution();
    const bool grows = c.is("cache", "grow");
    std::vector<engine::slice> slices;
    std::uint64_t depth = 0;
    for (std::uint64_t i = 0; i < c.integer("turns"); ++i) {
        const std::uint64_t tokens = prompt(numbers);
        slices.push_back({.depth = depth, .prompt = tokens, .tokens = answer(numbers), .after_idling = true});
        if (grows) depth += slices.back().prompt + slices.back().tokens;
    }
    return slices;
}

std::uint64_t longest_of(const std::string& name, const config& c, const std::vector<engine::slice>& slices)
{
    std::uint64_t longest = 0;
    for (const engine::slice& s : slices) longest = std::max(longest, s.depth + s.prompt + s.tokens);
    if (longest <= most_cells) return longest;
    throw input_error(name + ": turns=" + c.text("turns") + ": " + std::to_string(longest) +
                      " tokens exceed the 2^31 cells of a cache; fewer or shorter turns, or cache=clear");
}

}  // namespace

const entry& turns_entry()
{
    static const entry e = [] {
        entry made{.name = "turns",
                   .help = "a session of several prompts and answers, the engine idle between them",
                   .origin = "llama.cpp's walks as recorded on an H200; lengths of the turns ours",
                   .keys = engine_keys()};
        const auto add = [&](std::vector<key_info> keys) { made.keys.insert(made.keys.end(), keys.begin(), keys.end()); };
        add({{.name = "turns", .type = key_type::integer, .default_value = "8", .unit = "turns",
              .help = "prompts; the first ones are the same whatever their number", .least = 1, .most = 100'000},
             {.name = "cache", .type = key_type::choice, .default_value = "grow", .unit = "",
              .help = "grow: each turn is behind all earlier ones; clear: each begins with an empty cache",
              .choices = {"grow", "clear"}}});
        add(length_keys({.prompt = {256, 8192}, .answer = {64, 1024}}));
        add({layers_key(), graphs_key(), weights_key(), seed_key()});
        return made;
    }();
    return e;
}

std::unique_ptr<trace> make_turns(config settings, std::uint64_t default_seed, const std::string& target)
{
    const std::string& name = turns_entry().name;
    engine::session session = parse_engine(name, settings, target);
    const length_ranges lengths = parse_lengths(name, settings);
    const std::uint64_t seed = parse_seed(settings, default_seed);
    engine::schedule_settings s{.slices = draw_turns(settings, lengths, seed)};
    const std::uint64_t longest = longest_of(name, settings, s.slices);
    session.cells = round_up(longest, engine::cell_padding);
    s.ubatch = session.ubatch;
    s.batch = settings.integer("batch");
    s.graphs = settings.is("graphs", "on");
    s.inputs = engine::graph_inputs(session);
    return make_engine_trace(turns_entry(), settings,
                             {.contexts = {{.session = session, .weights = settings.is("weights", "on")}},
                              .phases = {"prefill", "decode", "replay", "idle"},
                              .labels = {"micro-batch", "token", "idle"},
                              .plan = [s] { return std::make_unique<turns_planner>(s); },
                              .seed = seed,
                              .notes = context_notes(name, longest, {session})});
}

}  // namespace vrambench
