#include "bench/probe/summary.hpp"

#include <algorithm>

namespace vrambench::probing {

namespace {

/// Which of two verdicts stands for all: a broken one, else the more frequent, else the first.
bool is_better(const summed_finding& a, const summed_finding& b)
{
    const bool broken_a = a.best.found.how == level::broken, broken_b = b.best.found.how == level::broken;
    if (broken_a != broken_b) return broken_a;
    return a.said > b.said;
}

summed_finding sum(const std::vector<const finding*>& answers)
{
    std::vector<summed_finding> groups;
    summed_finding all;
    for (const finding* f : answers) {
        ++all.verdicts[f->found.verdict];
        const auto same =
            std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.best.found.verdict == f->found.verdict; });
        if (same == groups.end()) groups.push_back({*f, 1, 0});
        else ++same->said;
    }
    const auto best = std::min_element(groups.begin(), groups.end(), is_better);
    all.best = best->best;
    all.said = best->said;
    all.asked = static_cast<unsigned>(answers.size());
    return all;
}

}  // namespace

probe_summary summarise(const probe_entry& probe, const std::vector<process_report>& reports)
{
    probe_summary s{probe.name, static_cast<unsigned>(reports.size()), {}};
    std::vector<std::string> order;
    std::map<std::string, std::vector<const finding*>> by_id;
    for (const auto& r : reports)
        for (const auto& f : r.findings) {
            if (!by_id.count(f.id)) order.push_back(f.id);
            by_id[f.id].push_back(&f);
        }
    for (const auto& id : order) s.findings.push_back(sum(by_id[id]));
    if (!probe.over_processes) return s;
    const finding joint = probe.over_processes(reports);
    for (auto& f : s.findings)
        if (f.best.id == joint.id && f.best.found.how != level::broken)
            f = {joint, f.asked, f.asked, {{joint.found.verdict, f.asked}}};
    return s;
}

std::string evidence_of(const summed_finding& f)
{
    if (f.asked < 2) return f.best.found.evidence;
    const std::string share =
        f.said == f.asked ? std::to_string(f.asked) : std::to_string(f.said) + " of " + std::to_string(f.asked);
    return f.best.found.evidence + " (" + share + " processes)";
}

std::string first_defect(const std::vector<finding>& findings)
{
    for (const auto& f : findings)
        if (f.found.how == level::broken) return f.question + ": " + f.found.verdict + ": " + f.found.evidence;
    return "";
}

}  // namespace vrambench::probing
