#include "bench/decide/verdict.hpp"

#include "bench/decide/effect_size.hpp"
#include "bench/decide/false_discovery.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>

namespace vrambench {

namespace {

struct arms {
    std::vector<double> base, other;
};

std::vector<double> values_of(const series& s)
{
    std::vector<double> v;
    for (const sample& one : s.samples) v.push_back(one.value);
    return v;
}

/// The values of the rounds that both have.
arms common_rounds(const series& base, const series& other)
{
    std::map<std::uint64_t, double> by_round;
    for (const sample& s : base.samples) by_round.emplace(s.round, s.value);
    arms both;
    for (const sample& s : other.samples)
        if (const auto twin = by_round.find(s.round); twin != by_round.end()) {
            both.base.push_back(twin->second);
            both.other.push_back(s.value);
        }
    return both;
}

bool one_value_each(const arms& a)
{
    const auto constant = [](const std::vector<double>& v) { return std::adjacent_find(v.begin(), v.end(), std::not_equal_to<>()) == v.end(); };
    return constant(a.base) && constant(a.other);
}

void compare_values(metric_verdict& v, const arms& a, const std::optional<margin>& m, double scale, const verdict_settings& how)
{
    const double base = mean(a.base), other = mean(a.other);
    v.base = {a.base.size(), base};
    v.other = {a.other.size(), other};
    v.exact = how.simulated || how.same_measurements || (v.metric == "device_bloat" && how.steady_bytes && one_value_each(a));
    v.difference = other - base;
    if (m) v.margin = amount(*m, base, scale);
    if (base > 0 && other > 0) v.ratio = other / base;
    if (v.exact) {
        v.ci95 = interval{*v.difference, *v.difference};
        return;
    }
    const bootstrap_settings seeded{.seed = how.seed};
    if (v.paired)
        if (const auto ratios = paired_ratios(a.base, a.other); !ratios.empty()) {
            v.ratio = mean(ratios);
            v.ratio_ci95 = mean_interval(ratios, seeded);
        }
    if (const auto e = v.paired ? estimate_mean(paired_differences(a.base, a.other), seeded) : estimate_difference(a.base, a.other, seeded)) {
        v.ci95 = e->ci95();
        if (m && !e->is_point()) v.test = {e->p_within(v.margin), 1, {e->error(), e->freedom()}};
    }
    if (std::min(a.base.size(), a.other.size()) >= 4) v.effect = cliffs_delta(a.base, a.other);
}

verdict verdict_of(judgement j, better direction)
{
    switch (j) {
    case judgement::same: return verdict::same;
    case judgement::undecided: return verdict::not_enough_evidence;
    case judgement::above: return direction == better::higher ? verdict::better : verdict::worse;
    case judgement::below: return direction == better::higher ? verdict::worse : verdict::better;
    }
    return verdict::not_enough_evidence;
}

std::string count_words(std::size_t n) { return std::to_string(n) + (n == 1 ? " process" : " processes"); }

bool is_beyond(judgement j) { return j == judgement::above || j == judgement::below; }

/// "p 0.013, but 0.34 among 104 differences".
std::string adjusted_words(const difference_test& t, std::size_t tests)
{
    char text[96];
    std::snprintf(text, sizeof text, "p %.2g, but %.2g among %zu differences", t.p, t.p_adjusted, tests);
    return text;
}

/// The verdict by the interval and, if it says that there is a difference, by the adjusted p-value. `found`: of `tests`.
void settle(metric_verdict& v, std::size_t found, std::size_t tests)
{
    const judgement alone = judge(*v.ci95, v.margin);
    const bool is_found = is_beyond(alone) && (!v.test || v.test->p_adjusted <= false_discovery_rate);
    const spread s = v.test ? v.test->of : spread{};
    // What another one has to reach before it is found, too.
    const double level = v.test ? level_among(is_found ? found : found + 1, tests) : 0.05;
    v.what = is_beyond(alone) && !is_found ? verdict::not_enough_evidence : verdict_of(alone, metric(v.metric).direction);
    v.note = is_beyond(alone) && !is_found ? adjusted_words(*v.test, tests) : "";
    v.resolution = resolution(*v.ci95, v.margin, s, level);
    v.processes_wanted.reset();
    if (v.what == verdict::not_enough_evidence)
        v.processes_wanted = processes_to_settle(std::min(v.base.processes, v.other.processes), *v.difference, v.margin, s,
                                                 std::abs(*v.difference) > v.margin ? level : 0.05);
}

void decide(metric_verdict& v)
{
    if (!v.ci95) {
        v.note = "too few: " + count_words(std::min(v.base.processes, v.other.processes)) + ", 4 give an interval";
        return;
    }
    if (v.test) v.test->p_adjusted = v.test->p;
    settle(v, v.test && v.test->p <= false_discovery_rate, 1);
}

}  // namespace

const char* to_string(verdict v)
{
    switch (v) {
    case verdict::same: return "same";
    case verdict::better: return "better";
    case verdict::worse: return "worse";
    case verdict::not_enough_evidence: return "not enough evidence";
    case verdict::outcome_change: return "outcome change";
    }
    return "?";
}

void verdict_counts::add(verdict v)
{
    switch (v) {
    case verdict::same: ++same; break;
    case verdict::better: ++better; break;
    case verdict::worse: ++worse; break;
    case verdict::not_enough_evidence: ++not_enough_evidence; break;
    case verdict::outcome_change: ++outcome_changes; break;
    }
}

metric_verdict judge_metric(const series* base, const series* other, const std::optional<margin>& m, const verdict_settings& how)
{
    metric_verdict v;
    const series& named = base ? *base : *other;
    v.metric = named.metric;
    v.phase = named.phase;
    v.decides = m.has_value();
    if (!base || !other) {
        v.note = base ? "the other has no value" : "the base has no value";
        return v;
    }
    arms a{values_of(*base), values_of(*other)};
    if (how.rounds_are_shared)
        if (arms both = common_rounds(*base, *other); !both.base.empty()) {
            a = std::move(both);
            v.paired = true;
        }
    compare_values(v, a, m, base->scale, how);
    if (v.decides) decide(v);
    return v;
}

std::size_t judge_together(std::span<metric_verdict* const> all)
{
    std::vector<metric_verdict*> tested;
    std::copy_if(all.begin(), all.end(), std::back_inserter(tested), [](const metric_verdict* v) { return v->test.has_value(); });
    std::vector<double> p;
    for (const metric_verdict* v : tested) p.push_back(v->test->p);
    const std::vector<double> adjusted = adjusted_for_all(p);
    const auto found = static_cast<std::size_t>(
        std::count_if(adjusted.begin(), adjusted.end(), [](double of) { return of <= false_discovery_rate; }));
    for (std::size_t i = 0; i < tested.size(); ++i) {
        tested[i]->test->p_adjusted = adjusted[i];
        settle(*tested[i], found, tested.size());
    }
    return tested.size();
}

}  // namespace vrambench
