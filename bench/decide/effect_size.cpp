#include "bench/decide/effect_size.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

namespace vrambench {

double cliffs_delta(std::span<const double> base, std::span<const double> other)
{
    if (base.empty() || other.empty()) throw std::logic_error("the effect of nothing was asked for");
    std::vector<double> sorted(base.begin(), base.end());
    std::sort(sorted.begin(), sorted.end());
    std::ptrdiff_t lead = 0;
    for (const double v : other) {
        const auto [below, above] = std::equal_range(sorted.begin(), sorted.end(), v);
        lead += (below - sorted.begin()) - (sorted.end() - above);
    }
    return static_cast<double>(lead) / (static_cast<double>(base.size()) * static_cast<double>(other.size()));
}

const char* effect_words(double cliffs_delta)
{
    const double size = std::abs(cliffs_delta);
    return size < 0.147 ? "negligible" : size < 0.33 ? "small" : size < 0.474 ? "medium" : "large";
}

}  // namespace vrambench
