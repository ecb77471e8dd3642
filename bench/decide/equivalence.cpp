#include "bench/decide/equivalence.hpp"

#include <cmath>

namespace vrambench {

judgement judge(const interval& difference, double margin)
{
    if (difference.low > margin) return judgement::above;
    if (difference.high < -margin) return judgement::below;
    if (difference.low >= -margin && difference.high <= margin) return judgement::same;
    return judgement::undecided;
}

double resolution(const interval& difference, double margin) { return margin + (difference.high - difference.low) / 2; }

std::optional<double> processes_to_settle(std::size_t used, double difference, const interval& of, double margin)
{
    const double wanted = std::abs(std::abs(difference) - margin), half = (of.high - of.low) / 2;
    if (!(wanted > 0) || !(half > 0)) return std::nullopt;
    return std::ceil(static_cast<double>(used) * (half / wanted) * (half / wanted));
}

}  // namespace vrambench
