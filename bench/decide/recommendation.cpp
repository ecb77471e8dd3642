#include "bench/decide/recommendation.hpp"

#include "bench/decide/pareto.hpp"
#include "bench/decide/profile.hpp"
#include "bench/decide/rules.hpp"
#include "bench/decide/words.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace vrambench::decide {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// "1" where it was measured, else what most situations have. Kernels that only touch their memory stand for no engine's:
/// what they say is a check, not part of the mix.
std::string usual_kernels(const platform& p)
{
    std::map<std::string, int> counts;
    for (const situation& s : p.situations) ++counts[s.kernels];
    if (counts.empty() || counts.contains("1")) return "1";
    return std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

std::vector<std::size_t> situations_with(const platform& p, const std::string& kernels)
{
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < p.situations.size(); ++i)
        if (p.situations[i].kernels == kernels) at.push_back(i);
    return at;
}

bool all_measured(const situation& s, const std::vector<std::size_t>& candidates)
{
    return std::all_of(candidates.begin(), candidates.end(), [&](std::size_t a) { return s.by_allocator[a].measured(); });
}

/// The phases of the mix as problems: a time and a weight each. Where nobody finished or a time is missing there is no
/// problem.
struct problems {
    std::vector<solver_times> times;
    std::vector<double> weights;
};

problems problems_of(const contest& c)
{
    problems p;
    p.times.resize(c.candidates.size());
    if (!c.where->real) return p;
    const slowdowns all = slowdowns_of(c);
    const std::vector<double> weights = weights_of(c);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t f = 0; f < all[i].size(); ++f) {
            const auto& times = all[i][f];
            const bool known = std::none_of(times.begin(), times.end(), [](double t) { return std::isnan(t); });
            const bool solved = std::any_of(times.begin(), times.end(), [](double t) { return std::isfinite(t); });
            if (!known || !solved) continue;
            for (std::size_t a = 0; a < times.size(); ++a) p.times[a].push_back(times[a]);
            p.weights.push_back(weights[i] * c.where->situations[c.situations[i]].phases[f].share);
        }
    return p;
}

void add_profiles(recommendation& r, const margins& m)
{
    const problems p = problems_of(r.over);
    if (p.weights.empty()) return;
    r.profile_taus = {1, 1.005, 1.01, 1.02, 1.05, 1.1, 1.5};
    for (const auto& ratios : performance_ratios(p.times)) {
        auto& shares = r.profile.emplace_back();
        for (const double tau : r.profile_taus) shares.push_back(profile_at(ratios, p.weights, tau));
    }
    r.pairwise = pairwise_profile(p.times, p.weights, 1 + m.time);
}

void add_front(recommendation& r, const margins& m)
{
    const auto or_never = [](double v) { return std::isnan(v) ? never : v; };
    const bool timed = std::any_of(r.s.begin(), r.s.end(), [](const scores& s) { return s.timed; });
    std::vector<std::vector<double>> points;
    double least_bloat = never;
    for (const scores& s : r.s) {
        points.push_back({s.unfinished, timed ? or_never(s.added) : 0, or_never(s.bloat), s.idle_ns});
        least_bloat = std::min(least_bloat, or_never(s.bloat));
    }
    r.dominated_by = dominators(points, {0, m.time, std::isfinite(least_bloat) ? m.bloat * least_bloat : 0, m.idle_ns});
}

void check_kernels(recommendation& r, const platform& p, const question& q)
{
    std::vector<std::string> others;
    for (const situation& s : p.situations)
        if (s.kernels != r.kernels && std::find(others.begin(), others.end(), s.kernels) == others.end())
            others.push_back(s.kernels);
    for (const std::string& kernels : others) {
        contest c{&p, r.over.candidates, {}};
        for (const std::size_t i : situations_with(p, kernels))
            if (all_measured(p.situations[i], c.candidates)) c.situations.push_back(i);
        if (c.situations.empty()) continue;
        kernel_check check{kernels, choose(score(c, slowdowns_of(c), weights_of(c)), q.equal), c.situations.size(),
                           not_known};
        if (p.timed() && check.chosen.size() == 1)
            check.stays = resample(c, q.equal, q.resamples, q.seed).alone[check.chosen.front()];
        r.other_kernels.push_back(std::move(check));
    }
}

std::string names_of(const recommendation& r, const std::vector<std::size_t>& places)
{
    std::string names;
    for (const std::size_t a : places)
        names += (names.empty() ? "" : " and ") + short_spec(*r.over.where, r.over.candidates[a]);
    return names;
}

