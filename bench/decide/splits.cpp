#include "bench/decide/splits.hpp"

#include "bench/benchmark_bridge.hpp"
#include "bench/decide/references.hpp"
#include "bench/json_text.hpp"
#include "spec/errors.hpp"
#include "workloads/random_numbers.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <optional>
#include <set>

namespace vrambench {

namespace {

constexpr std::size_t fewest = 8;            // four processes an arm are the fewest that give an interval
constexpr std::size_t pieces = 100;          // of a cell's splits, for the progress line

/// A metric of the cell with its margin.
struct judged_series {
    const series* values;
    margin limit;
};

/// The rounds that an arm got, as it would have been measured.
series part_of(const series& all, const std::set<std::uint64_t>& rounds, bool inside)
{
    series part{all.metric, all.phase, {}, all.scale};
    for (const sample& s : all.samples)
        if (rounds.contains(s.round) == inside) part.samples.push_back(s);
    return part;
}

std::set<std::uint64_t> half_of(std::vector<std::uint64_t> rounds, random_numbers& random)
{
    for (std::size_t i = rounds.size(); i > 1; --i) std::swap(rounds[i - 1], rounds[random.below(i)]);
    return {rounds.begin(), rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2)};
}

class cell_splitter {
public:
    cell_splitter(const cell& c, const cell_samples& samples, const margin_table& margins) : allocator_(c.allocator.title)
    {
        result_.cell = benchmark_name(c);
        take(samples.cold, false, margins);
        if (samples.steady) take(*samples.steady, true, margins);
        result_.repetitions = rounds_.size();
    }

    bool has_enough() const { return rounds_.size() >= fewest && !judged_.empty(); }

    /// About what one split takes: resampling every value of it.
    double split_seconds() const { return 4e-6 * static_cast<double>(rounds_.size() * judged_.size()); }

    /// Shows its progress as `pieces` pieces from `first_piece` on.
    split_result run(std::uint64_t splits, std::uint64_t seed, progress& shown, std::size_t first_piece)
    {
        random_numbers random(seed);
        const std::string of = " of " + std::to_string(splits) + " splits of " + allocator_;
        std::size_t next = 0;
        for (std::uint64_t i = 0; i < splits; ++i) {
            if (i * pieces / splits >= next) {
                next = i * pieces / splits;
                shown.start(first_piece + next++, std::to_string(i) + of);
            }
            split_once(half_of(rounds_, random), random.next());
        }
        result_.splits = splits;
        return std::move(result_);
    }

private:
    void take(const pass_samples& p, bool steady, const margin_table& margins)
    {
        for (const series& s : p.all) {
            const auto m = margin_for(margins, s.metric, false);
            if (!m || s.samples.size() < fewest) continue;
            if (s.samples.size() > rounds_.size()) {
                rounds_.clear();
                for (const sample& one : s.samples) rounds_.push_back(one.round);
            }
            judged_.push_back({&s, *m});
            result_.lines.push_back({s.metric, s.phase, steady, {}});
        }
    }

    void split_once(const std::set<std::uint64_t>& base, std::uint64_t seed)
    {
        std::vector<metric_verdict> verdicts;
        std::vector<metric_verdict*> family;
        for (const judged_series& j : judged_) {
            const series a = part_of(*j.values, base, true), b = part_of(*j.values, base, false);
            verdicts.push_back(judge_metric(&a, &b, j.limit, {.seed = seed}));
        }
        for (metric_verdict& v : verdicts) family.push_back(&v);
        judge_together(family);
        bool any = false;
        for (std::size_t k = 0; k < verdicts.size(); ++k) {
            result_.lines[k].counts.add(verdicts[k].what);
            any |= verdicts[k].what == verdict::better || verdicts[k].what == verdict::worse;
        }
        result_.splits_with_a_false_one += any;
    }

    std::string allocator_;
    std::vector<std::uint64_t> rounds_;
    std::vector<judged_series> judged_;
    split_result result_;
};

std::string share_words(std::size_t of, std::size_t all)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.2f %%", all ? 100.0 * static_cast<double>(of) / static_cast<double>(all) : 0.0);
    return text;
}

std::size_t all_of(const verdict_counts& n) { return n.same + n.better + n.worse + n.not_enough_evidence + n.outcome_changes; }

}  // namespace

std::vector<split_result> split_verdicts(const run_document& run, const split_settings& how, progress& shown)
{
    const references refs(run);
    std::optional<name_filter> filter;
    if (!how.filter.empty()) filter.emplace(how.filter);
    std::deque<cell_samples> samples;        // the splitters point into them
    std::vector<cell_splitter> splitters;
    for (const cell& c : run.cells) {
        if (c.reference || c.allocator.name == "ideal" || c.on.simulated || (filter && !filter->matches(benchmark_name(c)))) continue;
        samples.push_back(samples_of(c, refs.of(c)));
        cell_splitter splitter(c, samples.back(), how.limits.of(c));
        if (splitter.has_enough()) splitters.push_back(std::move(splitter));
    }
    if (splitters.empty())
        throw input_error("--splits: no cell of a card has " + std::to_string(fewest) + " timed repetitions with an added time (simulated "
                          "ones do not vary; 120 are a good number)");
    std::vector<double> seconds;
    for (const cell_splitter& s : splitters) seconds.insert(seconds.end(), pieces, s.split_seconds() * static_cast<double>(how.splits) / pieces);
    shown.plan(std::move(seconds));
    std::vector<split_result> results;
    for (cell_splitter& s : splitters) results.push_back(s.run(how.splits, how.seed, shown, results.size() * pieces));
    shown.finish();
    return results;
}

std::string splits_in_words(const std::vector<split_result>& results)
{
    std::string out;
    for (const split_result& r : results) {
        out += printable(json_text(r.cell).get<std::string>()) + "\n  " + std::to_string(r.repetitions) + " repetitions, " +
               std::to_string(r.splits) + " random splits into two arms of half of them each, each split judged as one comparison\n";
        std::size_t wrong = 0, all = 0;
        for (const split_line& l : r.lines) {
            out += "  " + l.metric + (l.phase.empty() ? "" : ", " + printable(l.phase)) + (l.steady ? ", steady: " : ", cold: ");
            out += std::to_string(l.counts.same) + " same, " + std::to_string(l.counts.not_enough_evidence) + " not enough evidence, " +
                   std::to_string(l.counts.better) + " better, " + std::to_string(l.counts.worse) + " worse\n";
            wrong += l.counts.better + l.counts.worse;
            all += all_of(l.counts);
        }
        out += "  false verdicts: " + share_words(wrong, all) + " of " + std::to_string(all) + "; splits with one: " +
               share_words(r.splits_with_a_false_one, r.splits) + "\n";
    }
    return out;
}

}  // namespace vrambench
