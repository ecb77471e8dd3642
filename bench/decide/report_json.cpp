#include "bench/decide/report.hpp"

#include "bench/json_text.hpp"

#include <cmath>

namespace vrambench::decide {

namespace {

using nlohmann::json;

/// Turns one recommendation into data; names stand for places.
class describer {
public:
    describer(const platform& p, const recommendation& r, const question& q) : p_(p), r_(r), q_(q) {}

    json candidates() const
    {
        json all = json::array();
        for (std::size_t a = 0; a < r_.s.size(); ++a) all.push_back(candidate_at(a));
        return all;
    }

    json out() const
    {
        json all = json::array();
        for (const rejected& o : r_.out)
            all.push_back({{"allocator", spec_of(o.allocator)},
                           {"reason", json_text(o.reason)},
                           {"cells", o.cells},
                           {"probe", o.probed ? defect_json(*o.probed) : json(nullptr)}});
        return all;
    }

    json probes() const
    {
        json all = json::array();
        for (const probe_file& f : p_.probes) {
            json features = json::object();
            for (const auto& n : probing::needs()) features[n.feature] = judgement_json(probing::judge(f.report.probes, n));
            all.push_back({{"file", json_text(f.path)},
                           {"date", f.report.date.empty() ? json(nullptr) : json_text(f.report.date)},
                           {"quick", f.report.quick},
                           {"finished", f.report.finished},
                           {"features", std::move(features)}});
        }
        return all;
    }

    json situations() const
    {
        json all = json::array();
        for (std::size_t i = 0; i < p_.situations.size(); ++i) all.push_back(situation_at(i));
        return all;
    }

    json specs(const std::vector<std::size_t>& places) const
    {
        json all = json::array();
        for (const std::size_t a : places) all.push_back(spec(a));
        return all;
    }

    json disagreements() const
    {
        json all = json::array();
        for (const disagreement& d : r_.disagree)
            all.push_back({{"situation", json_text(p_.situations[d.situation].key)},
                           {"choice", specs(d.chosen)},
                           {"regret_of_the_recommended", json_number(d.regret)},
                           {"cells", cells(d.situation)}});
        return all;
    }

    json other_kernels() const
    {
        json all = json::array();
        for (const kernel_check& s : r_.other_kernels)
            all.push_back({{"kernels", s.kernels},
                           {"situations", s.situations},
                           {"choice", specs(s.chosen)},
                           {"same", s.chosen == r_.chosen},
                           {"share", json_number(s.stays)}});
        return all;
    }

    json break_evens() const
    {
        json all = json::array();
        for (const break_even& b : r_.break_evens) {
            json ids = json::array();
            for (const std::size_t s : b.situations)
                for (const std::size_t a : {b.list, b.pool})
                    for (const std::string& id : p_.situations[s].by_allocator[a].cells) ids.push_back(id);
            all.push_back({{"list_pool", spec_of(b.list)},
                           {"driver_pool", spec_of(b.pool)},
                           {"cold", counts(b.cold)},
                           {"steady", b.has_steady ? counts(b.steady) : json(nullptr)},
                           {"settled_by", probe_command(p_)},
                           {"cells", std::move(ids)}});
        }
        return all;
    }

    json fits() const
    {
        json all = json::array();
        for (const fit_answer& f : p_.fits)
            all.push_back({{"allocator", json_text(f.allocator)},
                           {"workload", json_text(f.workload)},
                           {"searched", f.key.empty() ? "limit" : f.key},
                           {"vram_limit_bytes", f.limit_bytes ? json(*f.limit_bytes) : json(nullptr)},
                           {"best", f.best ? json(*f.best) : json(nullptr)},
                           {"beyond", json_text(f.beyond)}});
        return all;
    }

    json spec(std::size_t place) const { return spec_of(r_.over.candidates[place]); }

private:
    static json finding_json(const probing::summed_finding& f)
    {
        return {{"id", json_text(f.best.id)},
                {"question", json_text(f.best.question)},
                {"verdict", json_text(f.best.found.verdict)},
                {"evidence", json_text(probing::evidence_of(f))}};
    }

    static json defect_json(const defect& d)
    {
        return {{"file", json_text(d.in->path)}, {"feature", d.feature}, {"finding", finding_json(*d.finding)}};
    }

    static json judgement_json(const probing::judgement& j)
    {
        json bad = json::array(), costly = json::array(), not_asked = json::array();
        for (const auto* f : j.bad) bad.push_back(finding_json(*f));
        for (const auto* f : j.costly) costly.push_back(finding_json(*f));
        for (const std::string& id : j.not_asked) not_asked.push_back(json_text(id));
        return {{"verdict", probing::to_string(j.is)}, {"broken", bad}, {"costly", costly}, {"not_asked", not_asked}};
    }

    json spec_of(std::size_t allocator) const { return json_text(p_.allocators[allocator].spec); }

    json cells(std::size_t situation_index) const
    {
        json ids = json::object();
        const auto& all = p_.situations[situation_index].by_allocator;
        for (std::size_t a = 0; a < all.size(); ++a)
            if (all[a].measured()) ids[p_.allocators[a].spec] = all[a].cells;
        return ids;
    }

    json situation_at(std::size_t i) const
    {
        const situation& s = p_.situations[i];
        return {{"situation", json_text(s.key)},
                {"weight", s.weight},
                {"compared", part_of(r_, i) == part::compared},
                {"part", to_string(part_of(r_, i))},
                {"facts", facts(i)},
                {"cells", cells(i)}};
    }

