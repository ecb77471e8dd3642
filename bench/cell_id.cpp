#include "bench/plan.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

namespace vrambench {

std::string canonical(const cell& c)
{
    const auto& header = c.workload->recipe->header();
    std::string text = c.on.spec + c.on.content + '|' + c.allocator.spec + '|' + header.spec + "|seed=" + std::to_string(header.seed);
    text += "|limit=" + (c.vram_limit_bytes ? exact_size(*c.vram_limit_bytes) : "none");
    text += std::string("|mode=") + to_string(c.mode) + "|kernels=" + to_string(c.kernels) + "|scale=" + c.kernel_scale;
    text += std::string("|verify=") + to_string(c.verify);
    if (c.resident_bytes) text += "|resident=" + exact_size(c.resident_bytes);
    if (!c.neighbour.empty()) text += "|neighbour=" + c.neighbour;
    if (!c.inject.empty()) text += "|inject=" + c.inject;    // only where there is one, so that the ids of older files stay
    return text;
}

std::string cell_id(const cell& c) { return fnv1a(canonical(c)); }

bool same_conditions(const cell& a, const cell& b)
{
    return a.environment == b.environment && a.on.spec == b.on.spec && a.mode == b.mode && a.kernels == b.kernels &&
           a.kernel_scale == b.kernel_scale && a.resident_bytes == b.resident_bytes && a.neighbour == b.neighbour &&
           a.workload->recipe->header().spec == b.workload->recipe->header().spec;
}

bool are_compared(const cell& a, const cell& b)
{
    return same_conditions(a, b) && a.vram_limit_bytes == b.vram_limit_bytes && a.inject == b.inject;
}

}  // namespace vrambench
