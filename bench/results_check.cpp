#include "bench/results_check.hpp"

#include "bench/check/cell_rules.hpp"
#include "bench/derive.hpp"
#include "bench/document_parts.hpp"
#include "bench/json_text.hpp"
#include "bench/probe/report.hpp"
#include "bench/result_file.hpp"
#include "spec/errors.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <set>

namespace vrambench {

using nlohmann::json;

namespace {

using findings = std::vector<std::string>;

std::string shortened(const json& j) { return printable(j.dump(-1, ' ', false, json::error_handler_t::replace), 60); }

/// Where two documents first differ, as "metrics/slowdown/median is 2, but 1 follows from its repetitions"; none where they are
/// equal. `from` says what the derived one follows from.
std::optional<std::string> first_difference(const json& stored, const json& derived, const std::string& at, const char* from)
{
    const std::string below = at.empty() ? "" : at + "/";
    if (stored.is_object() && derived.is_object()) {
        for (const auto& [key, value] : stored.items()) {
            const auto twin = derived.find(key);
            if (twin == derived.end()) return below + printable(key) + " is not part of the format, or does not follow";
            if (auto d = first_difference(value, *twin, below + printable(key), from)) return d;
        }
        for (const auto& [key, value] : derived.items())
            if (!stored.contains(key)) return below + printable(key) + " is missing: it would be " + shortened(value);
        return std::nullopt;
    }
    if (stored.is_array() && derived.is_array() && stored.size() == derived.size()) {
        for (std::size_t i = 0; i < stored.size(); ++i)
            if (auto d = first_difference(stored[i], derived[i], below + std::to_string(i), from)) return d;
        return std::nullopt;
    }
    if (stored == derived) return std::nullopt;
    return at + " is " + shortened(stored) + ", but " + shortened(derived) + " follows from " + from;
}

/// What the program would write from the raw truth of the file, against what the file says.
findings check_derivation(const json& stored, const run_document& run)
{
    findings found;
    json head = json::object();
    for (const auto& [key, value] : stored.items())
        if (key != "cells") head[key] = value;
    if (const auto d = first_difference(head, head_json(run, "run"), "", "the rest of it")) found.push_back(*d);
    const json& cells = stored.at("cells");
    for (std::size_t i = 0; i < run.cells.size(); ++i) {
        const cell& c = run.cells[i];
        if (const auto d = first_difference(cells[i], cell_json(c, reference_of(run, c)), "", "its repetitions"))
            found.push_back("cell " + printable(c.id) + ": " + *d);
    }
    return found;
}

std::string text_of(const std::vector<environment_fact>& facts, const std::string& key)
{
    const auto f = std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.key == key; });
    return f == facts.end() || f->is_number ? "" : f->text;
}

std::uint64_t number_of(const std::vector<environment_fact>& facts, const std::string& key)
{
    const auto f = std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.key == key; });
    return f == facts.end() ? 0 : f->number;
}

