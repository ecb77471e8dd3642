#include "bench/table_rows.hpp"

#include "bench/benchmark_bridge.hpp"
#include "bench/derive.hpp"
#include "bench/json_text.hpp"
#include "bench/table.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <cstdio>

namespace vrambench {

namespace {

/// Specs, titles and messages may hold what a terminal must not get.
std::string shown(const std::string& s) { return printable(json_text(s).get<std::string>()); }

/// Below this a duration says more about the timer than about the allocator: five times the timer's own cost.
double timer_floor_ns(const run_document& run, const cell& c)
{
    if (c.on.simulated) return 0;
    for (const environment_fact& f : environment_of(run, c))
        if (f.key == "timer_cost_ps" && f.is_number) return 5 * static_cast<double>(f.number) / 1000.0;
    return 0;
}

std::string duration(double ns, double floor_ns)
{
    return ns < floor_ns ? "< " + human_time(floor_ns) : human_time(ns);
}

std::string added(const pass_metrics& m)
{
    if (m.result && m.result->what != status::completed) return to_string(m.result->what);
    if (!m.numbers || !m.numbers->added_ns) return "-";
    return short_number(as_double(m.numbers->added_ns->median));
}

std::string bytes(const std::optional<estimate>& e)
{
    if (!e) return "-";
    if (const auto* whole = std::get_if<std::uint64_t>(&e->median)) return human_size(*whole);
    return human_size(static_cast<std::uint64_t>(std::get<double>(e->median)));   // the .5 of an even number of values
}

std::string times(const std::optional<estimate>& e)
{
    if (!e) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.2fx", as_double(e->median));
    return text;
}

std::array<std::string, value_columns> values_of(const cell_metrics& m, double floor_ns)
{
    const pass_numbers& n = *m.cold.numbers;
    const recovery_metrics& r = n.recovery;
    const bool allocates = n.any_alloc.count != 0;
    return {added(m.cold),
            m.steady ? added(*m.steady) : "-",
            bytes(n.peak_reserved_bytes),
            times(n.device_bloat),
            short_count(memory_calls(n.calls)),
            short_count(as_double(r.flushes)) + "/" + short_count(as_double(r.recoveries)),
            allocates ? duration(n.any_alloc.p99, floor_ns) : "-",
            allocates ? duration(n.any_alloc.max, floor_ns) : "-"};
}

/// Above this share the stated kernel times are no longer what ran: design of the kernels, docs/metrics.md.
constexpr double most_overruns = 0.01;

std::string share(double of_one)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.1f %%", of_one * 100);
    return text;
}

std::string outcome_words(const pass_metrics& m)
{
    if (!m.result) return "not measured";
    std::string words = in_words(*m.result);
    if (m.completed > 0 && m.completed < m.attempted)
        words += ", " + std::to_string(m.completed) + " of " + std::to_string(m.attempted) + " completed";
    if (m.numbers && m.numbers->overrun_share && as_double(m.numbers->overrun_share->median) > most_overruns)
        words += ", " + share(as_double(m.numbers->overrun_share->median)) + " overran";
    if (m.hazard_count != 0) words += ", " + std::to_string(m.hazard_count) + (m.hazard_count == 1 ? " hazard" : " hazards");
    return shown(words);
}

std::string added_of_kind(const std::optional<pass_metrics>& m, const std::string& kind)
{
    if (!m || !m->numbers) return "-";
    for (const kind_metrics& k : m->numbers->kinds)
        if (k.name == kind && k.added_ns) return short_number(as_double(k.added_ns->median));
    return "-";
}

/// "28.6, 352.0, 815.1": whole and tenths of MiB.
std::string floors_of(const pass_numbers& n)
{
    std::string out;
    for (const std::uint64_t bytes : n.idle_reserved_bytes) {
        char text[32];
        std::snprintf(text, sizeof text, "%.1f", static_cast<double>(bytes) / static_cast<double>(MiB));
        out += (out.empty() ? "" : ", ") + std::string(text);
    }
    return out;
}

table_row row_of(const run_document& run, const cell& c, std::vector<std::string>& kinds)
{
    const cell_metrics m = derive(c, reference_of(run, c));
    table_row row;
    row.title = shown(c.allocator.title.empty() ? c.allocator.spec : c.allocator.title);
    if (c.reference) row.title += " (reference)";
    row.outcome = outcome_words(m.cold);
    row.finished = m.cold.numbers.has_value();
    if (!row.finished) return row;
    row.values = values_of(m, timer_floor_ns(run, c));
    row.floors = floors_of(*m.cold.numbers);
    if (kinds.empty())
        for (const kind_metrics& k : m.cold.numbers->kinds) kinds.push_back(k.name);
    for (const std::string& k : kinds) row.by_kind.push_back(added_of_kind(m.cold, k) + " / " + added_of_kind(m.steady, k));
    return row;
}

/// Whether a name like "h200" does not say which device of the run is meant.
bool has_several_devices(const run_document& run)
{
    return std::any_of(run.cells.begin(), run.cells.end(), [&](const cell& c) { return c.on.spec != run.cells.front().on.spec; });
}

/// "637.5MiB" where exact_size has 652800KiB: the largest unit in which three decimals are exact. parse_size reads it back.
std::string limit_size(std::uint64_t bytes)
{
    for (const auto& [unit, name] : {std::pair{TiB, "TiB"}, {GiB, "GiB"}, {MiB, "MiB"}, {KiB, "KiB"}})
        if (bytes >= unit && bytes % (unit / 8) == 0)
            return exact_number(static_cast<double>(bytes) / static_cast<double>(unit)) + name;
    return std::to_string(bytes);
}

std::string limit_words(const cell& c) { return c.vram_limit_bytes ? "limit " + limit_size(*c.vram_limit_bytes) : "no limit"; }

/// What is chosen beside the workload, its limit and its seed.
std::vector<std::string> conditions_of(const cell& c)
{
    std::vector<std::string> words{std::string("kernels ") + to_string(c.kernels)};
    if (c.kernel_scale != "1") words.back() += " x" + c.kernel_scale;
    if (c.resident_bytes) words.push_back("resident " + limit_size(c.resident_bytes));
    if (!c.neighbour.empty()) words.push_back("neighbour " + c.neighbour);
    if (!c.inject.empty()) words.push_back("inject " + c.inject);
    if (c.mode != run_mode::eager) words.push_back(std::string("mode ") + to_string(c.mode));
    return words;
}

/// The keys of a canonical spec as typed, then limit and conditions.
std::vector<std::string> traits_of(const cell& c)
{
    const std::string spec = c.workload->recipe->header().spec, name = c.workload->recipe->header().name;
    std::vector<std::string> traits;
    for (std::size_t from = std::min(spec.size(), name.size() + 1); from < spec.size();) {
        const std::size_t end = std::min(spec.find(',', from), spec.size());
        traits.push_back(shown(spec.substr(from, end - from)));
        from = end + 1;
    }
    traits.push_back(limit_words(c));
    for (const std::string& words : conditions_of(c)) traits.push_back(shown(words));
    return traits;
}

/// Only what not every table of the workload has in common can tell it from the others.
void set_titles(std::vector<table_group>& groups, const std::vector<std::string>& names)
{
    if (groups.size() < 2) return;
    for (std::size_t i = 0; i < groups.size(); ++i) {
        std::string differing;
        for (const std::string& t : groups[i].traits) {
            bool common = true;
            for (std::size_t k = 0; k < groups.size(); ++k) {
                const auto& other = groups[k].traits;
                common = common && (names[k] != names[i] || std::find(other.begin(), other.end(), t) != other.end());
            }
            if (!common) differing += (differing.empty() ? ": " : ", ") + t;
        }
        groups[i].title = names[i] + differing;
    }
}

std::string facts_of(const run_document& run, const cell& c, bool per_token)
{
    const trace_summary& s = c.workload->summary;
    // A simulator's figures are never shown as a GPU's.
    std::string facts = (c.on.simulated ? "simulated " : c.on.kind + " ") + c.on.name;
    if (has_several_devices(run)) facts += " (" + c.on.spec + ")";
    facts += ", " + limit_words(c);
    if (per_token) facts += ", " + short_count(static_cast<double>(s.tokens)) + " tokens";
    facts += ", " + short_count(static_cast<double>(s.steps)) + " steps, max live " + human_size(s.max_live_bytes);
    for (const std::string& words : conditions_of(c)) facts += ", " + words;
    if (run.environments.size() > 1)    // a merged file's machines
        for (const environment_fact& f : environment_of(run, c))
            if (f.key == "host") facts += ", host " + f.text + " (environment " + std::to_string(*c.environment) + ")";
    return facts;
}

/// Cells that are compared with each other; references join every group of their conditions, unless nothing else is there.
std::vector<std::vector<const cell*>> grouped(const run_document& run)
{
    std::vector<std::vector<const cell*>> groups;
    const auto join = [&](const cell& c) {
        const auto fits = [&](const auto& g) { return are_compared(*g.front(), c); };
        const auto group = std::find_if(groups.begin(), groups.end(), fits);
        if (group != groups.end()) group->push_back(&c);
        else groups.push_back({&c});
    };
    for (const cell& c : run.cells)
        if (!c.reference) join(c);
    for (const cell& c : run.cells) {
        if (!c.reference) continue;
        bool joined = false;
        for (auto& group : groups)
            if (same_conditions(*group.front(), c)) {
                group.push_back(&c);
                joined = true;
            }
        if (!joined) groups.push_back({&c});
    }
    return groups;
}

}  // namespace

