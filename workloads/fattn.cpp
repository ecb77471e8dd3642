#include "workloads/fattn.hpp"

#include "workloads/engine/event_player.hpp"
#include "workloads/fattn_settings.hpp"

#include <utility>

namespace vrambench {
namespace {

/// Numbers of the names that are not a walk's.
struct own_tags {
    std::uint16_t micro_batch, token, context, reserved, weights, cache;
};

own_tags add_own_tags(std::vector<std::string>& tags)
{
    const auto next = [&](const char* name) {
        tags.emplace_back(name);
        return static_cast<std::uint16_t>(tags.size() - 1);
    };
    return {.micro_batch = next("micro-batch"), .token = next("token"), .context = next("context"),
            .reserved = next("reserved K_f16 and V_f16"), .weights = next("weights"), .cache = next("KV cache")};
}

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
    /// `mode`: how the step is really carried out. A replayed token has a phase of its own, so that a short slice does not let
    /// its two walks stand for the 256 tokens that share them.
    std::uint8_t of(const engine::step_plan& step, engine::walk_mode mode) const
    {
        if (mode == engine::walk_mode::sizes) return context_;
        if (step.decode && mode == engine::walk_mode::replay) return replay_[step.slice];
        return step.decode ? decode_[step.slice] : prefill_[step.slice];
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

struct external {
    std::uint16_t tag;
    std::uint64_t bytes;
};

struct recipe {
    explicit recipe(fattn_settings f)
        : settings(std::move(f)), maker(settings.session), tags(maker.tags()), own(add_own_tags(tags)),
          phases(settings.schedule.slices, settings.schedule.graphs)
    {
        for (const external e : {external{own.weights, settings.weight_bytes}, external{own.cache, settings.cache_bytes},
                                 external{own.reserved, settings.reserved_bytes}})
            if (e.bytes > 0) externals.push_back(e);
    }

    fattn_settings settings;
    engine::walk_maker maker;
    std::vector<std::string> tags;
    own_tags own;
    phase_table phases;
    std::vector<external> externals;
};

class fattn_source final : public trace_source {
public:
    explicit fattn_source(std::shared_ptr<const recipe> r)
        : recipe_(std::move(r)), schedule_(recipe_->settings.schedule), player_(recipe_->maker)
    {
        std::uint32_t id = 0;
        for (const external& e : recipe_->externals)
            player_.add({.kind = event_kind::external_alloc, .tag = e.tag, .id = id++, .bytes = e.bytes});
    }

    bool fill(event_batch& batch) override
    {
        batch.clear();
        batch.events.reserve(batch_events);
        while (batch.events.size() < batch_events && (!player_.empty() || queue_next())) player_.copy_to(batch);
        return !batch.events.empty();
    }

private:
    bool queue_next()
    {
        if (const auto step = schedule_.next()) {
            const bool context = step->mode == engine::walk_mode::sizes;
            const own_tags& own = recipe_->own;
            const std::uint8_t phase = recipe_->phases.of(*step, player_.mode_of(*step));
            player_.play(*step, phase, context ? own.context : step->decode ? own.token : own.micro_batch);
            return true;
        }
        if (std::exchange(ended_, true)) return false;
        for (auto i = static_cast<std::uint32_t>(recipe_->externals.size()); i-- > 0;)
            player_.add({.kind = event_kind::external_free, .id = i});
        return !player_.empty();
    }

    const std::shared_ptr<const recipe> recipe_;
    engine::schedule schedule_;
    engine::event_player player_;
    bool ended_ = false;
};

class fattn_trace final : public trace {
public:
    fattn_trace(const entry& e, const config& c, fattn_settings f) : recipe_(std::make_shared<const recipe>(std::move(f)))
    {
        header_.name = e.name;
        header_.spec = canonical(e, c);
        header_.params = c.values();
        header_.tags = recipe_->tags;
        header_.phases = recipe_->phases.names();
        header_.notes = recipe_->settings.notes;
    }
    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override { return std::make_unique<fattn_source>(recipe_); }

private:
    std::shared_ptr<const recipe> recipe_;
    trace_header header_;
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
    fattn_settings f = parse_fattn(e.name, family_of(e), settings, target);
    return std::make_unique<fattn_trace>(e, settings, std::move(f));
}

}  // namespace vrambench
