#include "workloads/engine/walk.hpp"

#include "workloads/engine/launches.hpp"
#include "workloads/engine/operation_writer.hpp"
#include "workloads/engine/segment_writer.hpp"

#include <algorithm>

namespace vrambench::engine {
namespace {

constexpr std::uint64_t f32_bytes = 4;

/// Layers with the same class have the same events.
struct layer_class {
    std::uint64_t layer = 0;                 ///< one of them
    bool sliding = false, experts = false;
    layer_end before = layer_end::dense;     ///< how the layer before ends; of layer 0 nothing is asked
    bool first = false, first_of_kind = false, last = false;

    bool same_as(const layer_class& o) const
    {
        return sliding == o.sliding && experts == o.experts && before == o.before && first == o.first &&
               first_of_kind == o.first_of_kind && last == o.last;
    }
};

layer_end end_of(const model& m, std::uint64_t layer)
{
    if (!m.has_experts(layer)) return layer_end::dense;
    return m.moe.shared_width != 0 ? layer_end::shared_expert : layer_end::experts;
}

layer_class class_of(const model& m, std::uint64_t layer)
{
    layer_class c{.layer = layer, .sliding = m.is_sliding(layer), .experts = m.has_experts(layer)};
    if (layer > 0) c.before = end_of(m, layer - 1);
    c.first = layer == 0;
    c.first_of_kind = true;
    for (std::uint64_t l = 0; l < layer && c.first_of_kind; ++l) c.first_of_kind = m.is_sliding(l) != c.sliding;
    c.last = layer + 1 == m.layers;
    return c;
}

bool is_expert(weight w) { return w == weight::expert_gate || w == weight::expert_up || w == weight::expert_down; }
bool is_gate(weight w) { return w == weight::gate || w == weight::expert_gate || w == weight::shared_gate; }
bool is_up(weight w) { return w == weight::up || w == weight::expert_up || w == weight::shared_up; }

/// Every weight that has a product in some layer, once.
std::vector<weight> weights_of(const model& m)
{
    std::vector<weight> all = weights_before_attention(m);
    for (const std::uint64_t layer : {std::uint64_t{0}, m.layers - 1})
        for (const weight w : weights_after_attention(m, layer))
            if (std::find(all.begin(), all.end(), w) == all.end()) all.push_back(w);
    all.push_back(weight::output);
    return all;
}

tag_table tags_for(const model& m)
{
    using enum buffer_kind;
    tag_table tags;
    for (const weight w : weights_of(m))
        if (is_expert(w))
            tags.add(site_of(w), {ids_source, ids_target, bounds, y, y_scale, fixup, ids_host, sorted_source, sorted_target,
                                  source0, source1, target});
        else
            tags.add(site_of(w), {y, y_scale, fixup, source0, source1, target});
    tags.add(site::attention, {k_f16, v_f16, kv_max, partial, partial_meta});
    for (const site s : {site::scores, site::values})
        tags.add(s, {source0, source1, target, source_pointers, target_pointers});
    return tags;
}

class walk_builder {
public:
    walk_builder(const session& s, const tag_table& tags, const walk_shape& shape)
        : s_(s), shape_(shape), out_(tags, s.target), operations_(s, out_)
    {
    }

    walk build()
    {
        std::vector<layer_class> known;
        for (std::uint64_t l = 0; l < s_.model.layers; ++l) {
            const layer_class c = class_of(s_.model, l);
            std::size_t i = 0;
            while (i < known.size() && !known[i].same_as(c)) ++i;
            if (i == known.size()) {
                known.push_back(c);
                layer(c);
                walk_.segments.push_back(out_.take());
            }
            walk_.order.push_back(static_cast<std::uint32_t>(i));
        }
        output();
        walk_.order.push_back(static_cast<std::uint32_t>(walk_.segments.size()));
        walk_.segments.push_back(out_.take());
        walk_.synchronises = out_.synchronises();
        return std::move(walk_);
    }

private:
    std::uint64_t tokens() const { return shape_.tokens * s_.sequences; }
    /// Rows that reach the feed-forward part of the last layer.
    std::uint64_t last_rows() const { return shape_.cut ? shape_.rows : tokens(); }

    void layer(const layer_class& c)
    {
        class_ = c;
        place_ = {.era = s_.era, .flash = s_.flash, .rotates = s_.rotates(), .compressed = s_.model.value_is_view(),
                  .head_norms = s_.model.moe.experts != 0 && !s_.model.value_is_view(), .tokens = tokens(), .rows = tokens(),
                  .first = c.first, .first_of_kind = c.first_of_kind, .cut = c.last && shape_.cut};
        if (c.last) place_.rows = last_rows();
        n_kv_ = c.sliding ? std::min(shape_.n_kv, s_.sliding_cache_cells()) : shape_.n_kv;
        for (const weight w : weights_before_attention(s_.model)) projection(w);
        launches(launches_before_attention(place_));
        operations_.attention(shape_.tokens, n_kv_);
        for (const weight w : weights_after_attention(s_.model, c.layer)) {
            const bool feeds_forward = w != weight::v_b && w != weight::o;
            if (feeds_forward && place_.rows == 0) return;    // nobody wants this layer's output
            projection(w);
        }
    }

