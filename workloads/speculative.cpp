#include "workloads/speculative.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/engine/speculation.hpp"
#include "workloads/engine_settings.hpp"
#include "workloads/engine_trace.hpp"
#include "workloads/lengths.hpp"

namespace vrambench {
namespace {

enum contexts : std::uint8_t { target_context, draft_context };
enum phases : std::uint8_t { phase_prefill, phase_decode, phase_replay, phase_draft_prefill, phase_fast_forward };
enum labels : std::uint16_t { label_micro_batch, label_round, label_context };

/// Both models process the prompt, the target first; then rounds.
class speculative_planner final : public step_planner {
public:
    speculative_planner(const engine::schedule_settings& target, const engine::schedule_settings& draft,
                        const engine::speculation_settings& s)
        : prompts_{engine::schedule(target), engine::schedule(draft)}, rounds_(s)
    {
    }

    bool next(planned_step& step, std::uint64_t) override
    {
        step.walks.clear();
        for (; context_ <= draft_context; ++context_)
            if (const auto plan = prompts_[context_].next()) {
                prompt_step(step, *plan);
                return true;
            }
        if (!rounds_.next(round_)) return false;
        for (const engine::step_plan& plan : round_.draft) step.walks.push_back({draft_context, plan});
        step.walks.push_back({target_context, round_.target});
        step.phase = phase_decode;
        step.replayed_phase = phase_replay;
        step.label = label_round;
        step.tokens = round_.tokens;
        return true;
    }

private:
    void prompt_step(planned_step& step, const engine::step_plan& plan) const
    {
        const bool measured = plan.mode != engine::walk_mode::sizes;
        step.walks.push_back({context_, plan});
        step.phase = !measured ? phase_fast_forward : context_ == target_context ? phase_prefill : phase_draft_prefill;
        step.replayed_phase = step.phase;
        step.label = measured ? label_micro_batch : label_context;
        step.tokens = plan.tokens;
    }

    engine::schedule prompts_[2];
    engine::speculation rounds_;
    engine::speculation_round round_;
    std::uint8_t context_ = target_context;
};

engine::schedule_settings prompt_of(const config& c, const engine::session& s)
{
    return {.slices = {{.depth = c.integer("depth"), .prompt = c.integer("prompt")}},
            .ubatch = s.ubatch,
            .batch = c.integer("batch"),
            .graphs = c.is("graphs", "on"),
            .inputs = engine::graph_inputs(s)};
}

std::uint64_t checked_end(const std::string& name, const config& c)
{
    const std::uint64_t end = c.integer("depth") + c.integer("prompt") + c.integer("tokens") + c.integer("proposals");
    if (end <= most_cells) return end;
    throw input_error(name + ": depth, prompt, tokens and proposals are " + std::to_string(end) +
                      " together, more than the 2^31 cells of a cache");
}

}  // namespace

const entry& speculative_entry()
{
    static const entry e = [] {
        constexpr std::uint64_t most = std::uint64_t{1} << 31;
        entry made{.name = "speculative",
                   .help = "a draft model proposes tokens, the target model checks them: two streams and pools on one device",
                   .origin = "llama.cpp's speculative decoding, 2026; walks as recorded, acceptance ours",
                   .keys = engine_keys("llama-3.1-70b")};
        made.keys.insert(made.keys.begin() + 1,
                         {.name = "draft", .type = key_type::text, .default_value = "llama-3.1-8b", .unit = "",
                          .help = "the model that proposes: a name or @FILE.json, as model"});
        const auto number = [](const char* key, const char* value, const char* unit, const char* help, std::uint64_t least,
                               std::uint64_t largest) {
            return key_info{.name = key, .type = key_type::integer, .default_value = value, .unit = unit, .help = help,
                            .least = least, .most = largest};
        };
        made.keys.insert(made.keys.end(),
                         {number("depth", "0", "tokens", "in both caches before: replayed in sizes only, not measured", 0, most),
                          number("prompt", "4096", "tokens", "processed by both models", 1, most),
                          number("tokens", "512", "tokens", "decoded at least; the last round is finished", 1, most),
                          number("proposals", "4", "tokens", "of the draft in each round", 1, 64),
                          {.name = "acceptance", .type = key_type::number, .default_value = "0.7", .unit = "probability",
                           .help = "of each proposal; what follows a refused one is refused too", .most = 1},
                          layers_key(), graphs_key(), weights_key(), seed_key()});
        return made;
    }();
    return e;
}

std::unique_ptr<trace> make_speculative(config settings, std::uint64_t default_seed, const std::string& target)
{
    const std::string& name = speculative_entry().name;
    engine::session large = parse_engine(name, settings, target), small = parse_engine(name, settings, target, "draft");
    const std::uint64_t end = checked_end(name, settings);
    large.cells = small.cells = round_up(end, engine::cell_padding);
    const bool weights = settings.is("weights", "on");
    const engine::speculation_settings s{.depth = settings.integer("depth") + settings.integer("prompt"),
                                         .tokens = settings.integer("tokens"),
                                         .proposals = settings.integer("proposals"),
                                         .acceptance = settings.number("acceptance"),
                                         .seed = parse_seed(settings, default_seed),
                                         .graphs = settings.is("graphs", "on"),
                                         .target_inputs = engine::graph_inputs(large),
                                         .draft_inputs = engine::graph_inputs(small)};
    const engine::schedule_settings prompts[] = {prompt_of(settings, large), prompt_of(settings, small)};
    const auto plan = [s, a = prompts[0], b = prompts[1]] { return std::make_unique<speculative_planner>(a, b, s); };
    std::vector<std::string> phases{"prefill", "decode", "replay", "draft-prefill", "fast-forward"};
    return make_engine_trace(speculative_entry(), settings,
                             {.contexts = {{.session = large, .weights = weights},
                                           {.session = small, .weights = weights, .prefix = "draft "}},
                              .phases = std::move(phases),
                              .labels = {"micro-batch", "round", "context"},
                              .plan = plan,
                              .seed = s.seed,
                              .notes = context_notes(name, end, {large, small})});
}

}  // namespace vrambench
