#include "bench/probe/report.hpp"

#include "bench/document_parts.hpp"
#include "bench/json_text.hpp"
#include "device/registry.hpp"
#include "spec/errors.hpp"

#include <algorithm>

namespace vrambench::probing {

namespace {

using json = nlohmann::json;

std::string column(const std::string& text, std::size_t width)
{
    return text + std::string(text.size() < width ? width - text.size() : 1, ' ');
}

/// What is as it should be needs no mark.
std::string marked(const finding& f)
{
    switch (f.found.how) {
    case level::fine: return f.found.verdict;
    case level::costly: return f.found.verdict + " [costly]";
    case level::open: return f.found.verdict + " [open]";
    case level::broken: return f.found.verdict + " [BROKEN]";
    }
    return f.found.verdict;
}

std::string claims_text(const device_info& info)
{
    std::string all;
    for (const auto& [name, value] : info.claims) all += (all.empty() ? "" : "; ") + name + ": " + value;
    return all.empty() ? "nothing" : all;
}

/// What an allocator stands on: the probes whose names begin so.
struct needed {
    const char* allocator;
    const char* claim;                       ///< what the driver has to state for it; null: nothing
    std::vector<std::string> prefixes;
};

const std::vector<needed>& needs()
{
    static const std::vector<needed> all = {
        {"direct, legacy", nullptr, {"wait.malloc.", "wait.free.", "release.free", "failure.malloc", "integrity.malloc"}},
        {"async",
         "memory pools",
         {"pools.", "wait.malloc_async", "wait.free_async", "release.threshold", "release.trim", "release.pool",
          "failure.malloc_async", "integrity.pool", "integrity.copy", "reuse."}},
        {"vmm",
         "virtual memory",
         {"vmm.", "wait.create", "wait.map", "wait.set_access", "wait.unmap", "wait.release", "release.vmm", "failure.create",
          "integrity.vmm", "granularity.vmm", "granularity.addresses"}},
    };
    return all;
}

bool concerns(const needed& n, const std::string& id)
{
    // "failure.malloc" is not "failure.malloc_async".
    return std::any_of(n.prefixes.begin(), n.prefixes.end(), [&](const std::string& p) {
        return id.starts_with(p) && (id.size() == p.size() || id[p.size()] != '_' || p.ends_with('.'));
    });
}

std::string conclusion(const probe_report& r, const needed& n)
{
    std::string broken, costly;
    unsigned asked = 0;
    for (const auto& p : r.probes)
        for (const auto& f : p.findings) {
            if (!concerns(n, f.best.id)) continue;
            if (f.best.found.how != level::open) ++asked;
            std::string& list = f.best.found.how == level::broken ? broken : costly;
            if (f.best.found.how == level::broken || f.best.found.how == level::costly)
                list += (list.empty() ? "" : "; ") + f.best.question + ": " + f.best.found.verdict;
        }
    const auto stated = n.claim ? r.device.claims.find(n.claim) : r.device.claims.end();
    const std::string claim = stated == r.device.claims.end() ? "" : "stated: " + stated->second + "; found: ";
    if (!broken.empty()) return claim + "BROKEN: " + broken;
    if (asked == 0) return claim + "not asked";
    return claim + "works" + (costly.empty() ? "" : "; costly: " + costly);
}

json finding_json(const summed_finding& f)
{
    json j = to_json(f.best);
    j["processes"] = f.asked;
    j["processes_with_verdict"] = f.said;
    if (f.verdicts.size() > 1) j["verdicts"] = f.verdicts;
    return j;
}

}  // namespace

namespace {

bool is_simulated(const device_info& d)
{
    device_choice c;
    c.name = d.name;
    c.simulated = d.simulated;
    return gives_simulated_results(c);
}

}  // namespace

std::string probe_table(const probe_report& r)
{
    std::string out = is_simulated(r.device) ? "SIMULATED, the rules of its profile: " : "";
    out += printable(r.device.name) + " (" + printable(r.device.spec) +
           ")\nthe driver states: " + printable(claims_text(r.device)) + "\n\n";
    std::size_t wide_question = 8, wide_verdict = 7;
    for (const auto& p : r.probes)
        for (const auto& f : p.findings) {
            wide_question = std::max(wide_question, f.best.question.size());
            wide_verdict = std::max(wide_verdict, marked(f.best).size());
        }
    const auto line = [&](const std::string& question, const std::string& verdict, const std::string& evidence) {
        out += column(question, wide_question + 2) + column(verdict, wide_verdict + 2) + evidence + "\n";
    };
    line("probe", "verdict", "evidence");
    for (const auto& p : r.probes) {
        out += "\n" + p.name + ", " + std::to_string(p.processes) + (p.processes == 1 ? " process\n" : " processes\n");
        for (const auto& f : p.findings) line(f.best.question, printable(marked(f.best)), printable(evidence_of(f)));
    }
    out += "\nwhat follows for allocators\n";
    for (const auto& n : needs()) out += column(n.allocator, 16) + printable(conclusion(r, n)) + "\n";
    return out;
}

std::string probe_text(const probe_report& r)
{
    run_document head;
    head.command = r.command;
    head.environment = r.environment;
    head.finished = r.finished;
    json j = head_json(head, "probe");
    j["schema"] = report_schema;
    j.erase("seed");
    j["quick"] = r.quick;
    j["device"] = {{"kind", r.device.kind}, {"name", json_text(r.device.name)}, {"spec", json_text(r.device.spec)},
                   {"simulated", is_simulated(r.device)}, {"claims", json::object()}};
    for (const auto& [name, value] : r.device.claims) j["device"]["claims"][name] = json_text(value);
    j["probes"] = json::array();
    for (const auto& p : r.probes) {
        json findings = json::array();
        for (const auto& f : p.findings) findings.push_back(finding_json(f));
        j["probes"].push_back({{"name", p.name}, {"processes", p.processes}, {"findings", std::move(findings)}});
    }
    j["conclusions"] = json::object();
    for (const auto& n : needs()) j["conclusions"][n.allocator] = json_text(conclusion(r, n));
    std::string text;
    print_json(text, j, 4, 0);
    return text + "\n";
}

}  // namespace vrambench::probing
