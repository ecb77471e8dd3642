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
    if (!c.inject.empty()) text += "|inject=" + c.inject;    // only where there is one, so that the ids of older files stay
    return text;
}

std::string cell_id(const cell& c) { return fnv1a(canonical(c)); }

}  // namespace vrambench
