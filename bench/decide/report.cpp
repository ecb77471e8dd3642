#include "bench/decide/report.hpp"

#include "bench/decide/words.hpp"
#include "bench/table.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace vrambench::decide {

namespace {

std::string microseconds(double us)
{
    char text[32];
    std::snprintf(text, sizeof text, us < 10 ? "%.3g us" : "%.0f us", us);
    return text;
}

/// Writes one recommendation; the page and what it is about stay at hand.
class writer {
public:
    writer(page& to, const platform& p, const recommendation& r, const question& q) : to_(to), p_(p), r_(r), q_(q) {}

    void write()
    {
        answer();
        filters();
        if (!r_.s.empty()) {
            front();
            profile();
            regret();
            choice();
            disagreements();
            other_kernels();
        }
        if (r_.is == verdict::without_times && !r_.s.empty()) without_times();
        fits();
        names();
    }

private:
    std::string name(std::size_t place) const { return to_.code(short_spec(p_, r_.over.candidates[place])); }
    std::string label(std::size_t situation_index) const { return "W" + std::to_string(situation_index + 1); }
    const evidence& at(std::size_t situation_index, std::size_t place) const
    {
        return p_.situations[situation_index].by_allocator[r_.over.candidates[place]];
    }
    std::string cells(const std::vector<std::string>& ids) const
    {
        std::string list;
        for (const std::string& id : ids) list += (list.empty() ? "" : ", ") + to_.code(id);
        return ids.empty() ? "" : (ids.size() == 1 ? " (cell " : " (cells ") + list + ")";
    }
    std::string names_of(const std::vector<std::size_t>& places) const
    {
        std::string all;
        for (const std::size_t a : places) all += (all.empty() ? "" : ", ") + name(a);
        return all;
    }

    void answer()
    {
        to_.heading(2, platform_name(p_));
        std::string facts = counted(p_.files.size(), "file", "files");
        if (!p_.probes.empty()) facts += " and " + counted(p_.probes.size(), "report of a probe", "reports of probes");
        facts += ", ";
        facts += p_.allocators.empty() ? counted(p_.fits.size(), "search", "searches") + " of what fits"
                                       : counted(r_.over.situations.size(), "situation", "situations") + " compared, " +
                                             counted(r_.over.candidates.size(), "candidate", "candidates");
        if (p_.timed() && r_.processes)
            facts += ", at least " + counted(r_.processes, "process", "processes") + " a cell";
        if (!p_.real) facts += ". SIMULATED: no such card was measured";
        to_.sentence(facts + ".");
        if (r_.is == verdict::winner)
            to_.sentence(to_.strong("Recommendation: " + p_.allocators[r_.over.candidates[r_.chosen.front()]].spec) + ". " +
                         r_.why + ".");
        if (r_.is == verdict::no_clear_winner) to_.sentence(to_.strong("No clear winner") + ": " + r_.why + ".");
        if (r_.is == verdict::without_times)
            to_.sentence(to_.strong("Not decided") + ": " + r_.why + ". What follows does not depend on time.");
        for (const std::string& rule : r_.rules) to_.item("rule: " + rule);
        if (!r_.over.situations.empty()) to_.item("traffic: " + traffic());
        for (const std::string& note : p_.notes) to_.item("note: " + note);
        if (!r_.left_out.empty())
            to_.item("left out, since not every candidate was measured there: " + labels(r_.left_out));
    }

