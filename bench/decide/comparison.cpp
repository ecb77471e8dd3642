#include "bench/decide/comparison.hpp"

#include "bench/benchmark_bridge.hpp"
#include "bench/decide/environments.hpp"
#include "bench/decide/references.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"

#include <algorithm>
#include <functional>
#include <future>
#include <iterator>
#include <optional>
#include <thread>
#include <tuple>

namespace vrambench {

namespace {

std::string outcome_words(const pass_samples* p)
{
    if (!p || !p->result) return "not measured";
    std::string words = in_words(*p->result);
    if (p->completed > 0 && p->completed < p->attempted)
        words += " (" + std::to_string(p->attempted - p->completed) + " of " + std::to_string(p->attempted) + ")";
    return words;
}

void add_outcome(pair_verdict& to, const pass_samples* base, const pass_samples* other, bool steady)
{
    outcome_verdict v{steady, outcome_words(base), outcome_words(other), verdict::not_enough_evidence};
    if (base && other && base->result && other->result) v.what = judge_outcomes(*base->result, *other->result);
    const bool both_completed = v.base == v.other && base && base->result && base->result->what == status::completed;
    if (!both_completed) to.outcomes.push_back(std::move(v));
}

/// Whether the timed repetitions of a pass all reserved the same bytes, and there are several that say so.
bool bytes_are_steady(const pass_samples& p)
{
    const series* reserved = p.find("peak_reserved_bytes", {});
    if (!reserved || reserved->samples.size() < 3) return false;
    return std::all_of(reserved->samples.begin(), reserved->samples.end(), [&](const sample& s) { return s.value == reserved->samples[0].value; });
}

/// Every (metric, phase) of either, in the order of the base.
std::vector<std::pair<std::string, std::string>> names_of(const pass_samples& base, const pass_samples& other)
{
    std::vector<std::pair<std::string, std::string>> names;
    for (const series& s : base.all) names.emplace_back(s.metric, s.phase);
    for (const series& s : other.all)
        if (!base.find(s.metric, s.phase)) names.emplace_back(s.metric, s.phase);
    return names;
}

void add_metrics(pair_verdict& to, const pass_samples& base, const pass_samples& other, bool steady, const margin_table& margins,
                 verdict_settings how)
{
    how.steady_bytes = bytes_are_steady(base) && bytes_are_steady(other);
    for (const auto& [metric, phase] : names_of(base, other)) {
        metric_verdict v =
            judge_metric(base.find(metric, phase), other.find(metric, phase), margin_for(margins, metric, how.simulated), how);
        v.steady = steady;
        to.metrics.push_back(std::move(v));
    }
}

bool completed(const pass_samples& p) { return p.result && p.result->what == status::completed; }

pair_verdict compare_cells(const cell_pair& cells, const cell_samples& base, const cell_samples& other, const margin_table& margins,
                           const verdict_settings& how)
{
    pair_verdict v{cells, {}, {}, {}, {}};
    add_outcome(v, &base.cold, &other.cold, false);
    if (completed(base.cold) && completed(other.cold)) {
        add_metrics(v, base.cold, other.cold, false, margins, how);
        if (base.steady || other.steady)
            add_outcome(v, base.steady ? &*base.steady : nullptr, other.steady ? &*other.steady : nullptr, true);
        if (base.steady && other.steady && completed(*base.steady) && completed(*other.steady))
            add_metrics(v, *base.steady, *other.steady, true, margins, how);
    }
    std::stable_partition(v.metrics.begin(), v.metrics.end(), [](const metric_verdict& m) { return m.decides; });
    return v;
}

/// Every difference of every pair is of one family: who asks a hundred questions must not be told five wrong answers.
std::size_t judge_all(std::vector<pair_verdict>& pairs)
{
    std::vector<metric_verdict*> all;
    for (pair_verdict& p : pairs)
        for (metric_verdict& m : p.metrics) all.push_back(&m);
    return judge_together(all);
}

verdict_counts counted(const std::vector<pair_verdict>& pairs)
{
    verdict_counts n;
    for (const pair_verdict& p : pairs) {
        for (const outcome_verdict& o : p.outcomes) n.add(o.what);
        for (const metric_verdict& m : p.metrics)
            if (m.decides) n.add(m.what);
    }
    return n;
}

/// `use(i)` for every i below n, on all processors.
template <typename Use>
void for_each_index(std::size_t n, Use use)
{
    const std::size_t workers = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, n / 16 + 1);
    const auto every = [&](std::size_t first) {
        for (std::size_t i = first; i < n; i += workers) use(i);
    };
    std::vector<std::future<void>> others;
    for (std::size_t w = 1; w < workers; ++w) others.push_back(std::async(std::launch::async, every, w));
    every(0);
    for (auto& other : others) other.get();
}

/// Compares the pairs of two arms and adds them to `to`.
class pair_comparer {
public:
    pair_comparer(comparison& to, const comparison_settings& how) : to_(to), how_(how)
    {
        if (!how.filter.empty()) filter_.emplace(how.filter);
    }

    void add(const matched_cells& matched, const references& base, const references& other,
             const std::function<std::pair<std::string, std::string>(const cell_pair&)>& names)
    {
        std::vector<cell_pair> pairs;
        std::copy_if(matched.pairs.begin(), matched.pairs.end(), std::back_inserter(pairs), [&](const cell_pair& p) { return is_wanted(p); });
        std::vector<pair_verdict> verdicts(pairs.size());
        for_each_index(pairs.size(), [&](std::size_t i) { verdicts[i] = compared(pairs[i], base, other); });
        for (pair_verdict& v : verdicts) {
            std::tie(v.base_name, v.other_name) = names(v.cells);
            to_.pairs.push_back(std::move(v));
        }
    }

private:
    bool is_wanted(const cell_pair& p) const
    {
        return !filter_ || filter_->matches(benchmark_name(*p.base)) || filter_->matches(benchmark_name(*p.other));
    }