    /// lm_head, or, where a walk without output rows keeps its last layer whole, what would stand before it.
    void output()
    {
        if (last_rows() == 0) return;
        place_.rows = last_rows();
        launches(launches_after_layer(end_of(s_.model, s_.model.layers - 1), last_rows()));
        if (shape_.rows > 0) operations_.product(weight::output, shape_.rows);
    }

    void projection(weight w)
    {
        const std::uint64_t rows = feed_forward(w) ? place_.rows : tokens();
        const bool fused = feed_forward(w) && gate_up_are_fused(s_.target, matrix_of(s_.model, gate_of(w)), rows);
        if (is_up(w) && fused) return;
        const bool starts_layer = (w == weight::q || w == weight::q_a) && !class_.first;
        launches(starts_layer ? launches_after_layer(class_.before, tokens()) : launches_before(w, place_, fused));
        operations_.product(w, rows, is_gate(w) && fused ? 2 : 1);
    }

    static bool feed_forward(weight w) { return w >= weight::gate && w <= weight::shared_down && w != weight::router; }
    static weight gate_of(weight w)
    {
        if (is_expert(w)) return weight::expert_gate;
        return w >= weight::shared_gate ? weight::shared_gate : weight::gate;
    }

    // ---- launches without buffers ----

    void launches(const std::vector<launch_kind>& kinds)
    {
        if (s_.ops != traced_ops::all) return;
        for (const launch_kind k : kinds) out_.launch(k, cost_of(k));
    }

    op_cost cost_of(launch_kind k) const
    {
        const model& m = s_.model;
        const std::uint64_t hidden = f32_bytes * place_.rows * m.width;
        const std::uint64_t heads = f32_bytes * tokens() * m.heads * m.key_head;
        const std::uint64_t used = std::max<std::uint64_t>(m.moe.used, 1);
        switch (k) {
        case launch_kind::add: return {.bytes = 3 * hidden};
        case launch_kind::rope:
        case launch_kind::head_norm:
        case launch_kind::copy: return {.bytes = 2 * heads};
        case launch_kind::rotate: return {.flops = heads / 2 * m.key_head, .bytes = 2 * heads};
        case launch_kind::set_rows: return {.bytes = 2 * f32_bytes * tokens() * m.kv_heads * m.key_head};
        case launch_kind::mask: return {.bytes = (f32_bytes + 2) * tokens() * n_kv_};
        case launch_kind::glu:
            return {.bytes = 3 * f32_bytes * place_.rows * (class_.experts ? used * m.moe.width : m.ffn)};
        case launch_kind::sum_experts: return {.bytes = used * hidden + hidden};
        default: return {.bytes = 2 * hidden};
        }
    }

    const session& s_;
    const walk_shape shape_;
    segment_writer out_;
    operation_writer operations_;
    walk walk_;
    layer_class class_;
    launch_place place_;
    std::uint64_t n_kv_ = 0;
};

}  // namespace

std::uint64_t session::sliding_cache_cells() const { return sliding_cells(model, cells, ubatch, unified_sequences); }

walk_maker::walk_maker(session s) : session_(std::move(s)), tags_(std::make_unique<tag_table>(tags_for(session_.model))) {}
walk_maker::~walk_maker() = default;
const std::vector<std::string>& walk_maker::tags() const { return tags_->names(); }
walk walk_maker::make(const walk_shape& shape) const { return walk_builder(session_, *tags_, shape).build(); }

std::uint64_t nanoseconds_of(const walk& w)
{
    std::vector<std::uint64_t> sums;
    for (const event_batch& segment : w.segments) {
        sums.push_back(0);
        for (const event& e : segment.events)
            if (e.kind == event_kind::kernel) sums.back() += static_cast<std::uint64_t>(e.nanoseconds);
    }
    std::uint64_t sum = 0;
    for (const std::uint32_t segment : w.order) sum += sums[segment];
    return sum;
}

event_batch sizes_of(const walk& w)
{
    std::vector<std::vector<event>> distinct;
    const auto same = [](const event& a, const event& b) { return a.kind == b.kind && a.id == b.id && a.bytes == b.bytes; };
    for (const event_batch& segment : w.segments) {
        std::vector<event> sizes;
        for (const event& e : segment.events)
            if (e.kind == event_kind::alloc || e.kind == event_kind::free) sizes.push_back(e);
        const auto equals = [&](const auto& o) { return std::equal(o.begin(), o.end(), sizes.begin(), sizes.end(), same); };
        if (std::none_of(distinct.begin(), distinct.end(), equals)) distinct.push_back(std::move(sizes));
    }
    event_batch out;
    for (const auto& sizes : distinct) out.events.insert(out.events.end(), sizes.begin(), sizes.end());
    return out;
}

std::uint64_t reserved_bytes(const session& s)
{
    std::uint64_t most = 0;
    if (s.era != era::reserved_fa || !s.flash) return most;
    for (const bool sliding : {false, true}) {
        const std::uint64_t layers = sliding ? s.model.sliding_layers() : s.model.layers - s.model.sliding_layers();
        if (layers == 0) continue;
        const std::uint64_t n_kv = sliding ? s.sliding_cache_cells() : s.cells;
        const std::uint64_t tokens = std::max<std::uint64_t>(s.ubatch / s.sequences, 1);
        const attention_shape a = attention_of(s.model, s.cache, tokens, n_kv, s.sequences);
        most = std::max(most, plan_attention(s.target, s.era, a).temporary_bytes);
    }
    return most;
}

}  // namespace vrambench::engine
