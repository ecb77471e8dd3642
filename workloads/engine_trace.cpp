#include "workloads/engine_trace.hpp"

#include "workloads/engine/event_player.hpp"

#include <utility>

namespace vrambench {
namespace {

struct external {
    std::uint16_t tag;
    std::uint64_t bytes;
};

/// What all readers of a trace share.
class shared_recipe {
public:
    explicit shared_recipe(engine_recipe r) : recipe(std::move(r))
    {
        for (const engine_context& c : recipe.contexts) add(c);
        first_label = static_cast<std::uint16_t>(tags.size());
        tags.insert(tags.end(), recipe.labels.begin(), recipe.labels.end());
    }

    const engine_recipe recipe;
    std::vector<std::unique_ptr<const engine::walk_maker>> makers;    ///< of each context
    std::vector<std::uint16_t> first_tags;                            ///< of each context
    std::vector<std::string> tags;
    std::vector<external> externals;
    std::uint16_t first_label = 0;

private:
    void add(const engine_context& c)
    {
        makers.push_back(std::make_unique<const engine::walk_maker>(c.session));
        first_tags.push_back(static_cast<std::uint16_t>(tags.size()));
        for (const std::string& tag : makers.back()->tags()) tags.push_back(c.prefix + tag);
        const engine::session& s = c.session;
        if (c.weights) {
            add_external(c.prefix + "weights", engine::weight_bytes(s.model));
            add_external(c.prefix + "KV cache",
                         s.sequences * engine::cache_bytes(s.model, s.cache, s.cells, s.sliding_cache_cells()));
        }
        add_external(c.prefix + "reserved K_f16 and V_f16", engine::reserved_bytes(s));
    }
    void add_external(std::string name, std::uint64_t bytes)
    {
        if (bytes == 0) return;
        externals.push_back({static_cast<std::uint16_t>(tags.size()), bytes});
        tags.push_back(std::move(name));
    }
};

class engine_source final : public trace_source {
public:
    explicit engine_source(std::shared_ptr<const shared_recipe> r) : shared_(std::move(r)), planner_(shared_->recipe.plan())
    {
        for (std::size_t i = 0; i < shared_->makers.size(); ++i)
            players_.emplace_back(*shared_->makers[i], static_cast<std::uint16_t>(i), shared_->first_tags[i]);
        std::uint32_t id = 0;
        for (const external& e : shared_->externals)
            players_[0].add({.kind = event_kind::external_alloc, .tag = e.tag, .id = id++, .bytes = e.bytes});
    }

    bool fill(event_batch& batch) override
    {
        batch.clear();
        batch.events.reserve(batch_events);
        while (batch.events.size() < batch_events && (!players_[active_].empty() || queue_next()))
            players_[active_].copy_to(batch);
        return !batch.events.empty();
    }

private:
    bool queue_next()
    {
        if (at_walk_ < step_.walks.size()) {
            play_next();
            return true;
        }
        if (ended_) return false;
        if (planner_->next(step_, std::exchange(elapsed_ns_, 0))) {
            begin_step();
            return true;
        }
        ended_ = true;
        for (auto i = static_cast<std::uint32_t>(shared_->externals.size()); i-- > 0;)
            players_[active_].add({.kind = event_kind::external_free, .id = i});
        return !players_[active_].empty();
    }

    void begin_step()
    {
        bool replayed = !step_.walks.empty();
        for (const planned_walk& w : step_.walks) {
            replayed = replayed && players_[w.context].mode_of(w.plan) == engine::walk_mode::replay;
            if (shared_->recipe.timed) elapsed_ns_ += players_[w.context].nanoseconds_of(w.plan);
        }
        at_walk_ = 0;
        if (!step_.walks.empty()) active_ = step_.walks[0].context;
        players_[active_].add({.kind = event_kind::step,
                               .phase = replayed ? step_.replayed_phase : step_.phase,
                               .tag = static_cast<std::uint16_t>(shared_->first_label + step_.label),
                               .tokens = step_.tokens});
        if (step_.walks.empty())
            players_[active_].add({.kind = event_kind::sync_device});
        else
            play_next();
    }

    void play_next()
    {
        const planned_walk& w = step_.walks[at_walk_++];
        active_ = w.context;
        players_[active_].play(w.plan);
    }

    const std::shared_ptr<const shared_recipe> shared_;
    std::unique_ptr<step_planner> planner_;
    std::vector<engine::event_player> players_;
    std::size_t active_ = 0;                 ///< the player whose events are being copied
    planned_step step_;
    std::size_t at_walk_ = 0;
    std::uint64_t elapsed_ns_ = 0;
    bool ended_ = false;
};

class engine_trace final : public trace {
public:
    engine_trace(const entry& e, const config& c, engine_recipe recipe)
        : shared_(std::make_shared<const shared_recipe>(std::move(recipe)))
    {
        const engine_recipe& r = shared_->recipe;
        header_.name = e.name;
        header_.spec = canonical(e, c);
        header_.params = c.values();
        header_.seed = r.seed;
        header_.streams = static_cast<std::uint32_t>(r.contexts.size());
        header_.tags = shared_->tags;
        header_.phases = r.phases;
        header_.notes = r.notes;
    }
    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override { return std::make_unique<engine_source>(shared_); }

private:
    std::shared_ptr<const shared_recipe> shared_;
    trace_header header_;
};

}  // namespace

std::unique_ptr<trace> make_engine_trace(const entry& e, const config& c, engine_recipe recipe)
{
    return std::make_unique<engine_trace>(e, c, std::move(recipe));
}

}  // namespace vrambench
