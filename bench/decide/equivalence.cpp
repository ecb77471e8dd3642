#include "bench/decide/equivalence.hpp"

#include <algorithm>
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

std::optional<double> processes_to_settle(std::size_t used, double difference, double error, double margin)
{
    const double wanted = std::abs(std::abs(difference) - margin), ratio = 1.96 * error / wanted;
    if (!(wanted > 0) || !(error > 0)) return std::nullopt;
    return std::max(static_cast<double>(used + 1), std::ceil(static_cast<double>(used) * ratio * ratio));
}

}  // namespace vrambench
