#include "bench/settled.hpp"

#include "bench/derive.hpp"

#include <algorithm>
#include <vector>

namespace vrambench {

namespace {

constexpr std::size_t fewest = 6;   ///< median_interval_rank: below it no interval covers the median with 95 %

/// Of a ratio, so that the half width is a share already.
bool is_narrow(const estimate& e, double precision)
{
    return e.ci95 && (as_double(e.ci95->second) - as_double(e.ci95->first)) / 2 <= precision;
}

/// Added time over ideal's is the slowdown less one, so that the slowdown's interval is the one that is asked for.
bool are_narrow(const pass_numbers& n, double precision)
{
    if (!n.slowdown || !is_narrow(*n.slowdown, precision)) return false;
    for (const phase_metrics& p : n.phases)
        if (p.per_token == n.per_token && p.slowdown && !is_narrow(*p.slowdown, precision)) return false;
    // On a card one repetition watches memory.
    return !n.device_bloat || n.device_bloat->samples == 1 || is_narrow(*n.device_bloat, precision);
}

std::vector<const repetition*> timed(const cell& c)
{
    std::vector<const repetition*> all;
    for (const repetition& r : c.repetitions)
        if (r.what == role::timed && !r.disturbed) all.push_back(&r);
    return all;
}

bool ended_alike(const std::vector<const repetition*>& all)
{
    const auto ending = [](const repetition& r) {
        return std::pair(r.cold.result.what, r.steady ? r.steady->result.what : r.cold.result.what);
    };
    return std::all_of(all.begin(), all.end(), [&](const repetition* r) { return ending(*r) == ending(*all.front()); });
}

bool is_known(const run_document& run, const cell& c, double precision)
{
    const auto all = timed(c);
    if (all.empty()) return false;
    if (c.on.simulated || all.front()->cold.result.what == status::unsupported) return true;
    if (all.size() < fewest || !ended_alike(all)) return false;
    const cell_metrics m = derive(c, reference_of(run, c));
    const auto enough = [&](const pass_metrics& p) {
        return p.result && (p.result->what != status::completed || (p.numbers && are_narrow(*p.numbers, precision)));
    };
    return enough(m.cold) && (!m.steady || enough(*m.steady));
}

bool is_below(const std::optional<estimate>& a, const std::optional<estimate>& b)
{
    return a && b && a->ci95 && b->ci95 && as_double(a->ci95->second) < as_double(b->ci95->first);
}

/// Whether `mine` is the worse in every primary metric of a pass, beyond doubt.
bool loses(const pass_numbers& mine, const pass_numbers& other)
{
    if (!is_below(other.added_ns, mine.added_ns) || mine.phases.size() != other.phases.size()) return false;
    for (std::size_t i = 0; i < mine.phases.size(); ++i)
        if (mine.phases[i].per_token == mine.per_token && !is_below(other.phases[i].added_ns, mine.phases[i].added_ns)) return false;
    return mine.device_bloat && other.device_bloat && as_double(other.device_bloat->median) <= as_double(mine.device_bloat->median);
}

bool loses(const cell_metrics& mine, const cell_metrics& other)
{
    if (!mine.cold.numbers || !other.cold.numbers || !loses(*mine.cold.numbers, *other.cold.numbers)) return false;
    if (!mine.steady) return true;
    return mine.steady->numbers && other.steady && other.steady->numbers && loses(*mine.steady->numbers, *other.steady->numbers);
}

/// By an allocator that could be chosen: `ideal` cannot.
bool is_dominated(const run_document& run, const cell& c)
{
    if (c.allocator.name == "ideal" || timed(c).size() < fewest) return false;
    const cell_metrics mine = derive(c, reference_of(run, c));
    return std::any_of(run.cells.begin(), run.cells.end(), [&](const cell& other) {
        return other.allocator.name != "ideal" && are_compared(other, c) && loses(mine, derive(other, reference_of(run, other)));
    });
}

std::optional<std::string> needs_no_more(const run_document& run, const cell& c, const stop_rule& rule)
{
    if (is_known(run, c, rule.precision)) return "precision";
    if (rule.drop_losers && is_dominated(run, c)) return "dominated";
    return std::nullopt;
}

/// Whether each of the cell's repetitions has the reference's of the same index beside it.
bool has_pairs(const cell& c, const cell& reference)
{
    const auto theirs = timed(reference);
    const auto mine = timed(c);
    return std::all_of(mine.begin(), mine.end(), [&](const repetition* r) {
        return std::any_of(theirs.begin(), theirs.end(), [&](const repetition* t) { return t->index == r->index; });
    });
}

}  // namespace

std::optional<std::string> settled(const run_document& run, const cell& c, const stop_rule& rule)
{
    const auto why = c.reference ? std::optional<std::string>("precision") : needs_no_more(run, c, rule);
    const auto needs_it = [&](const cell& served) {
        return &served != &c && reference_of(run, served) == &c && !(needs_no_more(run, served, rule) && has_pairs(served, c));
    };
    return std::any_of(run.cells.begin(), run.cells.end(), needs_it) ? std::nullopt : why;
}

}  // namespace vrambench
