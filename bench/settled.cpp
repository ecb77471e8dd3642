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
    const auto ending = [](const repetition& r) { return std::pair(r.cold.result.what, r.steady ? r.steady->result.what : r.cold.result.what); };
    return std::all_of(all.begin(), all.end(), [&](const repetition* r) { return ending(*r) == ending(*all.front()); });
}

bool is_known(const run_document& run, const cell& c, double precision)
{
    const auto all = timed(c);
    if (all.empty()) return false;
    if (c.on.simulated || all.front()->cold.result.what == status::unsupported) return true;
    if (all.size() < fewest || !ended_alike(all)) return false;
    const cell_metrics m = derive(c, reference_of(run, c));
    const auto enough = [&](const pass_metrics& p) { return p.result && (p.result->what != status::completed || (p.numbers && are_narrow(*p.numbers, precision))); };
    return enough(m.cold) && (!m.steady || enough(*m.steady));
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

bool settled(const run_document& run, const cell& c, double precision)
{
    if (!c.reference) return is_known(run, c, precision);
    return std::all_of(run.cells.begin(), run.cells.end(), [&](const cell& served) {
        return served.reference || !same_conditions(served, c) || (is_known(run, served, precision) && has_pairs(served, c));
    });
}

}  // namespace vrambench