/// Twelve hexadecimal digits, or more where these are of several commits.
bool is_commit(const std::string& commit)
{
    return commit.size() >= 12 && commit.size() <= 40 && commit.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Three numbers, as 0.1.0.
bool is_version(const std::string& version)
{
    static const std::regex numbers("[0-9]+\\.[0-9]+\\.[0-9]+");
    return std::regex_match(version, numbers);
}

/// Why nobody can build the program of that commit again; empty where anybody can.
std::string not_buildable(const std::string& commit)
{
    if (!commit.empty() && commit != "unknown" && !commit.ends_with("-dirty") && !is_commit(commit))
        return "commit is " + in_quotes(commit) + ", which names no commit (twelve hexadecimal digits)";
    return commit == "unknown" || commit.ends_with("-dirty") ? "commit is " + in_quotes(commit) + ": nobody can build this program again" : "";
}

/// Enough to do it again: the command, the program's commit, the machine.
void check_environment(const std::vector<environment_fact>& facts, findings& found)
{
    for (const char* key : {"program", "version", "commit", "compiler", "host", "os", "kernel", "cpu", "timer"})
        if (text_of(facts, key).empty()) found.push_back(std::string("the environment does not say ") + key);
    if (const std::string why = not_buildable(text_of(facts, "commit")); !why.empty()) found.push_back(why);
    if (const std::string program = text_of(facts, "program"); program != "vrambench") found.push_back("program is " + in_quotes(program));
    if (const std::string version = text_of(facts, "version"); !is_version(version)) found.push_back("version is " + in_quotes(version));
    if (!text_of(facts, "answered_by_stand_in").empty())
        found.push_back("a stand-in answered for the device: its figures are no card's");
}

void check_command(const std::vector<std::string>& command, findings& found)
{
    if (command.size() < 2) found.push_back("the command is missing");
}

findings check_provenance(const run_document& run)
{
    findings found;
    check_command(run.command, found);
    if (run.environments.empty()) check_environment(run.environment, found);
    for (const merged_environment& e : run.environments) {
        check_environment(e.facts, found);
        for (const auto& r : e.runs) check_command(r.command, found);
    }
    std::set<std::string> missing;
    for (const cell& c : run.cells)
        if (text_of(environment_of(run, c), "device." + c.on.spec + ".name").empty()) missing.insert(c.on.spec);
    for (const std::string& spec : missing) found.push_back("the environment does not describe device " + in_quotes(spec));
    return found;
}

/// The same as the file says it, for messages.
std::string in_numbers(std::uint64_t small, const char* name, std::uint64_t large, const char* other)
{
    return std::string(name) + " " + std::to_string(small) + " is below " + other + " " + std::to_string(large);
}

/// The first thing about a completed pass that cannot be.
std::optional<std::string> impossible(const cell& c, const pass_measurement& p, std::uint64_t physical_block)
{
    const std::uint64_t live = c.workload->summary.max_live_bytes;
    // Negative: not known, which a card always does and a simulated one need not.
    if (p.time_ps == 0 || (p.time_ps < 0 && !c.on.simulated)) return "time_ps is not above 0";
    const std::uint64_t events = c.workload->summary.events;
    if (p.events != events) return "it executed " + std::to_string(p.events) + " of " + std::to_string(events) + " events";
    if (p.peak_live_bytes != live)
        return "peak_live_bytes " + std::to_string(p.peak_live_bytes) + " is not the trace's max_live_bytes " + std::to_string(live);
    if (p.peak_reserved_bytes < live) return in_numbers(p.peak_reserved_bytes, "peak_reserved_bytes", live, "max_live_bytes");
    if (p.peak_device_bytes != 0 && p.peak_device_bytes < live)
        return in_numbers(p.peak_device_bytes, "peak_device_bytes", live, "max_live_bytes");
    // A limit is reached by taking whole physical blocks, so that a part of one may stay free beyond it.
    if (c.vram_limit_bytes && p.free_bytes_at_start >= *c.vram_limit_bytes + std::max<std::uint64_t>(1, physical_block))
        return "it began with " + std::to_string(p.free_bytes_at_start) + " free bytes, not with its limit of " +
               std::to_string(*c.vram_limit_bytes);
    return std::nullopt;
}

/// One finding a cell is enough to look at it.
std::optional<std::string> implausible(const cell& c, std::uint64_t physical_block)
{
    for (const repetition& r : c.repetitions) {
        const std::string which = std::string(to_string(r.what)) + " repetition " + std::to_string(r.index);
        if (r.disturbed) continue;
        for (const pass_measurement* p : {&r.cold, r.steady ? &*r.steady : nullptr})
            if (p && p->result.what == status::completed)
                if (const auto why = impossible(c, *p, physical_block)) return which + (p == &r.cold ? ", cold: " : ", steady: ") + *why;
    }
    return std::nullopt;
}

/// What the cell's id, device and figures say of each other.
std::optional<std::string> broken_cell(const run_document& run, const cell& c, checking::recipe* known)
{
    if (c.on.simulated != (c.on.kind == "sim")) return "device kind " + in_quotes(c.on.kind) + " and simulated contradict each other";
    const std::uint64_t block = number_of(environment_of(run, c), "device." + c.on.spec + ".physical_block");
    if (auto why = implausible(c, block)) return why;
    return checking::broken_rule(run, c, known);
}

/// A profile file's content is part of the id, and not in the file.
bool has_another_id(const cell& c) { return c.on.spec.find('@') == std::string::npos && cell_id(c) != c.id; }

/// A fit and a probe's report have no repetitions from which anything would follow: there is something in them, and it says
/// where it comes from.
findings findings_in_head(const json& document, const char* contents)
{
    findings found;
    const auto items_in = [&](const char* key) {
        const auto list = document.find(key);
        return list != document.end() && list->is_array() ? list->size() : 0;
    };
    if (items_in(contents) == 0) found.push_back(std::string("it holds no ") + contents);
    if (items_in("command") < 2) found.push_back("the command is missing");
    const json environment = document.value("environment", json());
    for (const char* key : {"program", "version", "commit", "host"})
        if (text_at(environment, key).empty()) found.push_back(std::string("the environment does not say ") + key);
    if (const std::string why = not_buildable(text_at(environment, "commit")); !why.empty()) found.push_back(why);
    return found;
}

/// "AMD Radeon RX 7900 XTX" as "amd-radeon-rx-7900-xtx".
std::string as_in_a_path(std::string s)
{
    for (char& c : s) c = c == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return s;
}

}  // namespace

