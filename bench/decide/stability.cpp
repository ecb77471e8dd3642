#include "bench/decide/stability.hpp"

#include "workloads/random_numbers.hpp"

#include <algorithm>
#include <cmath>

namespace vrambench::decide {

namespace {

round_counts draw_rounds(std::size_t rounds, random_numbers& random)
{
    round_counts drawn(rounds, 0);
    for (std::size_t i = 0; i < rounds; ++i) ++drawn[random.below(rounds)];
    return drawn;
}

/// Situations drawn with replacement, as weights: each draw counts as often as its situation weighs.
std::vector<double> draw_weights(const std::vector<double>& weights, random_numbers& random)
{
    std::vector<double> drawn(weights.size(), 0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const std::size_t at = random.below(weights.size());
        drawn[at] += weights[at];
    }
    return drawn;
}

std::pair<double, double> middle_95(std::vector<double>& values)
{
    std::erase_if(values, [](double v) { return std::isnan(v); });
    if (values.empty()) return {not_known, not_known};
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
    };
    return {at(0.025), at(0.975)};
}

}  // namespace

stability resample(const contest& c, const margins& m, std::size_t resamples, std::uint64_t seed)
{
    random_numbers random(seed);
    const std::vector<double> weights = weights_of(c);
    stability result;
    result.resamples = resamples;
    result.alone.assign(c.candidates.size(), 0);
    result.among.assign(c.candidates.size(), 0);
    std::vector<std::vector<double>> regrets(c.candidates.size());
    for (std::size_t n = 0; n < resamples; ++n) {
        const std::vector<double> drawn = draw_weights(weights, random);
        std::vector<round_counts> counts;
        for (const std::size_t i : c.situations) counts.push_back(draw_rounds(c.where->situations[i].rounds, random));
        const std::vector<scores> s = score(c, slowdowns_of(c, counts), drawn);
        const std::vector<std::size_t> chosen = choose(s, m);
        for (const std::size_t a : chosen) ++result.among[a];
        if (chosen.size() == 1) ++result.alone[chosen.front()];
        for (std::size_t a = 0; a < s.size(); ++a) regrets[a].push_back(s[a].mean_regret);
    }
    for (auto* counts : {&result.alone, &result.among})
        for (double& count : *counts) count /= static_cast<double>(resamples);
    for (auto& r : regrets) result.regret95.push_back(middle_95(r));
    return result;
}

std::size_t fewest_processes(const contest& c)
{
    std::size_t fewest = SIZE_MAX;
    for (const std::size_t s : c.situations)
        for (const std::size_t a : c.candidates) {
            const evidence& e = c.where->situations[s].by_allocator[a];
            if (e.completed()) fewest = std::min(fewest, e.processes);
        }
    return fewest == SIZE_MAX ? 0 : fewest;
}

}  // namespace vrambench::decide
