#include "bench/plan.hpp"
#include "spec/units.hpp"

namespace vrambench {

std::string canonical(const cell& c)
{
    const auto& header = c.workload->recipe->header();
    std::string text = c.on.spec + '|' + c.allocator.spec + '|' + header.spec + "|seed=" + std::to_string(header.seed);
    text += "|limit=" + (c.vram_limit_bytes ? exact_size(*c.vram_limit_bytes) : "none");
    text += std::string("|mode=") + to_string(c.mode) + "|kernels=" + to_string(c.kernels) + "|scale=" + c.kernel_scale;
    text += std::string("|verify=") + to_string(c.verify);
    return text;
}

std::string cell_id(const cell& c)
{
    std::uint64_t hash = 14695981039346656037u;    // FNV-1a, 64 bits
    for (const char ch : canonical(c)) hash = (hash ^ static_cast<unsigned char>(ch)) * 1099511628211u;
    static constexpr char digits[] = "0123456789abcdef";
    std::string id(16, '0');
    for (int i = 15; i >= 0; --i, hash >>= 4) id[static_cast<std::size_t>(i)] = digits[hash & 15];
    return id;
}

}  // namespace vrambench
