#include "bench/decide/verdict.hpp"

#include "bench/decide/effect_size.hpp"
#include "bench/decide/equivalence.hpp"

#include <algorithm>
#include <functional>
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

void compare_values(metric_verdict& v, const arms& a, const verdict_settings& how)
{
    const double base = mean(a.base), other = mean(a.other);
    v.base = {a.base.size(), base};
    v.other = {a.other.size(), other};
    v.exact = how.simulated || how.same_measurements || (v.metric == "device_bloat" && how.steady_bytes && one_value_each(a));
    v.difference = other - base;
    if (base > 0 && other > 0) v.ratio = other / base;
    const bootstrap_settings seeded{.seed = how.seed};
    if (v.exact) {
        v.ci95 = interval{*v.difference, *v.difference};
    } else if (v.paired) {
        v.ci95 = mean_interval(paired_differences(a.base, a.other), seeded);
        if (const auto ratios = paired_ratios(a.base, a.other); !ratios.empty()) {
            v.ratio = mean(ratios);
            v.ratio_ci95 = mean_interval(ratios, seeded);
        }
    } else {
        v.ci95 = difference_interval(a.base, a.other, seeded);
    }
    if (!v.exact && std::min(a.base.size(), a.other.size()) >= 4) v.effect = cliffs_delta(a.base, a.other);
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

double error_of(const metric_verdict& v, const arms& a)
{
    return v.paired ? mean_error(paired_differences(a.base, a.other)) : difference_error(a.base, a.other);
}

void decide(metric_verdict& v, const arms& a)
{
    if (!v.ci95) {
        v.note = "too few: " + count_words(std::min(v.base.processes, v.other.processes)) + ", 4 give an interval";
        return;
    }
    v.what = verdict_of(judge(*v.ci95, v.margin), metric(v.metric).direction);
    v.resolution = resolution(*v.ci95, v.margin);
    if (v.what == verdict::not_enough_evidence)
        v.processes_wanted = processes_to_settle(std::min(v.base.processes, v.other.processes), *v.difference, error_of(v, a), v.margin);
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
    compare_values(v, a, how);
    if (m) v.margin = amount(*m, v.base.mean, base->scale);
    if (v.decides) decide(v, a);
    return v;
}

}  // namespace vrambench