std::array<column_heading, value_columns> column_headings(bool per_token)
{
    return {{{"added", "cold"},
             {per_token ? "ns/token" : "ns/step", "steady"},
             {"peak", "reserved"},
             {"device", "bloat"},
             {"driver", "calls"},
             {"flushes/", "recov."},
             {"alloc", "p99"},
             {"alloc", "worst"}}};
}

std::vector<std::string> device_notes(const run_document& run, const std::string& filter)
{
    std::vector<std::string> notes;
    const name_filter wanted(filter.empty() ? "." : filter);
    for (const cell& c : run.cells) {
        if (!wanted.matches(benchmark_name(c)) || (c.on.times_known && c.on.confidence.empty())) continue;
        std::string note = shown(c.on.spec) + ":";
        if (!c.on.confidence.empty())
            note += " how its pool decides was read in source code, not measured, confidence " + shown(c.on.confidence) + " (docs/hip-pool.md);";
        if (!c.on.times_known) note += " what its calls cost is not known, so there are no times;";
        note.back() = '.';
        if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
    return notes;
}

std::vector<table_group> table_groups(const run_document& run, const std::string& filter)
{
    std::vector<table_group> groups;
    std::vector<std::string> names;
    const name_filter wanted(filter.empty() ? "." : filter);
    for (const auto& cells : grouped(run)) {
        const auto matches = [&](const cell* c) { return wanted.matches(benchmark_name(*c)); };
        if (std::none_of(cells.begin(), cells.end(), matches)) continue;
        table_group& g = groups.emplace_back();
        const cell& first = *cells.front();
        g.per_token = first.workload->summary.tokens > 0;
        g.workload = shown(first.workload->recipe->header().spec);
        g.traits = traits_of(first);
        names.push_back(shown(first.workload->recipe->header().name));
        g.facts = shown(facts_of(run, first, g.per_token));
        for (const cell* c : cells) g.rows.push_back(row_of(run, *c, g.kinds));
    }
    set_titles(groups, names);
    return groups;
}

}  // namespace vrambench