results_checker::verdict results_checker::judge(const json& document)
{
    const std::string schema = text_at(document, "schema");
    if (schema.empty()) return {{"it is not a vrambench result file"}, {}};
    if (schema == probing::report_schema) return {findings_in_head(document, "probes"), {}};
    if (schema != result_schema) return {{"it has version " + in_quotes(schema) + ", this program reads '" + result_schema + "'"}, {}};
    const std::string kind = text_at(document, "kind");
    if (kind == "fit") return {findings_in_head(document, "cells"), {}};
    if (kind != "run") return {{"it holds a " + in_quotes(kind) + ", neither a run nor a fit"}, {}};
    return judge_run(document);
}

results_checker::verdict results_checker::judge_run(const json& document)
{
    try {
        const run_document run = run_from_json(document);
        verdict v{check_derivation(document, run), {}};
        for (const auto& more : {check_provenance(run), checking::findings_of_plan(run), checking::findings_of_numbering(run)})
            v.findings.insert(v.findings.end(), more.begin(), more.end());
        judge_cells(run, v);
        return v;
    } catch (const input_error& e) {
        return {{std::string("it is damaged: ") + e.what()}, {}};
    }
}

/// The cell's trace; null where it cannot be made again, or is of a file that is not what it was.
checking::recipe* results_checker::recipe_of(const cell& c, std::set<std::string>& missing, std::vector<std::string>& found)
{
    const auto& slot = shelf_.get(c);
    const std::string& spec = c.workload->recipe->header().spec;
    if (!slot.found) {
        if (checking::names_a_file(c)) missing.insert(spec);
        else found.push_back("cell " + printable(c.id) + ": its workload cannot be made again: " + slot.why_not);
        return nullptr;
    }
    const auto difference = first_difference(workload_json(*c.workload), workload_json(slot.found->workload()), "workload", "its spec");
    if (!difference) return slot.found.get();
    if (checking::names_a_file(c)) missing.insert(spec);
    else found.push_back("cell " + printable(c.id) + ": " + *difference);
    return nullptr;
}

void results_checker::judge_cells(const run_document& run, verdict& v)
{
    if (run.cells.empty()) v.findings.push_back("it holds no cells");
    std::set<std::string> missing;
    std::vector<std::pair<const cell*, checking::recipe*>> cells;
    for (const cell& c : run.cells) {
        const bool other = has_another_id(c);    // then it is not known what to make again
        if (other) v.findings.push_back("cell " + printable(c.id) + ": its id is not that of what it says was run (" + cell_id(c) + ")");
        cells.emplace_back(&c, other ? nullptr : recipe_of(c, missing, v.findings));
        if (cells.back().second) checking::want_positions(c, *cells.back().second);
    }
    for (const auto& [c, known] : cells)
        if (const auto why = broken_cell(run, *c, known)) v.findings.push_back("cell " + printable(c->id) + ": " + *why);
    if (!missing.empty())
        v.notes.push_back(std::to_string(missing.size()) + (missing.size() == 1 ? " trace is" : " traces are") +
                          " of a file that is not here as it was (" + printable(*missing.begin(), 80) +
                          "): what follows from it is not checked");
}

std::optional<std::string> finding_before_merge(const json& document, const run_document& run)
{
    for (const auto& found : {check_derivation(document, run), checking::findings_of_plan(run), checking::findings_of_numbering(run)})
        if (!found.empty()) return found.front();
    for (const cell& c : run.cells)
        if (const auto why = checking::broken_rule_of_one_run(run, c)) return "cell " + printable(c.id) + ": " + *why;
    return std::nullopt;
}

std::vector<std::string> findings_of_place(const json& document, const std::string& folder)
{
    std::set<std::string> simulated, cards;
    const auto measured_on = [&](const json& owner) {
        const json device = owner.is_object() ? owner.value("device", json::object()) : json::object();
        const bool on_sim = device.is_object() && device.contains("simulated") && device["simulated"] == true;
        (on_sim ? simulated : cards).insert(text_at(device, "name"));
    };
    const auto cells = document.is_object() ? document.find("cells") : document.end();
    if (cells != document.end() && cells->is_array())
        for (const json& c : *cells) measured_on(c);
    else if (document.is_object() && document.contains("device"))    // a probe's report is of one
        measured_on(document);
    if (simulated.empty() && cards.empty()) return {};    // said already
    if (folder == "simulated") {
        if (cards.empty()) return {};
        return {"it was measured on " + in_quotes(*cards.begin()) + " and lies in simulated/, which is for the simulator's results"};
    }
    if (!simulated.empty()) return {"it holds simulated results, which belong into simulated/"};
    for (const std::string& card : cards)
        if (folder.empty() || as_in_a_path(card).find(as_in_a_path(folder)) == std::string::npos)
            return {"it was measured on " + in_quotes(card) + ", which the folder " + in_quotes(folder) + " does not name"};
    return {};
}

}  // namespace vrambench