    /// What a verdict is of: it says nothing of models, caches and versions of the engine that were not measured.
    std::string traffic() const
    {
        std::string all;
        for (const char* key : {"model", "kv", "era"}) {
            std::vector<std::string> values;
            for (const std::size_t i : r_.over.situations)
                for (const auto& [k, v] : p_.situations[i].params)
                    if (k == key && std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
            if (!values.empty()) all += (all.empty() ? "" : "; ") + std::string(key) + " " + joined(values);
        }
        return all.empty() ? "of no model" : all;
    }

    std::string labels(const std::vector<std::size_t>& situations) const
    {
        std::string all;
        for (const std::size_t s : situations) all += (all.empty() ? "" : ", ") + label(s);
        return all;
    }

    void filters()
    {
        if (!p_.probes.empty()) probes();
        if (p_.allocators.empty()) return;    // searches of `fit` alone
        to_.heading(3, "1. Filters");
        std::string asked = "corrupted, crashed, timed out, hazards, hardly measured, unsupported";
        if (!p_.probes.empty()) asked += "; what it stands on broken or missing by a probe";
        if (q_.require.completes) asked += "; completes wherever another does";
        if (q_.require.safe) asked += "; checked in full";
        if (q_.require.limit_bytes) asked += "; fits into " + exact_size(*q_.require.limit_bytes);
        to_.sentence("Asked: " + asked + ".");
        if (r_.out.empty()) to_.item("all pass");
        for (const rejected& o : r_.out)
            to_.item(to_.code(short_spec(p_, o.allocator)) + " is out: " + o.reason + cells(o.cells));
    }

    void probes()
    {
        to_.heading(3, "What the driver does, by a probe");
        for (const probe_file& f : p_.probes) {
            const probing::probe_report& r = f.report;
            const std::string what = to_.code(f.path) + (r.date.empty() ? "" : ", " + r.date) + (r.quick ? ", --quick" : "") +
                                     (r.finished ? "" : ", not finished");
            for (const std::string& line : conclusions_of(f)) to_.item(what + ": " + line);
        }
    }

    void front()
    {
        to_.heading(3, "2. Pareto front");
        std::vector<std::vector<std::string>> rows;
        for (std::size_t a = 0; a < r_.s.size(); ++a) {
            const scores& s = r_.s[a];
            std::vector<std::string> row{name(a), percent(s.unfinished, 0)};
            if (p_.timed()) row.push_back(percent(s.added));
            row.push_back(factor(s.bloat));
            if (p_.timed()) row.push_back(s.idle_ns == 0 ? "none" : human_time(s.idle_ns));
            row.push_back(r_.dominated_by[a] ? "beaten by " + name(*r_.dominated_by[a]) : "yes");
            rows.push_back(std::move(row));
        }
        if (p_.timed())
            to_.table({"allocator", "unfinished", "added time", "bloat", "worst idle recovery", "on the front"}, rows);
        else to_.table({"allocator", "unfinished", "bloat", "on the front"}, rows);
        for (const std::size_t i : r_.over.situations)
            for (std::size_t a = 0; a < r_.over.candidates.size(); ++a)
                if (at(i, a).measured() && !at(i, a).completed()) to_.item("not finished: " + unfinished(i, a));
    }

    static std::string failure_words(const evidence& e) { return (e.steady_failure ? "steady: " : "") + in_words(*e.failure); }

    std::string unfinished(std::size_t situation_index, std::size_t place) const
    {
        const evidence& e = at(situation_index, place);
        std::string words = name(place) + " in " + label(situation_index) + ", " + failure_words(e);
        if (e.cold_completed > 0 && !e.steady_failure)
            words += ", though " + std::to_string(e.cold_completed) + " of " + counted(e.attempted, "process", "processes") + " completed";
        return words + cells(e.cells);
    }

    void profile()
    {
        if (r_.profile.empty()) return;
        to_.heading(3, "3. Performance profile: share of the mix within x of the best time");
        std::vector<std::string> head{"allocator"};
        for (const double tau : r_.profile_taus) head.push_back(tau == 1 ? "best" : percent(tau - 1, 1));
        std::vector<std::vector<std::string>> rows;
        for (std::size_t a = 0; a < r_.profile.size(); ++a) {
            rows.push_back({name(a)});
            for (const double share : r_.profile[a]) rows.back().push_back(percent(share, 0));
        }
        to_.table(head, rows);
        to_.sentence("Pairwise: share of the mix in which the row is within " + percent(q_.equal.time, 0) +
                     " of the better of row and column.");
        head = {"row against column"};
        rows.clear();
        for (std::size_t a = 0; a < r_.pairwise.size(); ++a) {
            head.push_back(name(a));
            rows.push_back({name(a)});
            for (std::size_t b = 0; b < r_.pairwise.size(); ++b)
                rows.back().push_back(a == b ? "" : percent(r_.pairwise[a][b], 0));
        }
        to_.table(head, rows);
    }

    void regret()
    {
        if (r_.profile.empty()) return;
        to_.heading(3, "4. Regret: time lost against the best candidate of each phase");
        std::vector<std::vector<std::string>> rows;
        for (std::size_t a = 0; a < r_.s.size(); ++a) {
            const scores& s = r_.s[a];
            if (!s.timed) {
                rows.push_back({name(a), "-", "-", "-", "finished nothing"});
                continue;
            }
            const std::size_t where = r_.over.situations[s.worst_situation];
            const auto& [low, high] = r_.sure.regret95[a];
            rows.push_back(
                {name(a), percent(s.mean_regret), percent(low) + " to " + percent(high), percent(s.max_regret),
                 label(where) + " " + p_.situations[where].phases[s.worst_phase].name() + cells(at(where, a).cells)});
        }
        to_.table({"allocator", "mean", "in 95 % of resamples", "maximum", "where"}, rows);
    }

    void choice()
    {
        if (!p_.timed()) return;
        to_.heading(3, "5. Choice");
        to_.sentence("Least unfinished first; then mean regret within " + percent(q_.equal.time, 0) +
                     " of the least, bloat within " + percent(q_.equal.bloat, 0) + ", worst idle recovery within " +
                     percent(q_.equal.idle, 0) + " or " + human_time(q_.equal.idle_ns) + ".");
        if (!r_.chosen.empty())
            to_.item((r_.chosen.size() == 1 ? "choice: " : "equal within the margins: ") + names_of(r_.chosen));
        for (std::size_t a = 0; a < r_.sure.alone.size(); ++a)
            if (r_.sure.among[a] > 0)
                to_.item(name(a) + ": the choice in " + percent(r_.sure.alone[a], 1) + " of " +
                         std::to_string(r_.sure.resamples) +
                         " resamples of workloads and processes, equal to it in another " +
                         percent(r_.sure.among[a] - r_.sure.alone[a], 1));
        if (r_.runner_up) {
            std::string take = "runner-up: " + name(*r_.runner_up);
            for (const std::string& t : r_.to_win) take += "; " + t;
            to_.item(take);
        }
    }

    void disagreements()
    {
        if (!p_.timed()) return;
        to_.heading(3, "6. Workloads that disagree");
        if (r_.disagree.empty()) to_.item("none");
        for (const disagreement& d : r_.disagree) {
            const std::string cost = std::isnan(d.regret) ? "does not finish" : "loses " + percent(d.regret);
            to_.item(label(d.situation) + ": " + names_of(d.chosen) + "; " + name(r_.chosen.front()) + " " + cost +
                     " there" + cells(at(d.situation, r_.chosen.front()).cells));
        }
    }

    void other_kernels()
    {
        if (!p_.timed()) return;
        to_.heading(3, "7. Length of kernels");
        const auto is_scale = [](const kernel_check& k) { return k.kernels != "traffic"; };
        if (std::none_of(r_.other_kernels.begin(), r_.other_kernels.end(), is_scale))
            to_.item("the files hold kernel scale " + r_.kernels +
                     " only; --kernel-scale 0.5,1,2 asks whether the verdict depends on it");
        for (const kernel_check& s : r_.other_kernels) {
            const std::string same = (s.chosen == r_.chosen ? "the same choice" : "another choice: " + names_of(s.chosen)) +
                                     ", in " + percent(s.stays, 1) + " of resamples";
            to_.item((is_scale(s) ? "kernel scale " + s.kernels : "kernels that only touch their memory") + ", " +
                     counted(s.situations, "situation", "situations") + ": " + same);
        }
    }

    void without_times()
    {
        to_.heading(3, "3. What does not depend on time");
        std::vector<std::vector<std::string>> rows;
        for (const std::size_t i : r_.over.situations)
            for (std::size_t a = 0; a < r_.over.candidates.size(); ++a) {
                const evidence& e = at(i, a);
                const std::string outcome = e.failure ? failure_words(e) : "completed";
                rows.push_back({label(i) + " " + name(a), outcome, e.completed() ? human_size(e.peak_bytes) : "-",
                                factor(e.bloat.value_or(not_known)), e.completed() ? short_count(e.memory_calls) : "-",
                                e.completed() ? short_count(e.recoveries) : "-",
                                e.cells.empty() ? "" : to_.code(e.cells.front())});
            }
        to_.table({"situation, allocator", "outcome", "peak", "bloat", "driver calls", "recoveries", "cell"}, rows);
        smallest_limits();
        for (const break_even& b : r_.break_evens) break_even_of(b);
    }

    /// Of the limits in the files, per workload.
    void smallest_limits()
    {
        std::vector<std::vector<std::string>> rows;
        std::vector<std::string> seen;
        for (const std::size_t i : r_.over.situations) {
            const std::string& workload = p_.situations[i].workload;
            if (!p_.situations[i].limit_bytes || std::find(seen.begin(), seen.end(), workload) != seen.end()) continue;
            seen.push_back(workload);
            for (std::size_t a = 0; a < r_.over.candidates.size(); ++a)
                rows.push_back({label(i) + " " + name(a), limit_found(workload, a)});
        }
        to_.table({"workload of, allocator", "smallest limit in the files that completes"}, rows);
    }

    std::string limit_found(const std::string& workload, std::size_t a) const
    {
        std::optional<std::uint64_t> least;
        for (const std::size_t i : r_.over.situations) {
            const situation& s = p_.situations[i];
            if (s.workload == workload && s.limit_bytes && at(i, a).completed())
                least = std::min(least.value_or(UINT64_MAX), *s.limit_bytes);
        }
        return least ? exact_size(*least) : "none";
    }

    void break_even_of(const break_even& b)
    {
        const std::string list = to_.code(short_spec(p_, b.list)), pool = to_.code(short_spec(p_, b.pool));
        to_.heading(3, "Break-even: " + list + " against " + pool);
        to_.sentence(
            "Over " + labels(b.situations) + ", weighted: " + short_count(b.cold.pairs) + " allocate-and-free pairs and " +
            short_count(b.cold.synchronises) + " synchronises a cold pass; " + list + " makes " +
            short_count(b.cold.list_allocations + b.cold.list_frees) + " driver calls in it" +
            (b.has_steady ? ", " + short_count(b.steady.list_allocations + b.steady.list_frees) + " in a steady one" : "") +
            ".");
        break_even_pass(b, b.cold, "cold");
        if (b.has_steady) break_even_pass(b, b.steady, "steady");
        to_.sentence("A pair is what an allocation from the warm pool and its free cost more than the list pool's own "
                     "bookkeeping, the delay of the next kernel "
                     "included; a synchronise what one costs more while the pool has memory to look after." +
                     (q_.costs ? ""
                               : " Driver costs are assumed, not measured. What settles it on a card: " +
                                     to_.code(probe_command(p_)) + ", then the same recommend with --costs costs.json.") +
                     " Counted in" + cells_of(b) + ".");
        const auto does_not_finish = [&](std::size_t s) {
            return !p_.situations[s].by_allocator[b.pool].completed() && p_.situations[s].by_allocator[b.list].completed();
        };
        std::vector<std::size_t> earlier;
        std::copy_if(r_.over.situations.begin(), r_.over.situations.end(), std::back_inserter(earlier), does_not_finish);
        if (!earlier.empty())
            to_.item(pool + " does not finish " + labels(earlier) + ", which " + list + " does, whatever it costs");
    }

    void break_even_pass(const break_even& b, const traffic_counts& t, const std::string& pass)
    {
        const std::string list = to_.code(short_spec(p_, b.list)), pool = to_.code(short_spec(p_, b.pool));
        if (t.list_allocations + t.list_frees + t.list_synchronises == 0) {
            to_.item(pass + ": " + list + " makes no driver call; " + pool +
                     " can only win where neither a pair nor a synchronise costs anything more");
            return;
        }
        if (q_.costs) return settled_pass(b, t, pass);
        for (const double driver_us : assumed_driver_us) {
            const threshold h = threshold_at(t, driver_us);
            to_.item(pass + ", where a driver call takes " + microseconds(driver_us) + ": " + list + " beats " + pool +
                     " on this mix unless a warm allocate-and-free pair costs less than " + microseconds(h.pair_us) + " more" +
                     (h.synchronise_us ? " and a synchronise" + at_threshold(b) + " less than " +
                                             microseconds(*h.synchronise_us) + " more"
                                       : ""));
        }
    }

    std::string at_threshold(const break_even& b) const
    {
        const bool keeps = p_.allocators[b.pool].spec.find("threshold=max") != std::string::npos;
        return keeps ? " at threshold max" : "";
    }

    void settled_pass(const break_even& b, const traffic_counts& t, const std::string& pass)
    {
        const std::string list = to_.code(short_spec(p_, b.list)), pool = to_.code(short_spec(p_, b.pool));
        const settled s = settle(t, *q_.costs);
        const std::string rest = s.at.synchronise_us ? ", and only if a synchronise costs less than " +
                                                           microseconds(*s.at.synchronise_us) + " more"
                                                     : "";
        to_.item(pass + ", by " + q_.costs->source + ": a driver call takes " + microseconds(s.at.driver_us) +
                 ", so a warm pair may cost " + microseconds(s.at.pair_us) + " more; it costs " + microseconds(s.pair_us) +
                 ": " + (s.list_wins() ? list + " beats " + pool : pool + " can win" + rest));
    }

    std::string cells_of(const break_even& b) const
    {
        std::vector<std::string> ids;
        for (const std::size_t s : b.situations)
            for (const std::size_t a : {b.list, b.pool})
                for (const std::string& id : p_.situations[s].by_allocator[a].cells) ids.push_back(id);
        return cells(ids);
    }

    void fits()
    {
        std::vector<std::vector<std::string>> rows;
        for (const fit_answer& f : p_.fits) {
            const bool limit = f.key.empty();
            std::string best = f.best ? (limit ? human_size(*f.best) : std::to_string(*f.best)) : "none";
            rows.push_back({to_.code(f.allocator), limit ? "smallest limit" : "largest " + f.key,
                            f.limit_bytes ? exact_size(*f.limit_bytes) : "-", best, f.beyond.empty() ? "-" : f.beyond,
                            to_.code(f.workload)});
        }
        if (rows.empty()) return;
        to_.heading(3, "What fits");
        to_.table({"allocator", "searched", "limit", "found", "beyond it", "workload"}, rows);
    }

    /// All of the platform's, since claims and rejections may name any of them.
    void names()
    {
        if (p_.situations.empty()) return;
        to_.heading(3, "Situations and cells");
        for (std::size_t i = 0; i < p_.situations.size(); ++i) {
            std::string ids;
            for (std::size_t a = 0; a < p_.allocators.size(); ++a)
                for (const std::string& id : p_.situations[i].by_allocator[a].cells)
                    ids += (ids.empty() ? "" : ", ") + short_spec(p_, a) + " " + to_.code(id);
            to_.item(to_.strong(label(i)) + " " + to_.code(p_.situations[i].key) + ", " + part_in_words(i) + ": " + ids);
        }
        to_.sentence("The method is in docs/deciding.md.");
    }

    std::string part_in_words(std::size_t i) const
    {
        switch (part_of(r_, i)) {
        case part::compared: return "weight " + exact_number(p_.situations[i].weight);
        case part::left_out: return "left out";
        case part::check: return "a check of the length of kernels, not part of the mix";
        }
        return "?";
    }

    page& to_;
    const platform& p_;
    const recommendation& r_;
    const question& q_;
};

}  // namespace

std::string probe_command(const platform& p)
{
    const std::string kind = p.kind != "sim" ? p.kind : p.driver.find("pool=rocm") != std::string::npos ? "hip" : "cuda";
    return "vrambench probe --costs --device " + kind + ":0 --out costs.json";
}

void write_report(page& to, const platform& p, const recommendation& r, const question& q) { writer(to, p, r, q).write(); }

}  // namespace vrambench::decide