    /// Nothing is changed but what is returned: several threads ask at once.
    pair_verdict compared(const cell_pair& p, const references& base, const references& other) const
    {
        verdict_settings judged{.seed = how_.seed};
        judged.simulated = p.base->on.simulated && p.other->on.simulated;
        judged.same_measurements = !to_.of_allocators && same_measurements(*p.base, *p.other);
        judged.rounds_are_shared = to_.of_allocators || judged.same_measurements;
        const cell_samples a = samples_of(*p.base, base.of(*p.base)), b = samples_of(*p.other, other.of(*p.other));
        return compare_cells(p, a, b, how_.limits.of(*p.base), judged);
    }

    comparison& to_;
    const comparison_settings& how_;
    std::optional<name_filter> filter_;
};

std::string cells_words(std::size_t n) { return std::to_string(n) + (n == 1 ? " cell is" : " cells are"); }

void add_allocators(comparison& to, const named_run& file, pair_comparer& comparer, const comparison_settings& how)
{
    to.of_allocators = true;
    const references refs(file.run);
    const matched_cells matched = match_allocators(file.run, how.allocators);
    if (matched.pairs.empty()) throw input_error("nothing in common: no workload, limit and mode was run with the base and another allocator");
    comparer.add(matched, refs, refs, [](const cell_pair& p) { return std::pair(p.base->allocator.title, p.other->allocator.title); });
}

void restrict_to(matched_cells& matched, const std::vector<std::string>& allocators)
{
    if (allocators.empty()) return;
    std::erase_if(matched.pairs, [&](const cell_pair& p) {
        return std::none_of(allocators.begin(), allocators.end(), [&](const std::string& name) { return is_named(*p.base, name); });
    });
}

void add_files(comparison& to, const std::vector<named_run>& files, pair_comparer& comparer, const comparison_settings& how)
{
    const named_run& base = files.front();
    const references base_refs(base.run);
    for (std::size_t i = 1; i < files.size(); ++i) {
        const named_run& other = files[i];
        for (std::string& line : differences(base.run, base.name, other.run, other.name)) to.warnings.push_back(std::move(line));
        matched_cells matched = match_files(base.run, other.run);
        restrict_to(matched, how.allocators);
        if (matched.pairs.empty())
            throw input_error("nothing in common: " + base.name + " and " + other.name +
                              " have no cell of the same allocator, workload, limit, mode and kernels");
        if (matched.only_in_base) to.warnings.push_back(cells_words(matched.only_in_base) + " in " + base.name + " only, not in " + other.name);
        if (matched.only_in_other) to.warnings.push_back(cells_words(matched.only_in_other) + " in " + other.name + " only, not in " + base.name);
        comparer.add(matched, base_refs, references(other.run), [&](const cell_pair&) { return std::pair(base.name, other.name); });
    }
}

void warn_of_missing_references(comparison& c)
{
    const auto lacks_added = [](const pair_verdict& p) {
        return !p.metrics.empty() &&
               std::none_of(p.metrics.begin(), p.metrics.end(), [](const auto& m) { return m.metric == "added_ns_per_token"; });
    };
    if (const auto n = static_cast<std::size_t>(std::count_if(c.pairs.begin(), c.pairs.end(), lacks_added)))
        c.warnings.push_back(std::to_string(n) + " of " + std::to_string(c.pairs.size()) +
                             " pairs have no added time: their runs have no reference (--no-reference)");
}

void warn_of_unused_thresholds(comparison& c, const thresholds& limits)
{
    std::vector<std::string> names;
    for (const pair_verdict& p : c.pairs) names.push_back(benchmark_name(*p.cells.base));
    for (std::string& note : limits.without_cells(names)) c.warnings.push_back(std::move(note));
}

}  // namespace

verdict judge_outcomes(const outcome& base, const outcome& other)
{
    const int a = severity(base.what), b = severity(other.what);
    if (a != b) return b > a ? verdict::worse : verdict::better;
    return in_words(base) == in_words(other) ? verdict::same : verdict::outcome_change;
}

verdict pair_verdict::overall() const
{
    const std::vector<verdict> by_weight{verdict::same, verdict::better, verdict::outcome_change, verdict::not_enough_evidence, verdict::worse};
    const auto weight = [&](verdict v) { return std::find(by_weight.begin(), by_weight.end(), v) - by_weight.begin(); };
    verdict worst = verdict::same;
    const auto take = [&](verdict v) { worst = weight(v) > weight(worst) ? v : worst; };
    for (const outcome_verdict& o : outcomes) take(o.what);
    for (const metric_verdict& m : metrics)
        if (m.decides) take(m.what);
    return worst;
}

comparison compare(const std::vector<named_run>& runs, const comparison_settings& how)
{
    comparison c;
    pair_comparer comparer(c, how);
    for (const named_run& r : runs)
        if (!r.run.finished) c.warnings.push_back(r.name + " is not finished: what was measured so far is compared");
    if (runs.size() == 1) add_allocators(c, runs.front(), comparer, how);
    else add_files(c, runs, comparer, how);
    if (c.pairs.empty()) throw input_error("--filter: no pair of cells matches " + in_quotes(how.filter));
    warn_of_missing_references(c);
    warn_of_unused_thresholds(c, how.limits);
    c.judged_together = judge_all(c.pairs);
    c.counts = counted(c.pairs);
    return c;
}

}  // namespace vrambench
