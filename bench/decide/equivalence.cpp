#include "bench/decide/equivalence.hpp"

#include "bench/decide/student.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace vrambench {

judgement judge(const interval& difference, double margin)
{
    if (difference.low > margin) return judgement::above;
    if (difference.high < -margin) return judgement::below;
    if (difference.low >= -margin && difference.high <= margin) return judgement::same;
    return judgement::undecided;
}

double resolution(const interval& difference, double margin, const spread& s, double level)
{
    const double half = (difference.high - difference.low) / 2;
    if (level >= 0.05) return margin + half;
    // As mean_estimate::p_within has it: beyond the interval the tail is Student's, or the interval's where that is wider.
    const double alone = student_reach(0.05, s.freedom);
    return margin + std::max(half / alone, s.error) * student_reach(level, s.freedom);
}

std::optional<double> processes_to_settle(std::size_t used, double difference, double margin, const spread& s, double level)
{
    const double wanted = std::abs(std::abs(difference) - margin);
    if (!(wanted > 0) || !(s.error > 0)) return std::nullopt;
    const double now = static_cast<double>(used);
    const auto enough = [&](double n) {
        return student_two_sided(wanted / s.error * std::sqrt(n / now), s.freedom * (n - 1) / (now - 1)) <= level;
    };
    double few = now, many = now + 1;        // `few` does not suffice, or is what there is
    while (!enough(many)) {
        few = std::exchange(many, many * 2);
        if (many > 1e15) return std::nullopt;
    }
    while (many - few > 1) {
        const double n = std::floor((few + many) / 2);
        (enough(n) ? many : few) = n;
    }
    return many;
}

}  // namespace vrambench
