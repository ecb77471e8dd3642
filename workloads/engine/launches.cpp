#include "workloads/engine/launches.hpp"

#include <array>

namespace vrambench::engine {
namespace {

using kinds = std::vector<launch_kind>;
using enum launch_kind;

/// Before the feed-forward part. One row: the product with wo adds the residual itself.
kinds before_ffn(const launch_place& p)
{
    if (p.cut) return {get_rows, get_rows, add, norm};
    if (p.tokens == 1) return {norm};
    return {add, norm};
}

/// One row: the router and one kernel that chooses; more: eight launches.
kinds before_experts(const launch_place& p)
{
    kinds k = before_ffn(p);
    k.insert(k.end(), p.rows == 1 ? 2 : 8, route);
    return k;
}

/// The tree of 2026-04-21 has no kernel of its own: a GEMM, which takes two launches for the few columns of one token.
kinds rotation_of_query(const launch_place& p)
{
    if (!p.rotates || p.compressed) return {};
    return kinds(p.era == era::pool_fa_early && p.tokens == 1 ? 2 : 1, rotate);
}

bool norms_apart(const launch_place& p) { return p.head_norms && p.era == era::pool_fa_early; }

kinds before_v(const launch_place& p)
{
    kinds k;
    if (norms_apart(p)) k.push_back(head_norm);
    k.push_back(rope);
    const kinds r = rotation_of_query(p);
    k.insert(k.end(), r.begin(), r.end());
    return k;
}

kinds before_output(const launch_place& p)
{
    if (p.compressed) return {copy};
    kinds k = rotation_of_query(p);
    if (!p.flash && p.tokens > 1) k.push_back(copy);
    return k;
}

}  // namespace

const char* to_string(launch_kind k)
{
    static constexpr std::array<const char*, launch_kinds> names{
        "norm", "add", "get_rows", "rope", "head_norm", "rotate", "set_rows", "mask", "copy", "softmax", "glu",
        "route", "sum_experts", "quantise", "fixup", "convert", "sort_ids", "pointers", "combine", "gather", "scatter"};
    return names[static_cast<std::size_t>(k)];
}

kinds launches_after_layer(layer_end end, std::uint64_t rows)
{
    if (end == layer_end::experts) return {sum_experts, sum_experts, add, norm};
    if (end == layer_end::shared_expert) return {add, add, norm};
    if (rows == 1) return {norm};    // the product with down adds the residual itself
    return {add, norm};
}

kinds launches_before(weight w, const launch_place& p, bool gate_up_fused)
{
    switch (w) {
    case weight::q:
    case weight::q_a: return {norm};
    case weight::q_b: return {norm};
    case weight::k_b: return {rope};
    case weight::v: return before_v(p);
    case weight::k: return p.rotates ? kinds{rotate} : kinds{};
    case weight::o: return before_output(p);
    case weight::gate: return before_ffn(p);
    case weight::expert_gate: return before_experts(p);
    case weight::shared_gate: return {sum_experts, sum_experts};
    case weight::down:
    case weight::expert_down:
    case weight::shared_down: return gate_up_fused ? kinds{} : kinds{glu};
    default: return {};
    }
}

kinds launches_before_attention(const launch_place& p)
{
    kinds k;
    if (p.first_of_kind && p.flash) k.push_back(mask);
    if (norms_apart(p)) k.push_back(head_norm);
    if (p.compressed)
        k.insert(k.end(), {norm, rope, copy, copy, set_rows});
    else if (p.rotates)
        k.insert(k.end(), {rope, rotate, set_rows, set_rows});
    else
        k.insert(k.end(), {rope, set_rows});
    return k;
}

}  // namespace vrambench::engine
