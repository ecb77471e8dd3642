#include "bench/decide/false_discovery.hpp"

#include <algorithm>
#include <numeric>

namespace vrambench {

std::vector<double> adjusted_for_all(std::span<const double> p)
{
    std::vector<std::size_t> largest_first(p.size());
    std::iota(largest_first.begin(), largest_first.end(), std::size_t{0});
    std::stable_sort(largest_first.begin(), largest_first.end(), [&](std::size_t a, std::size_t b) { return p[a] > p[b]; });
    std::vector<double> adjusted(p.size());
    double least = 1;
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double rank = static_cast<double>(p.size() - i);
        // max: m / m * p may round to less than p.
        least = std::min(least, std::max(p[largest_first[i]], p[largest_first[i]] * static_cast<double>(p.size()) / rank));
        adjusted[largest_first[i]] = least;
    }
    return adjusted;
}

double level_among(std::size_t found, std::size_t tests)
{
    return false_discovery_rate * static_cast<double>(found) / static_cast<double>(tests);
}

}  // namespace vrambench