bool nobody_finished(const recommendation& r)
{
    return std::all_of(r.s.begin(), r.s.end(), [](const scores& s) { return s.unfinished > 1 - 1e-9; });
}

/// Whether the choice can be called a winner, and why or why not.
std::pair<verdict, std::string> judge(const recommendation& r, const question& q)
{
    if (r.over.where->allocators.empty())
        return {verdict::without_times, "the files hold searches of `fit` and no run, so there is nothing to compare"};
    if (r.over.candidates.empty()) return {verdict::no_clear_winner, "no allocator passes the filters"};
    if (r.over.situations.empty())
        return {verdict::no_clear_winner, "there is no situation in which all candidates were measured"};
    if (nobody_finished(r)) return {verdict::no_clear_winner, "no candidate finished anything"};
    if (!r.over.where->real) return {verdict::without_times, "no real card of this vendor was measured: no time is ranked"};
    const bool timed = std::any_of(r.s.begin(), r.s.end(), [](const scores& s) { return s.timed; });
    if (!timed)
        return {verdict::without_times,
                "the files have no added times (was it run with --no-reference?): no time is ranked"};
    const std::string name = names_of(r, r.chosen);
    if (r.over.candidates.size() == 1)
        return {verdict::winner, name + " is the only one that passes the filters; nothing was compared"};
    if (r.processes < q.fewest_processes)
        return {verdict::no_clear_winner, "a cell has only " + std::to_string(r.processes) + " used process" +
                                              (r.processes == 1 ? "" : "es") +
                                              ", which says too little about noise; measure with --repetitions 5 or more"};
    if (r.chosen.size() > 1) return {verdict::no_clear_winner, name + " are equal within the margins"};
    const double stays = r.sure.alone[r.chosen.front()];
    const std::string share = percent(stays, 1) + " of " + std::to_string(r.sure.resamples) + " resamples";
    if (stays < q.sure) return {verdict::no_clear_winner, name + " comes out first, but stays the choice in only " + share};
    return {verdict::winner, name + " stays the choice in " + share};
}

void choose_all(recommendation& r, const platform& p, const question& q)
{
    r.s = score(r.over, slowdowns_of(r.over), weights_of(r.over));
    add_front(r, q.equal);
    add_profiles(r, q.equal);
    r.chosen = choose(r.s, q.equal);
    if (const auto next = choose(r.s, q.equal, r.chosen); !next.empty()) r.runner_up = next.front();
    if (p.timed()) r.sure = resample(r.over, q.equal, q.resamples, q.seed);
    r.processes = fewest_processes(r.over);
    check_kernels(r, p, q);
    r.break_evens = break_evens(r.over, weights_of(r.over));
}

}  // namespace

const char* to_string(verdict v)
{
    switch (v) {
    case verdict::winner: return "winner";
    case verdict::no_clear_winner: return "no clear winner";
    case verdict::without_times: return "without times";
    }
    return "?";
}

part part_of(const recommendation& r, std::size_t situation_index)
{
    if (r.over.where->situations[situation_index].kernels != r.kernels) return part::check;
    const auto& compared = r.over.situations;
    return std::find(compared.begin(), compared.end(), situation_index) != compared.end() ? part::compared : part::left_out;
}

const char* to_string(part p)
{
    switch (p) {
    case part::compared: return "compared";
    case part::left_out: return "left out";
    case part::check: return "check";
    }
    return "?";
}

recommendation recommend(const platform& p, const question& q)
{
    recommendation r;
    r.kernels = usual_kernels(p);
    const std::vector<std::size_t> situations = situations_with(p, r.kernels);
    selection chosen = select(p, situations, q.require);
    r.out = std::move(chosen.out);
    r.over = {&p, std::move(chosen.candidates), {}};
    for (const std::size_t i : situations)
        (all_measured(p.situations[i], r.over.candidates) ? r.over.situations : r.left_out).push_back(i);
    const bool comparable = !r.over.candidates.empty() && !r.over.situations.empty();
    if (comparable) choose_all(r, p, q);
    std::tie(r.is, r.why) = judge(r, q);
    if (comparable && r.is != verdict::without_times) {
        r.disagree = disagreements(r, q.equal);
        r.to_win = what_it_would_take(r, q.equal);
        r.rules = rules_for(p, r, q);
    }
    return r;
}

}  // namespace vrambench::decide
