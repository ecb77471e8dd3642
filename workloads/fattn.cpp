#include "workloads/fattn.hpp"

#include "workloads/engine_trace.hpp"
#include "workloads/fattn_settings.hpp"

#include <utility>

namespace vrambench {
namespace {

enum labels : std::uint16_t { micro_batch, token, context };

/// Phases of the steps: those of each slice, and one for contexts that are not measured.
class phase_table {
public:
    phase_table(const std::vector<engine::slice>& slices, bool graphs)
    {
        for (const auto& s : slices) {
            const std::string where = slices.size() > 1 ? "@" + std::to_string(s.depth) : "";
            prefill_.push_back(s.prompt > 0 ? add("prefill" + where) : std::uint8_t{0});
            decode_.push_back(s.tokens > 0 ? add("decode" + where) : std::uint8_t{0});
            replay_.push_back(s.tokens > 0 && graphs ? add("replay" + where) : std::uint8_t{0});
        }
        if (slices.back().depth > 0) context_ = add("fast-forward");
    }
    const std::vector<std::string>& names() const { return names_; }
    /// A replayed token has a phase of its own, so that a short slice does not let its two walks stand for the 256 tokens
    /// that share them.
    void label(planned_step& step) const
    {
        const engine::step_plan& plan = step.walks[0].plan;
        const bool measured = plan.mode != engine::walk_mode::sizes;
        step.phase = !measured ? context_ : plan.decode ? decode_[plan.slice] : prefill_[plan.slice];
        step.replayed_phase = plan.decode ? replay_[plan.slice] : step.phase;
        step.label = !measured ? labels::context : plan.decode ? labels::token : labels::micro_batch;
    }

private:
    std::uint8_t add(std::string name)
    {
        names_.push_back(std::move(name));
        return static_cast<std::uint8_t>(names_.size() - 1);
    }
    std::vector<std::string> names_;
    std::vector<std::uint8_t> prefill_, decode_, replay_;
    std::uint8_t context_ = 0;
};

class fattn_planner final : public step_planner {
public:
    fattn_planner(const engine::schedule_settings& s, const phase_table& phases) : schedule_(s), phases_(phases) {}

    bool next(planned_step& step, std::uint64_t) override
    {
        const auto plan = schedule_.next();
        if (!plan) return false;
        step.walks.assign(1, {.plan = *plan});
        step.tokens = plan->tokens;
        phases_.label(step);
        return true;
    }

private:
    engine::schedule schedule_;
    const phase_table phases_;
};

constexpr const char* origin = "llama.cpp's CUDA and HIP back end, 2026: recorded on an H200, and its source (docs/workloads)";

fattn_family family_of(const entry& e)
{
    if (&e == &fattn_prefill_entry()) return fattn_family::prefill;
    return &e == &fattn_decode_entry() ? fattn_family::decode : fattn_family::session;
}

}  // namespace

const entry& fattn_prefill_entry()
{
    static const entry e{.name = "fattn-prefill",
                         .help = "one long prompt, in micro-batches: every pool call and launch of the graph walks",
                         .origin = origin,
                         .keys = fattn_keys(fattn_family::prefill)};
    return e;
}

const entry& fattn_decode_entry()
{
    static const entry e{.name = "fattn-decode",
                         .help = "tokens generated one at a time at a given depth of context",
                         .origin = origin,
                         .keys = fattn_keys(fattn_family::decode)};
    return e;
}

const entry& fattn_session_entry()
{
    static const entry e{.name = "fattn-session",
                         .help = "a prompt, then tokens generated one at a time",
                         .origin = origin,
                         .keys = fattn_keys(fattn_family::session)};
    return e;
}

std::unique_ptr<trace> make_fattn(const entry& e, config settings, const std::string& target)
{
    const fattn_settings f = parse_fattn(e.name, family_of(e), settings, target);
    const phase_table phases(f.schedule.slices, f.schedule.graphs);
    return make_engine_trace(e, settings,
                             {.contexts = {{.session = f.session, .weights = f.weights}},
                              .phases = phases.names(),
                              .labels = {"micro-batch", "token", "context"},
                              .plan = [s = f.schedule, phases] { return std::make_unique<fattn_planner>(s, phases); },
                              .notes = f.notes});
}

}  // namespace vrambench
