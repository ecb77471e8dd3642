#include "bench/decide/rules.hpp"

#include "bench/decide/words.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace vrambench::decide {

namespace {

std::string name(const recommendation& r, std::size_t place) { return short_spec(*r.over.where, r.over.candidates[place]); }

std::string names(const recommendation& r, const std::vector<std::size_t>& places)
{
    std::string all;
    for (const std::size_t a : places) all += (all.empty() ? "" : " or ") + name(r, a);
    return all;
}

contest only(const contest& c, const std::vector<std::size_t>& situations) { return {c.where, c.candidates, situations}; }

std::vector<scores> scores_in(const contest& c) { return score(c, slowdowns_of(c), weights_of(c)); }

bool has(const std::vector<std::size_t>& places, std::size_t place)
{
    return std::find(places.begin(), places.end(), place) != places.end();
}

bool overlap(const std::vector<std::size_t>& a, const std::vector<std::size_t>& b)
{
    return std::any_of(a.begin(), a.end(), [&](std::size_t x) { return has(b, x); });
}

std::string value_of(const situation& s, const std::string& key)
{
    for (const auto& [k, v] : s.params)
        if (k == key) return v;
    return {};
}

/// The choice for each value of one key.
struct split {
    std::string key;
    std::map<std::string, std::size_t> choice; ///< place by value
    double regret = 0, unfinished = 0; ///< weighted, of the split as a whole
};

/// None where a value's situations have no single choice, or all values have the same one.
std::optional<split> split_by(const recommendation& r, const std::string& key, const margins& m)
{
    std::map<std::string, std::vector<std::size_t>> groups;
    for (const std::size_t i : r.over.situations) groups[value_of(r.over.where->situations[i], key)].push_back(i);
    if (groups.size() < 2 || groups.size() > 4 || groups.contains("")) return std::nullopt;
    split s{key, {}, 0, 0};
    double weight = 0;
    std::set<std::size_t> different;
    for (const auto& [value, situations] : groups) {
        const contest c = only(r.over, situations);
        const std::vector<scores> in_group = scores_in(c);
        const std::vector<std::size_t> chosen = choose(in_group, m);
        if (chosen.size() != 1) return std::nullopt;
        double w = 0;
        for (const double x : weights_of(c)) w += x;
        const scores& best = in_group[chosen.front()];
        s.regret += w * (std::isnan(best.mean_regret) ? 0 : best.mean_regret);
        s.unfinished += w * best.unfinished;
        weight += w;
        s.choice[value] = chosen.front();
        different.insert(chosen.front());
    }
    s.regret /= weight;
    s.unfinished /= weight;
    if (different.size() < 2) return std::nullopt;
    return s;
}

/// The split that finishes most, then costs least, where it is better than the one choice by more than the margin.
std::optional<std::string> split_rule(const recommendation& r, const margins& m)
{
    std::set<std::string> keys;
    for (const std::size_t i : r.over.situations)
        for (const auto& [key, value] : r.over.where->situations[i].params) keys.insert(key);
    std::optional<split> best;
    for (const std::string& key : keys)
        if (auto s = split_by(r, key, m);
            s && (!best || std::pair{s->unfinished, s->regret} < std::pair{best->unfinished, best->regret}))
            best = std::move(s);
    if (!best) return std::nullopt;
    const scores& one = r.s[r.chosen.front()];
    const bool serves_better = best->unfinished + 1e-9 < one.unfinished || best->regret + m.time < one.mean_regret;
    if (!serves_better) return std::nullopt;
    std::string rule;
    for (const auto& [value, place] : best->choice)
        rule += (rule.empty() ? "" : "; ") + best->key + "=" + value + ": " + name(r, place);
    return rule + " (mean regret " + percent(best->regret) + " instead of " + percent(one.mean_regret) + ")";
}

/// The best candidate that does not need what `needs` tells of.
template <typename Needs>
std::optional<std::string> fallback(const recommendation& r, const margins& m, Needs needs)
{
    std::vector<std::size_t> beside;
    for (std::size_t a = 0; a < r.s.size(); ++a)
        if (needs(r.over.where->allocators[r.over.candidates[a]])) beside.push_back(a);
    const std::vector<std::size_t> next = choose(r.s, m, beside);
    if (next.empty()) return std::nullopt;
    return names(r, next);
}

/// "vmm where a probe finds virtual memory usable (this card's probe finds it usable), else ".
std::string where_usable(const platform& p, std::size_t allocator, const probing::needed& n)
{
    return short_spec(p, allocator) + " where a probe finds " + n.feature + " usable" +
           answer_of_probes(p, p.allocators[allocator]) + ", else ";
}

std::optional<std::string> capability_rule(const recommendation& r, const margins& m)
{
    if (r.chosen.size() != 1) return std::nullopt;
    const candidate& chosen = r.over.where->allocators[r.over.candidates[r.chosen.front()]];
    const probing::needed* needed = probing::need_of(chosen.name);
    if (!needed || !needed->claim) return std::nullopt;
    const auto other = fallback(r, m, [&](const candidate& a) { return a.name == chosen.name; });
    if (!other) return std::nullopt;
    return where_usable(*r.over.where, r.over.candidates[r.chosen.front()], *needed) + *other;
}

/// A rejected one that does not run everywhere, or fails its probe here, but would be chosen where it does not.
std::optional<std::string> where_it_runs(const platform& p, const recommendation& r, const rejected& out, const margins& m)
{
    if (!out.probed && !out.reason.starts_with("unsupported")) return std::nullopt;
    contest c{&p, r.over.candidates, {}};
    c.candidates.push_back(out.allocator);
    for (const std::size_t i : r.over.situations)
        if (p.situations[i].by_allocator[out.allocator].completed()) c.situations.push_back(i);
    if (c.situations.empty() || (out.probed && c.situations.size() < r.over.situations.size())) return std::nullopt;
    const std::vector<std::size_t> chosen = choose(scores_in(c), m);
    if (chosen != std::vector{c.candidates.size() - 1}) return std::nullopt;
    if (out.probed) return where_usable(p, out.allocator, *probing::need_of(p.allocators[out.allocator].name)) + names(r, r.chosen);
    return short_spec(p, out.allocator) + " where it runs (" + std::to_string(c.situations.size()) + " of " +
           counted(r.over.situations.size(), "situation", "situations") + "), else " + names(r, r.chosen);
}

bool chooses(const recommendation& r, const margins& m, const std::vector<double>& weights, std::size_t place)
{
    const std::vector<std::size_t> chosen = choose(score(r.over, slowdowns_of(r.over), weights), m);
    return chosen == std::vector{place};
}

/// The smallest factor up to 1,000 on the weight of the situations that prefer `place` with which it is chosen.
std::optional<double> weight_to_win(const recommendation& r, const margins& m, std::size_t place)
{
    std::vector<bool> prefers;
    for (const std::size_t i : r.over.situations)
        prefers.push_back(choose(scores_in(only(r.over, {i})), m) == std::vector{place});
    const auto with = [&](double f) {
        std::vector<double> weights = weights_of(r.over);
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (prefers[i]) weights[i] *= f;
        return chooses(r, m, weights, place);
    };
    double low = 1, high = 1000;
    if (!with(high)) return std::nullopt;
    for (int i = 0; i < 40; ++i) (with((low + high) / 2) ? high : low) = (low + high) / 2;
    return high;
}

/// The first criterion on which `b` falls behind `a`.
std::string lacking(const recommendation& r, const scores& a, const scores& b, const margins& m)
{
    if (b.unfinished > a.unfinished + 1e-9)
        return "it would have to finish what it did not: " + percent(b.unfinished) + " of the mix against " +
               percent(a.unfinished);
    if (b.mean_regret > a.mean_regret + m.time || (!std::isnan(a.mean_regret) && std::isnan(b.mean_regret)))
        return "its mean regret would have to fall from " + percent(b.mean_regret) + " to " +
               percent(a.mean_regret + m.time) + " or below, for memory to decide";
    if (b.bloat > a.bloat * (1 + m.bloat))
        return "its mean bloat would have to fall from " + factor(b.bloat) + " to " + factor(a.bloat * (1 + m.bloat)) +
               " or below";
    if (b.idle_ns > a.idle_ns + m.idle_ns)
        return "its worst recovery would have to be idle for " + human_time(a.idle_ns + m.idle_ns) + " or less, not " +
               human_time(b.idle_ns);
    return names(r, r.chosen) + " would have to cost more: they are equal within the margins";
}

}  // namespace

