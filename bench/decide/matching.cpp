#include "bench/decide/matching.hpp"

#include "allocators/registry.hpp"
#include "bench/derive.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace vrambench {

namespace {

bool is_of_several(const run_document& run) { return run.environments.size() > 1; }

/// What tells the machine of a cell from others in a merged document: its host and the names of its cards.
std::string machine_of(const run_document& run, const cell& c)
{
    std::string text;
    for (const environment_fact& f : environment_of(run, c))
        if (f.key == "host" || (f.key.starts_with("device.") && f.key.ends_with(".name"))) text += f.text + '|';
    return text;
}

/// Everything that cells to be compared have in common, the allocator and the machine aside.
std::string conditions(const cell& c)
{
    const trace_header& h = c.workload->recipe->header();
    std::string text = c.on.simulated ? c.on.spec : c.on.kind + ' ' + c.on.name;
    text += '|' + h.spec + '|' + std::to_string(h.seed) + '|';
    text += c.vram_limit_bytes ? std::to_string(*c.vram_limit_bytes) : "none";
    text += std::string("|") + to_string(c.mode) + '|' + to_string(c.kernels) + '|' + c.kernel_scale + '|' + to_string(c.verify);
    return text + '|' + std::to_string(c.resident_bytes) + '|' + c.neighbour + '|' + c.inject;
}

/// The canonical spec that `name` stands for; empty where this program knows no such allocator.
std::string canonical_spec(const std::string& name)
{
    try {
        return choose_allocator(name).spec;
    } catch (const input_error&) {
        return {};
    }
}

/// `ideal` is the line that others are held against, not one to choose.
bool is_a_choice(const cell& c) { return !c.reference && c.allocator.name != "ideal"; }

/// The run's allocators, each once, in its order.
std::vector<std::string> allocators_of(const run_document& run)
{
    std::vector<std::string> specs;
    for (const cell& c : run.cells)
        if (is_a_choice(c) && std::find(specs.begin(), specs.end(), c.allocator.spec) == specs.end()) specs.push_back(c.allocator.spec);
    return specs;
}

std::string spec_in(const run_document& run, const std::string& name)
{
    const std::string spec = canonical_spec(name);
    if (std::any_of(run.cells.begin(), run.cells.end(), [&](const cell& c) { return !c.reference && c.allocator.spec == spec; })) return spec;
    std::vector<std::string> known;
    for (const cell& c : run.cells) {
        if (c.reference) continue;
        if (is_named(c, name)) return c.allocator.spec;
        if (std::find(known.begin(), known.end(), c.allocator.name) == known.end()) known.push_back(c.allocator.name);
    }
    throw input_error("--allocators: the run has no " + in_quotes(name) + did_you_mean(name, known) + " (it has " + printable(joined(known), 200) + ")");
}

}  // namespace

bool is_named(const cell& c, const std::string& name)
{
    return c.allocator.name == name || c.allocator.title == name || c.allocator.spec == name || c.allocator.spec == canonical_spec(name);
}

bool same_measurements(const cell& a, const cell& b)
{
    std::map<std::pair<role, std::uint64_t>, const repetition*> known;
    for (const repetition& r : a.repetitions) known.emplace(std::pair(r.what, r.index), &r);
    std::size_t common = 0;
    for (const repetition& r : b.repetitions) {
        const auto twin = known.find({r.what, r.index});
        if (twin == known.end()) continue;
        const repetition& other = *twin->second;
        if (other.order != r.order || other.process != r.process || other.cold.time_ps != r.cold.time_ps) return false;
        ++common;
    }
    return common > 0 && common == std::min(a.repetitions.size(), b.repetitions.size());
}

matched_cells match_files(const run_document& base, const run_document& other)
{
    std::unordered_map<std::string, std::pair<const cell*, bool>> known;    // and whether it was met
    std::unordered_set<std::string> of_base;
    const bool by_machine = is_of_several(base) && is_of_several(other);
    const auto key = [&](const run_document& run, const cell& c) {
        return conditions(c) + '|' + c.allocator.spec + (by_machine ? '|' + machine_of(run, c) : "");
    };
    const auto refuse_twins = [&](const run_document& run, bool is_new) {
        if (is_new || !is_of_several(run)) return;
        throw input_error(by_machine ? "a merged file holds one host's cells twice (another commit, driver or card's settings): compare its parts"
                                     : "one file is merged of several machines, whose cells of one kind would be one against the other's: "
                                       "compare its parts");
    };
    for (const cell& c : other.cells)
        if (is_a_choice(c)) refuse_twins(other, known.emplace(key(other, c), std::pair(&c, false)).second);
    matched_cells m;
    for (const cell& c : base.cells) {
        if (!is_a_choice(c)) continue;
        refuse_twins(base, of_base.insert(key(base, c)).second);
        const auto twin = known.find(key(base, c));
        if (twin == known.end()) {
            ++m.only_in_base;
            continue;
        }
        twin->second.second = true;
        m.pairs.push_back({&c, twin->second.first});
    }
    for (const auto& [text, one] : known) m.only_in_other += !one.second;
    return m;
}

matched_cells match_allocators(const run_document& run, const std::vector<std::string>& names)
{
    std::vector<std::string> specs;
    for (const std::string& name : names) specs.push_back(spec_in(run, name));
    if (names.empty()) specs = allocators_of(run);
    if (specs.size() < 2)
        throw input_error("one run and one allocator: compare needs a second file, or two allocators in the file");

    std::map<std::string, std::vector<const cell*>> groups;    // by conditions, indexed as `specs`
    std::vector<std::string> order;
    for (const cell& c : run.cells) {
        const auto at = std::find(specs.begin(), specs.end(), c.allocator.spec);
        if (c.reference || at == specs.end()) continue;
        const std::string key = conditions(c) + (c.environment ? "|environment " + std::to_string(*c.environment) : "");
        auto& group = groups[key];
        if (group.empty()) {
            group.resize(specs.size());
            order.push_back(key);
        }
        const cell*& slot = group[static_cast<std::size_t>(at - specs.begin())];
        if (!slot) slot = &c;
    }
    matched_cells m;
    for (const std::string& key : order) {
        const auto& group = groups[key];
        for (std::size_t i = 1; i < group.size(); ++i) {
            if (group[0] && group[i]) m.pairs.push_back({group[0], group[i]});
            else if (group[0]) ++m.only_in_base;
            else if (group[i]) ++m.only_in_other;
        }
    }
    return m;
}

}  // namespace vrambench
