#include "bench/results_check.hpp"

#include "bench/derive.hpp"
#include "bench/probe/report.hpp"
#include "bench/result_file.hpp"
#include "spec/errors.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

namespace vrambench {

using nlohmann::json;

namespace {

using findings = std::vector<std::string>;

std::string shortened(const json& j) { return printable(j.dump(-1, ' ', false, json::error_handler_t::replace), 60); }

/// Where two documents first differ, as "cells/3/metrics/slowdown/median is 2, ... 1"; none where they are equal.
std::optional<std::string> first_difference(const json& stored, const json& derived, const std::string& at)
{
    const std::string below = at.empty() ? "" : at + "/";
    if (stored.is_object() && derived.is_object()) {
        for (const auto& [key, value] : stored.items()) {
            const auto twin = derived.find(key);
            if (twin == derived.end()) return below + printable(key) + " is not part of the format, or does not follow";
            if (auto d = first_difference(value, *twin, below + printable(key))) return d;
        }
        for (const auto& [key, value] : derived.items())
            if (!stored.contains(key)) return below + printable(key) + " is missing: it would be " + shortened(value);
        return std::nullopt;
    }
    if (stored.is_array() && derived.is_array() && stored.size() == derived.size()) {
        for (std::size_t i = 0; i < stored.size(); ++i)
            if (auto d = first_difference(stored[i], derived[i], below + std::to_string(i))) return d;
        return std::nullopt;
    }
    if (stored == derived) return std::nullopt;
    return at + " is " + shortened(stored) + ", but " + shortened(derived) + " follows from its repetitions";
}

/// What the program would write from the raw truth of the file, against what the file says.
findings check_derivation(const json& stored, const run_document& run)
{
    findings found;
    const json derived = to_json(run);
    json head = stored, derived_head = derived;
    head.erase("cells"), derived_head.erase("cells");
    if (const auto d = first_difference(head, derived_head, "")) found.push_back(*d);
    for (std::size_t i = 0; i < run.cells.size(); ++i)
        if (const auto d = first_difference(stored.at("cells")[i], derived.at("cells")[i], ""))
            found.push_back("cell " + printable(run.cells[i].id) + ": " + *d);
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

/// Why nobody can build the program of that commit again; empty where anybody can.
std::string not_buildable(const std::string& commit)
{
    return commit == "unknown" || commit.ends_with("-dirty") ? "commit is " + in_quotes(commit) + ": nobody can build this program again" : "";
}

/// Enough to do it again: the command, the program's commit, the machine.
void check_environment(const std::vector<environment_fact>& facts, findings& found)
{
    for (const char* key : {"program", "version", "commit", "compiler", "host", "os", "kernel", "cpu", "timer"})
        if (text_of(facts, key).empty()) found.push_back(std::string("the environment does not say ") + key);
    if (const std::string why = not_buildable(text_of(facts, "commit")); !why.empty()) found.push_back(why);
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
    if (p.activity.busy_ps > p.activity.span_ps) return "its device was busy for longer than the pass lasted";
    // A limit is reached by taking whole physical blocks, so that a part of one may stay free beyond it.
    if (c.vram_limit_bytes && p.free_bytes_at_start >= *c.vram_limit_bytes + std::max<std::uint64_t>(1, physical_block))
        return "it began with " + std::to_string(p.free_bytes_at_start) + " free bytes, not with its limit of " +
               std::to_string(*c.vram_limit_bytes);
    return std::nullopt;
}

/// One finding a cell is enough to look at it.
std::optional<std::string> implausible(const cell& c, std::uint64_t physical_block)
{
    std::set<std::uint64_t> orders;
    for (const repetition& r : c.repetitions) {
        const std::string which = std::string(to_string(r.what)) + " repetition " + std::to_string(r.index);
        if (!orders.insert(r.order).second) return which + " has the order of another one";
        if (r.disturbed) continue;
        for (const pass_measurement* p : {&r.cold, r.steady ? &*r.steady : nullptr})
            if (p && p->result.what == status::completed)
                if (const auto why = impossible(c, *p, physical_block)) return which + (p == &r.cold ? ", cold: " : ", steady: ") + *why;
    }
    return std::nullopt;
}

findings check_cells(const run_document& run)
{
    findings found;
    if (run.cells.empty()) found.push_back("it holds no cells");
    for (const cell& c : run.cells) {
        const auto say = [&](const std::string& what) { found.push_back("cell " + printable(c.id) + ": " + what); };
        if (c.on.simulated != (c.on.kind == "sim"))
            say("device kind " + in_quotes(c.on.kind) + " and simulated contradict each other");
        // A profile file's content is part of the id, and not in the file.
        if (c.on.spec.find('@') == std::string::npos && cell_id(c) != c.id)
            say("its id is not that of what it says was run (" + cell_id(c) + ")");
        const std::uint64_t block = number_of(environment_of(run, c), "device." + c.on.spec + ".physical_block");
        if (const auto why = implausible(c, block)) say(*why);
    }
    return found;
}

std::string text_at(const json& j, const char* key)
{
    const auto found = j.is_object() ? j.find(key) : j.end();
    return found != j.end() && found->is_string() ? found->get<std::string>() : "";
}

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

std::vector<std::string> findings_in(const json& document)
{
    const std::string schema = text_at(document, "schema");
    if (schema.empty()) return {"it is not a vrambench result file"};
    if (schema == probing::report_schema) return findings_in_head(document, "probes");
    if (schema != result_schema) return {"it has version " + in_quotes(schema) + ", this program reads '" + result_schema + "'"};
    const std::string kind = text_at(document, "kind");
    if (kind == "fit") return findings_in_head(document, "cells");
    if (kind != "run") return {"it holds a " + in_quotes(kind) + ", neither a run nor a fit"};
    try {
        const run_document run = run_from_json(document);
        findings found = check_derivation(document, run);
        for (const auto& more : {check_provenance(run), check_cells(run)}) found.insert(found.end(), more.begin(), more.end());
        return found;
    } catch (const json::exception& e) {
        return {"it is damaged: " + printable(e.what())};
    } catch (const input_error& e) {
        return {std::string("it is damaged: ") + e.what()};
    }
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
