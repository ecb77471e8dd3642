#include "bench/decide/variance_split.hpp"

#include "bench/decide/bootstrap.hpp"

#include <algorithm>

namespace vrambench {

std::optional<variance_split> split_variance(const std::vector<std::vector<double>>& processes)
{
    double values = 0, groups = 0, squared_sizes = 0;
    std::vector<double> all;
    for (const auto& p : processes) {
        if (p.empty()) continue;
        const double size = static_cast<double>(p.size());
        values += size;
        groups += 1;
        squared_sizes += size * size;
        all.insert(all.end(), p.begin(), p.end());
    }
    if (groups < 2 || values <= groups) return std::nullopt;

    const double overall = mean(all);
    double between = 0, within = 0;
    for (const auto& p : processes) {
        if (p.empty()) continue;
        const double own = mean(p);
        between += static_cast<double>(p.size()) * (own - overall) * (own - overall);
        for (const double v : p) within += (v - own) * (v - own);
    }
    const double ms_between = between / (groups - 1), ms_within = within / (values - groups);
    const double size = (values - squared_sizes / values) / (groups - 1);
    return variance_split{std::max(0.0, (ms_between - ms_within) / size), ms_within};
}

}  // namespace vrambench
