#include "bench/decide/probes.hpp"

#include "spec/errors.hpp"
#include "spec/spec.hpp"

#include <algorithm>

namespace vrambench::decide {

namespace {

using probing::judgement;
using probing::needed;
using probing::usability;

judgement judge(const probe_file& f, const needed& n, const candidate& a)
{
    return probing::judge(f.report.probes, n, a.settings.values());
}

std::string verdicts_in_words(const std::vector<const probing::summed_finding*>& findings)
{
    std::string all;
    for (const auto* f : findings) all += (all.empty() ? "" : ", ") + f->best.question + ": " + f->best.found.verdict;
    return all;
}

/// Why it is unusable; what the device lacks is said once, not for each question about it.
std::string in_words(const judgement& j)
{
    if (j.bad.front()->best.found.how == probing::level::open) return probing::not_supported;
    return "broken: " + verdicts_in_words(j.bad);
}

/// "this card's probe of 2026-11-30"; by its file where an earlier version kept no date.
std::string whose_probe(const platform& p, const probe_file& f)
{
    return std::string(p.real ? "this card's probe" : "the simulator's probe") +
           (f.report.date.empty() ? " in " + f.path : " of " + f.report.date);
}

}  // namespace

std::vector<std::string> give_reports(std::vector<platform>& to, std::vector<probe_file> reports)
{
    std::vector<std::string> notes;
    for (probe_file& f : reports) {
        platform of = platform_of(f.report);
        if (take_driver(of, to)) notes.push_back(driver_taken(f.path, of));
        const auto found = std::find_if(to.begin(), to.end(), [&](const platform& p) { return same_platform(p, of); });
        if (found != to.end()) found->probes.push_back(std::move(f));
        else
            notes.push_back(f.path + " is a probe of " + platform_name(of) +
                            ", of which the files hold no cell: it decides nothing here");
    }
    return notes;
}

std::optional<defect> defect_of(const platform& p, const candidate& a)
{
    const needed* n = probing::need_of(a.name);
    if (!n) return std::nullopt;
    for (const probe_file& f : p.probes)
        if (const judgement j = judge(f, *n, a); !j.bad.empty()) return defect{&f, j.bad.front(), n->feature};
    return std::nullopt;
}

std::string in_words(const platform& p, const defect& d)
{
    const probing::finding& best = d.finding->best;
    return whose_probe(p, *d.in) + " finds " + d.feature + " unusable: " + best.question + ": " + best.found.verdict + ": " +
           probing::evidence_of(*d.finding) + " (" + best.id + " in " + d.in->path + ")";
}

std::string answer_of_probes(const platform& p, const candidate& a)
{
    const needed* n = probing::need_of(a.name);
    if (!n || p.probes.empty()) return {};
    const auto telling = [&](usability what) {
        return std::find_if(p.probes.begin(), p.probes.end(), [&](const probe_file& f) { return judge(f, *n, a).is == what; });
    };
    for (const usability what : {usability::unusable, usability::usable})
        if (const auto f = telling(what); f != p.probes.end())
            return " (" + whose_probe(p, *f) + " finds it " + probing::to_string(what) + ")";
    return " (" + whose_probe(p, p.probes.front()) + " did not ask)";
}

std::vector<std::string> conclusions_of(const probe_file& f)
{
    std::vector<std::string> lines;
    for (const needed& n : probing::needs()) {
        const judgement j = probing::judge(f.report.probes, n);
        if (j.answered == 0 && j.bad.empty()) continue;
        std::string line = n.feature + std::string(": ");
        if (!j.bad.empty()) line += in_words(j);
        else line += j.is == usability::usable ? "usable" : "not known to be usable";
        if (!j.costly.empty()) line += "; costly: " + verdicts_in_words(j.costly);
        if (!j.not_asked.empty()) line += "; not asked: " + joined(j.not_asked);
        lines.push_back(printable(line));
    }
    return lines;
}

}  // namespace vrambench::decide
