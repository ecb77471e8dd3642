#include "workloads/engine/walk.hpp"

#include "workloads/engine/launches.hpp"
#include "workloads/engine/matmul.hpp"
#include "workloads/engine/segment_writer.hpp"

#include <algorithm>
#include <span>

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
bool is_ids(buffer_kind k)
{
    return k == buffer_kind::ids_source || k == buffer_kind::ids_target || k == buffer_kind::bounds;
}
bool is_y(buffer_kind k) { return k == buffer_kind::y || k == buffer_kind::y_scale; }
bool is_pointers(buffer_kind k) { return k == buffer_kind::source_pointers || k == buffer_kind::target_pointers; }

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
    walk_builder(const session& s, const tag_table& tags, const walk_shape& shape) : s_(s), shape_(shape), out_(tags, s.target) {}

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
        attention();
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
        if (shape_.rows > 0 && s_.ops == traced_ops::all) product(weight::output, shape_.rows, 1);
    }

    void projection(weight w)
    {
        const std::uint64_t rows = feed_forward(w) ? place_.rows : tokens();
        const bool fused = feed_forward(w) && gate_up_are_fused(s_.target, matrix_of(s_.model, gate_of(w)), rows);
        if (is_up(w) && fused) return;
        const bool starts_layer = (w == weight::q || w == weight::q_a) && !class_.first;
        launches(starts_layer ? launches_after_layer(class_.before, tokens()) : launches_before(w, place_, fused));
        if (s_.ops == traced_ops::all) product(w, rows, is_gate(w) && fused ? 2 : 1);
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
        case launch_kind::softmax: return {.bytes = 2 * f32_bytes * tokens() * n_kv_ * m.heads};
        case launch_kind::glu:
            return {.bytes = 3 * f32_bytes * place_.rows * (class_.experts ? used * m.moe.width : m.ffn)};
        case launch_kind::sum_experts: return {.bytes = used * hidden + hidden};
        default: return {.bytes = 2 * hidden};
        }
    }

    // ---- operations with buffers ----

    void product(weight w, std::uint64_t rows, std::uint64_t weights_read)
    {
        const weight_matrix matrix = matrix_of(s_.model, w);
        const std::uint64_t activation_rows = w == weight::expert_down ? matrix.used : 1;
        const matmul_plan plan = is_expert(w) ? plan_expert_matmul(s_.target, s_.era, matrix, rows, activation_rows)
                                              : plan_matmul(s_.target, s_.era, matrix, rows);
        const op_cost cost{plan.cost.flops * weights_read, plan.cost.bytes * weights_read};
        if (plan.path == matmul_path::expert_loop)
            expert_loop(site_of(w), plan, cost);
        else
            operation(site_of(w), {plan.buffers.begin(), plan.buffers.end()}, plan.timed_as, cost);
    }

    /// The buffers in order, each filled by its kernel once its group is whole; then the kernel that the site is named after.
    void operation(site s, std::span<const buffer> buffers, kernel_class c, const op_cost& cost)
    {
        operand_list reads, writes, group, fixups, targets;
        std::size_t inner = 0;    // pointer tables, which go before the result is converted back
        std::uint64_t bytes = 0;
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            const buffer& b = buffers[i];
            const std::uint32_t id = out_.alloc(s, b);
            const buffer_kind next = i + 1 < buffers.size() ? buffers[i + 1].kind : b.kind;
            const bool closes = i + 1 == buffers.size();
            bytes = (group.empty() ? 0 : bytes) + b.bytes;
            group.push_back(id);
            if (is_ids(b.kind) && (closes || !is_ids(next))) fill(launch_kind::sort_ids, bytes, {}, group, reads);
            if (is_y(b.kind) && (closes || !is_y(next))) {
                // 32 values are 128 bytes before and 36 after.
                const operand_list ids = reads;
                fill(launch_kind::quantise, bytes * 41 / 9, ids, group, reads);
            }
            if (b.kind == buffer_kind::source0 || b.kind == buffer_kind::source1)
                fill(launch_kind::convert, 2 * bytes, {}, group, reads);
            if (is_pointers(b.kind)) {
                ++inner;
                if (closes) fill(launch_kind::pointers, bytes, {}, group, reads);
            }
            if (b.kind == buffer_kind::fixup) fixups = writes = std::exchange(group, {});
            if (b.kind == buffer_kind::target) targets = writes = std::exchange(group, {});
        }
        out_.launch(s, c, cost, reads, writes);
        if (!fixups.empty()) out_.launch(launch_kind::fixup, {.bytes = 2 * bytes}, fixups);
        out_.free(inner);
        if (!targets.empty()) out_.launch(launch_kind::convert, {.bytes = 3 * target_bytes(buffers)}, targets);
        out_.free(buffers.size() - inner);
    }

    /// Writes the buffers of a group, which are read from then on.
    void fill(launch_kind k, std::uint64_t bytes, const operand_list& reads, operand_list& group, operand_list& read_later)
    {
        out_.launch(k, {.bytes = bytes}, reads, group);
        read_later.insert(read_later.end(), group.begin(), group.end());
        group.clear();
    }

    static std::uint64_t target_bytes(std::span<const buffer> buffers)
    {
        for (const buffer& b : buffers)
            if (b.kind == buffer_kind::target) return b.bytes;
        return 0;
    }

    /// The ids go to the host, which waits for them and once more before the first expert; rows are sorted by expert, and
    /// each expert in use is a product of its own.
    void expert_loop(site s, const matmul_plan& plan, const op_cost& cost)
    {
        const std::span<const buffer> all{plan.buffers.begin(), plan.buffers.end()};
        const std::size_t outer = std::min(plan.repeat_from, all.size());
        operand_list ids;
        for (const buffer& b : all.first(outer)) {
            ids.push_back(out_.alloc(s, b));
            if (b.kind == buffer_kind::ids_host) out_.synchronise();
        }
        out_.launch(launch_kind::gather, {.bytes = 2 * plan.buffers.bytes()}, {}, ids);
        out_.synchronise();
        const std::uint64_t times = std::max<std::uint64_t>(plan.repeats, 1);
        for (std::uint64_t i = 0; i < times; ++i)
            operation(s, all.subspan(outer), plan.timed_as, {cost.flops / times, cost.bytes / times});
        out_.launch(launch_kind::scatter, {.bytes = 2 * plan.buffers.bytes()}, ids);
        out_.free(outer);
    }

    // ---- attention ----

    attention_shape shape_of_attention() const
    {
        return attention_of(s_.model, s_.cache, shape_.tokens, n_kv_, s_.sequences);
    }

    void attention()
    {
        if (s_.flash)
            flash_attention();
        else
            plain_attention();
    }

    void plain_attention()
    {
        if (s_.ops == traced_ops::attention_copies) return;
        const attention_shape a = shape_of_attention();
        const matmul_plan scores = plan_scores(s_.target, s_.era, a), values = plan_values(s_.target, s_.era, a);
        operation(site::scores, {scores.buffers.begin(), scores.buffers.end()}, scores.timed_as, scores.cost);
        out_.launch(launch_kind::softmax, cost_of(launch_kind::softmax));
        operation(site::values, {values.buffers.begin(), values.buffers.end()}, values.timed_as, values.cost);
    }

    void flash_attention()
    {
        const attention_plan plan = plan_attention(s_.target, s_.era, shape_of_attention());
        const bool copies_only = s_.ops == traced_ops::attention_copies;
        operand_list reads, splits;
        std::size_t taken = 0;
        bool k_pooled = false, v_pooled = false;
        for (const buffer& b : plan.buffers) {
            const bool copy = b.kind == buffer_kind::k_f16 || b.kind == buffer_kind::v_f16;
            if (copies_only && !copy) continue;
            const std::uint32_t id = out_.alloc(site::attention, b);
            ++taken;
            if (b.kind == buffer_kind::partial || b.kind == buffer_kind::partial_meta) {
                splits.push_back(id);
                continue;
            }
            reads.push_back(id);
            k_pooled = k_pooled || b.kind == buffer_kind::k_f16;
            v_pooled = v_pooled || b.kind == buffer_kind::v_f16;
            if (copy)
                out_.launch(launch_kind::convert, b.kind == buffer_kind::k_f16 ? plan.convert_k_cost : plan.convert_v_cost, {}, {id});
            else
                out_.launch(launch_kind::mask, {.bytes = f32_bytes / 2 * tokens() * n_kv_}, {}, {id});
        }
        if (copies_only && taken == 0) return;
        if (plan.converts_k && !k_pooled) out_.launch(launch_kind::convert, plan.convert_k_cost);
        if (plan.converts_v && !v_pooled) out_.launch(launch_kind::convert, plan.convert_v_cost);
        out_.launch(site::attention, plan.timed_as, plan.cost, reads, splits);
        if (!splits.empty()) out_.launch(launch_kind::combine, plan.combine_cost, splits);
        out_.free(taken);
    }

    const session& s_;
    const walk_shape shape_;
    segment_writer out_;
    walk walk_;
    layer_class class_;
    launch_place place_;
    std::uint64_t n_kv_ = 0;
};

}  // namespace

std::uint64_t session::sliding_cache_cells() const { return sliding_cells(model, cells, ubatch); }

walk_maker::walk_maker(session s) : session_(std::move(s)), tags_(std::make_unique<tag_table>(tags_for(session_.model))) {}
walk_maker::~walk_maker() = default;
const std::vector<std::string>& walk_maker::tags() const { return tags_->names(); }
walk walk_maker::make(const walk_shape& shape) const { return walk_builder(session_, *tags_, shape).build(); }

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
