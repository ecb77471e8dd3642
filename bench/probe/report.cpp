#include "bench/probe/report.hpp"

#include "bench/document_parts.hpp"
#include "bench/json_numbers.hpp"
#include "bench/json_text.hpp"
#include "bench/probe/needs.hpp"
#include "bench/text_columns.hpp"
#include "device/registry.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"

#include <algorithm>

namespace vrambench::probing {

namespace {

using json = nlohmann::json;

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

std::string in_words(const std::vector<const summed_finding*>& findings)
{
    std::string all;
    for (const auto* f : findings) all += (all.empty() ? "" : "; ") + f->best.question + ": " + f->best.found.verdict;
    return all;
}

std::string conclusion(const probe_report& r, const needed& n)
{
    const judgement j = judge(r.probes, n);
    const auto stated = n.claim ? r.device.claims.find(n.claim) : r.device.claims.end();
    const std::string claim = stated == r.device.claims.end() ? "" : "stated: " + stated->second + "; found: ";
    std::vector<const summed_finding*> broken = j.bad;
    std::erase_if(broken, [](const summed_finding* f) { return f->best.found.how != level::broken; });
    if (!broken.empty()) return claim + "BROKEN: " + in_words(broken);
    if (j.answered == 0) return claim + "not asked";
    return claim + "works" + (j.costly.empty() ? "" : "; costly: " + in_words(j.costly));
}

json finding_json(const summed_finding& f)
{
    json j = to_json(f.best);
    j["processes"] = f.asked;
    j["processes_with_verdict"] = f.said;
    if (f.verdicts.size() > 1) j["verdicts"] = f.verdicts;
    return j;
}

summed_finding finding_of(const json& j)
{
    summed_finding f;
    f.best = finding_from(j);
    read(j, "processes", f.asked);
    read(j, "processes_with_verdict", f.said);
    if (const auto verdicts = j.find("verdicts"); verdicts != j.end())
        for (const auto& item : verdicts->items()) read(*verdicts, item.key().c_str(), f.verdicts[item.key()]);
    else f.verdicts[f.best.found.verdict] = f.asked;
    return f;
}

device_info device_of(const json& j)
{
    device_info d;
    j.at("kind").get_to(d.kind);
    j.at("name").get_to(d.name);
    j.at("spec").get_to(d.spec);
    j.at("simulated").get_to(d.simulated);
    for (const auto& [name, value] : j.at("claims").items()) d.claims[name] = value.get<std::string>();
    return d;
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
    for (const auto& n : needs()) out += column(joined(n.allocators), 16) + printable(conclusion(r, n)) + "\n";
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
    if (!r.date.empty()) j["date"] = r.date;
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
    for (const auto& n : needs()) j["conclusions"][joined(n.allocators)] = json_text(conclusion(r, n));
    std::string text;
    print_json(text, j, 4, 0);
    return text + "\n";
}

probe_report report_from(const json& j)
{
    probe_report r;
    j.at("command").get_to(r.command);
    r.environment = environment_from(j.at("environment"));
    r.device = device_of(j.at("device"));
    r.date = j.value("date", "");
    j.at("quick").get_to(r.quick);
    j.at("finished").get_to(r.finished);
    for (const json& p : j.at("probes")) {
        probe_summary s;
        p.at("name").get_to(s.name);
        read(p, "processes", s.processes);
        for (const json& f : p.at("findings")) s.findings.push_back(finding_of(f));
        r.probes.push_back(std::move(s));
    }
    return r;
}

}  // namespace vrambench::probing
