#include "bench/decide/choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace vrambench::decide {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

unsigned count_of(const round_counts& rounds, std::uint64_t round) { return rounds.empty() ? 1 : rounds[round]; }

/// `values` ascend. A draw that has none of their rounds says nothing new: all of them count once.
double median_of(const std::vector<timed_value>& values, const round_counts& rounds)
{
    if (values.empty()) return not_known;
    unsigned total = 0;
    for (const timed_value& v : values) total += count_of(rounds, v.round);
    if (total == 0) return median_of(values, {});
    const auto at = [&](unsigned place) {
        for (const timed_value& v : values) {
            const unsigned n = count_of(rounds, v.round);
            if (place < n) return v.slowdown;
            place -= n;
        }
        return values.back().slowdown;
    };
    const double low = at((total - 1) / 2), high = at(total / 2);
    return low + (high - low) / 2;
}

double best_of(const std::vector<double>& times)
{
    double best = never;
    for (const double t : times) {
        if (std::isnan(t)) return not_known;
        best = std::min(best, t);
    }
    return best;
}

/// Adds what one phase says: nothing where nobody finished or a time is missing.
void add_phase(std::vector<scores>& all, std::vector<double>& weight_of, const std::vector<double>& times, double weight,
               std::size_t situation, std::size_t phase)
{
    const double best = best_of(times);
    if (!std::isfinite(best)) return;
    for (std::size_t a = 0; a < times.size(); ++a) {
        if (!std::isfinite(times[a])) continue;
        scores& s = all[a];
        const double regret = times[a] / best - 1;
        s.added += weight * (times[a] - 1);
        s.mean_regret += weight * regret;
        weight_of[a] += weight;
        if (!s.timed || regret > s.max_regret) {
            s.max_regret = regret;
            s.worst_situation = situation;
            s.worst_phase = phase;
        }
        s.timed = true;
    }
}

void add_memory(std::vector<scores>& all, const contest& c, const std::vector<double>& weights)
{
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (std::size_t a = 0; a < c.candidates.size(); ++a) {
        double known = 0;
        for (std::size_t i = 0; i < c.situations.size(); ++i) {
            const evidence& e = c.where->situations[c.situations[i]].by_allocator[c.candidates[a]];
            if (weights[i] == 0) continue;
            if (!e.completed()) {
                all[a].unfinished += weights[i] / sum;
                continue;
            }
            if (c.where->real) all[a].idle_ns = std::max(all[a].idle_ns, e.idle_ns);
            if (!e.bloat) continue;
            all[a].bloat += weights[i] * *e.bloat;
            known += weights[i];
        }
        all[a].bloat = known > 0 ? all[a].bloat / known : not_known;
    }
}

/// Keeps the places whose value is at most `limit(least)`. NaN counts as the largest.
template <typename Value, typename Limit>
void keep(std::vector<std::size_t>& left, const Value& value, const Limit& limit)
{
    double least = never;
    for (const std::size_t a : left)
        if (!std::isnan(value(a))) least = std::min(least, value(a));
    if (least == never) return;
    const double most = limit(least);
    std::erase_if(left, [&](std::size_t a) { return !(value(a) <= most); });
}

}  // namespace

slowdowns slowdowns_of(const contest& c, const std::vector<round_counts>& rounds)
{
    slowdowns all;
    const round_counts each_once;
    for (std::size_t i = 0; i < c.situations.size(); ++i) {
        const situation& s = c.where->situations[c.situations[i]];
        auto& phases = all.emplace_back(s.phases.size(), std::vector<double>(c.candidates.size()));
        for (std::size_t f = 0; f < s.phases.size(); ++f)
            for (std::size_t a = 0; a < c.candidates.size(); ++a) {
                const evidence& e = s.by_allocator[c.candidates[a]];
                phases[f][a] = e.completed() ? median_of(e.times[f], rounds.empty() ? each_once : rounds[i]) : never;
            }
    }
    return all;
}

std::vector<double> weights_of(const contest& c)
{
    std::vector<double> weights;
    for (const std::size_t s : c.situations) weights.push_back(c.where->situations[s].weight);
    return weights;
}

std::vector<scores> score(const contest& c, const slowdowns& times, const std::vector<double>& weights)
{
    std::vector<scores> all(c.candidates.size());
    std::vector<double> weight_of(c.candidates.size(), 0);
    for (std::size_t i = 0; i < c.situations.size(); ++i) {
        if (weights[i] == 0 || !c.where->real) continue;
        const situation& s = c.where->situations[c.situations[i]];
        for (std::size_t f = 0; f < s.phases.size(); ++f)
            add_phase(all, weight_of, times[i][f], weights[i] * s.phases[f].share, i, f);
    }
    for (std::size_t a = 0; a < all.size(); ++a) {
        all[a].added = all[a].timed ? all[a].added / weight_of[a] : not_known;
        all[a].mean_regret = all[a].timed ? all[a].mean_regret / weight_of[a] : not_known;
    }
    add_memory(all, c, weights);
    return all;
}

std::vector<std::size_t> choose(const std::vector<scores>& s, const margins& m, const std::vector<std::size_t>& beside)
{
    std::vector<std::size_t> left;
    for (std::size_t a = 0; a < s.size(); ++a)
        if (std::find(beside.begin(), beside.end(), a) == beside.end()) left.push_back(a);
    constexpr double rounding = 1e-9;
    keep(
        left, [&](std::size_t a) { return s[a].unfinished; }, [](double least) { return least + rounding; });
    keep(
        left, [&](std::size_t a) { return s[a].mean_regret; }, [&](double least) { return least + m.time; });
    keep(
        left, [&](std::size_t a) { return s[a].bloat; }, [&](double least) { return least * (1 + m.bloat); });
    keep(
        left, [&](std::size_t a) { return s[a].idle_ns; },
        [&](double least) { return std::max(least * (1 + m.idle), least + m.idle_ns); });
    return left;
}

}  // namespace vrambench::decide