    /// What does not depend on time.
    json facts(std::size_t i) const
    {
        json all = json::object();
        for (std::size_t a = 0; a < p_.allocators.size(); ++a) {
            const evidence& e = p_.situations[i].by_allocator[a];
            if (!e.measured()) continue;
            json& f = all[p_.allocators[a].spec] = {{"outcome", json_text(e.failure ? in_words(*e.failure) : "completed")}};
            if (!e.completed()) continue;
            f["peak_bytes"] = e.peak_bytes;
            f["device_bloat"] = e.bloat ? json(*e.bloat) : json(nullptr);
            f["memory_calls"] = e.memory_calls;
            f["recoveries"] = e.recoveries;
        }
        return all;
    }

    json ids_of(std::size_t place) const
    {
        json ids = json::array();
        for (const std::size_t i : r_.over.situations)
            for (const std::string& id : p_.situations[i].by_allocator[r_.over.candidates[place]].cells) ids.push_back(id);
        return ids;
    }

    json candidate_at(std::size_t a) const
    {
        const scores& s = r_.s[a];
        json j{{"allocator", spec(a)}, {"unfinished", s.unfinished}, {"bloat", json_number(s.bloat)}, {"cells", ids_of(a)}};
        j["dominated_by"] = r_.dominated_by[a] ? spec(*r_.dominated_by[a]) : json(nullptr);
        if (!p_.timed()) return j;
        j["added"] = json_number(s.added);
        j["worst_idle_recovery_ns"] = s.idle_ns;
        j["mean_regret"] = json_number(s.mean_regret);
        j["mean_regret_95"] = {json_number(r_.sure.regret95[a].first), json_number(r_.sure.regret95[a].second)};
        j["share_alone"] = r_.sure.alone[a];
        j["share_among_equals"] = r_.sure.among[a];
        if (s.timed) {
            const situation& where = p_.situations[r_.over.situations[s.worst_situation]];
            j["max_regret"] = {{"value", s.max_regret},
                               {"situation", json_text(where.key)},
                               {"phase", json_text(where.phases[s.worst_phase].name())}};
        }
        if (r_.profile.empty()) return j;
        for (std::size_t t = 0; t < r_.profile_taus.size(); ++t)
            j["profile"].push_back({r_.profile_taus[t], r_.profile[a][t]});
        for (std::size_t b = 0; b < r_.s.size(); ++b)
            if (b != a) j["pairwise"][p_.allocators[r_.over.candidates[b]].spec] = r_.pairwise[a][b];
        return j;
    }

    json counts(const traffic_counts& t) const
    {
        json j{{"pairs", t.pairs},
               {"synchronises", t.synchronises},
               {"list_allocations", t.list_allocations},
               {"list_frees", t.list_frees},
               {"list_synchronises", t.list_synchronises},
               {"thresholds", json::array()}};
        for (const double us : assumed_driver_us) {
            const threshold h = threshold_at(t, us);
            j["thresholds"].push_back({{"assumed_driver_call_us", us},
                                       {"pair_us", h.pair_us},
                                       {"synchronise_us", h.synchronise_us ? json(*h.synchronise_us) : json(nullptr)}});
        }
        if (!q_.costs) return j;
        const settled s = settle(t, *q_.costs);
        j["settled"] = {{"by", json_text(q_.costs->source)},
                        {"driver_call_us", s.at.driver_us},
                        {"pair_may_cost_us", s.at.pair_us},
                        {"pair_us", s.pair_us},
                        {"list_wins", s.list_wins()}};
        return j;
    }

    const platform& p_;
    const recommendation& r_;
    const question& q_;
};

json question_json(const question& q)
{
    return {{"require",
             {{"completes", q.require.completes},
              {"safe", q.require.safe},
              {"limit_bytes", q.require.limit_bytes ? json(*q.require.limit_bytes) : json(nullptr)}}},
            {"margins",
             {{"time", q.equal.time}, {"bloat", q.equal.bloat}, {"idle", q.equal.idle}, {"idle_ns", q.equal.idle_ns}}},
            {"resamples", q.resamples},
            {"seed", q.seed},
            {"sure", q.sure},
            {"fewest_processes", q.fewest_processes}};
}

}  // namespace

json report_json(const platform& p, const recommendation& r, const question& q)
{
    const describer d(p, r, q);
    json files = json::array(), notes = json::array(), rules = json::array(), to_win = json::array();
    for (const std::string& f : p.files) files.push_back(json_text(f));
    for (const std::string& n : p.notes) notes.push_back(json_text(n));
    for (const std::string& n : r.rules) rules.push_back(json_text(n));
    for (const std::string& n : r.to_win) to_win.push_back(json_text(n));
    return {{"platform",
             {{"kind", p.kind},
              {"card", json_text(p.card)},
              {"driver", json_text(p.driver)},
              {"driver_version", json_text(p.driver_version)},
              {"simulated", !p.real}}},
            {"files", std::move(files)},
            {"notes", std::move(notes)},
            {"question", question_json(q)},
            {"verdict", to_string(r.is)},
            {"why", json_text(r.why)},
            {"choice", d.specs(r.chosen)},
            {"runner_up", r.runner_up ? d.spec(*r.runner_up) : json(nullptr)},
            {"runner_up_would_win_if", std::move(to_win)},
            {"fewest_processes", r.processes},
            {"probes", d.probes()},
            {"rejected", d.out()},
            {"candidates", d.candidates()},
            {"rules", std::move(rules)},
            {"disagreements", d.disagreements()},
            {"kernels", r.kernels},
            {"other_kernels", d.other_kernels()},
            {"break_even", d.break_evens()},
            {"fits", d.fits()},
            {"situations", d.situations()}};
}

}  // namespace vrambench::decide
