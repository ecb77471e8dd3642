#include "bench/decide/pareto.hpp"

namespace vrambench::decide {

namespace {

bool beats(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& margins)
{
    bool clearly = false;
    for (std::size_t k = 0; k < a.size(); ++k) {
        if (a[k] > b[k]) return false;
        clearly = clearly || a[k] + margins[k] < b[k];
    }
    return clearly;
}

}  // namespace

std::vector<std::optional<std::size_t>> dominators(const std::vector<std::vector<double>>& points,
                                                   const std::vector<double>& margins)
{
    std::vector<std::optional<std::size_t>> by(points.size());
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = 0; j < points.size() && !by[i]; ++j)
            if (j != i && beats(points[j], points[i], margins)) by[i] = j;
    return by;
}

}  // namespace vrambench::decide