std::vector<disagreement> disagreements(const recommendation& r, const margins& m)
{
    std::vector<disagreement> all;
    for (const std::size_t i : r.over.situations) {
        const std::vector<scores> here = scores_in(only(r.over, {i}));
        const std::vector<std::size_t> chosen = choose(here, m);
        if (overlap(chosen, r.chosen)) continue;
        const scores& ours = here[r.chosen.front()];
        all.push_back({i, chosen, ours.unfinished > 0 ? not_known : ours.mean_regret});
    }
    return all;
}

std::vector<std::string> rules_for(const platform& p, const recommendation& r, const question& q)
{
    std::vector<std::string> rules;
    if (auto rule = capability_rule(r, q.equal)) rules.push_back(std::move(*rule));
    for (const rejected& out : r.out)
        if (auto rule = where_it_runs(p, r, out, q.equal)) rules.push_back(std::move(*rule));
    if (auto rule = split_rule(r, q.equal)) rules.push_back(std::move(*rule));
    return rules;
}

std::vector<std::string> what_it_would_take(const recommendation& r, const margins& m)
{
    if (!r.runner_up) return {};
    std::vector<std::string> all{lacking(r, r.s[r.chosen.front()], r.s[*r.runner_up], m)};
    if (const auto f = weight_to_win(r, m, *r.runner_up))
        all.push_back("or the situations that prefer it would have to weigh " + factor(*f) + " as much");
    else
        all.push_back(
            "no weight of the situations makes it the choice (tried up to 1,000 times as much for those that prefer it)");
    return all;
}

}  // namespace vrambench::decide
