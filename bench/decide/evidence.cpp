#include "bench/decide/evidence.hpp"

#include "bench/decide/references.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace vrambench::decide {

namespace {

std::string fact(const std::vector<environment_fact>& facts, const std::string& key)
{
    for (const environment_fact& f : facts)
        if (f.key == key) return f.is_number ? std::to_string(f.number) : f.text;
    return {};
}

/// The place of a platform like `p`, which is added where there is none.
std::size_t place_of(std::vector<platform>& platforms, const platform& p)
{
    const auto found = std::find_if(platforms.begin(), platforms.end(), [&](const platform& q) { return same_platform(p, q); });
    const auto place = static_cast<std::size_t>(found - platforms.begin());
    if (found == platforms.end()) platforms.push_back(p);
    return place;
}

void add_once(std::vector<std::string>& to, const std::string& line)
{
    if (std::find(to.begin(), to.end(), line) == to.end()) to.push_back(line);
}

bool same_but_for_driver(const platform& a, const platform& b)
{
    return a.kind == b.kind && a.card == b.card && a.driver_version == b.driver_version && a.real == b.real;
}

/// All that the files name, reports of probes among them.
std::vector<platform> named_in(const inputs& files)
{
    std::vector<platform> all;
    for (const run_file& f : files.runs)
        for (const cell& c : f.run.cells) place_of(all, platform_of(environment_of(f.run, c), c.on));
    for (const fit_file& f : files.fits)
        for (const fit_answer& a : f.answers) place_of(all, platform_of(f.environment, a.on));
    for (const probe_file& f : files.probes) place_of(all, platform_of(f.report));
    return all;
}

/// The place of the platform that a part of a file is of, which is added where there is none.
std::size_t place_for(std::vector<platform>& platforms, platform of, const std::vector<platform>& named, const std::string& path)
{
    const bool taken = take_driver(of, named);
    const std::size_t place = place_of(platforms, of);
    if (taken) add_once(platforms[place].notes, driver_taken(path, of));
    return place;
}

std::string key_of(const cell& c)
{
    std::string key = c.workload->recipe->header().spec +
                      "/limit:" + (c.vram_limit_bytes ? exact_size(*c.vram_limit_bytes) : "none");
    if (c.mode != run_mode::eager) key += std::string("/mode:") + to_string(c.mode);
    if (c.kernels != kernel_model::hold) key += std::string("/kernels:") + to_string(c.kernels);
    if (c.kernel_scale != "1") key += "/kernel_scale:" + c.kernel_scale;
    if (c.resident_bytes) key += "/resident:" + exact_size(c.resident_bytes);
    if (!c.neighbour.empty()) key += "/neighbour:" + c.neighbour;
    if (!c.inject.empty()) key += "/inject:" + c.inject;
    return key;
}

situation situation_of(const cell& c)
{
    situation s;
    const trace_header& header = c.workload->recipe->header();
    s.key = key_of(c);
    s.workload = header.spec;
    s.params = header.params;
    s.params.emplace_back("workload", header.name);
    s.params.emplace_back("limit", c.vram_limit_bytes ? exact_size(*c.vram_limit_bytes) : "none");
    s.limit_bytes = c.vram_limit_bytes;
    s.kernels = c.kernels == kernel_model::hold ? c.kernel_scale : to_string(c.kernels);
    s.max_live_bytes = c.workload->summary.max_live_bytes;
    s.alloc_calls = c.workload->summary.alloc_calls;
    return s;
}

std::size_t phase_index(situation& s, const phase_key& key)
{
    const auto found = std::find(s.phases.begin(), s.phases.end(), key);
    if (found != s.phases.end()) return static_cast<std::size_t>(found - s.phases.begin());
    s.phases.push_back(key);
    return s.phases.size() - 1;
}

void add_time(situation& s, evidence& e, const phase_key& key, const std::optional<estimate>& slowdown,
              const std::optional<estimate>& added, std::uint64_t round)
{
    if (!slowdown || !added) return;
    const std::size_t at = phase_index(s, key);
    if (e.times.size() <= at) e.times.resize(at + 1);
    e.times[at].push_back({as_double(slowdown->median), as_double(added->median), round});
}

/// The times of one process: the phases that have tokens, or the whole pass by its steps where none has.
void add_pass(situation& s, evidence& e, const pass_metrics& m, bool steady, std::uint64_t round)
{
    if (!m.numbers) return;
    if (!m.numbers->per_token)
        return add_time(s, e, {"step", steady, false}, m.numbers->slowdown, m.numbers->added_ns, round);
    for (const phase_metrics& p : m.numbers->phases)
        if (p.per_token) add_time(s, e, {p.name, steady, true}, p.slowdown, p.added_ns, round);
}

/// Mean of the recoveries of a pass.
double idle_of_recovery(const pass_metrics& m)
{
    if (!m.numbers) return 0;
    const recovery_metrics& r = m.numbers->recovery;
    const double count = as_double(r.recoveries);
    return count == 0 ? 0 : (r.idle_sync + r.idle_free + r.idle_allocate) / count;
}

/// The repetitions that no earlier file held. The simulator's are all alike.
std::vector<const repetition*> new_ones(evidence& e, const cell& c)
{
    std::vector<const repetition*> found;
    for (const repetition& r : c.repetitions)
        if (c.on.simulated || e.known.emplace(r.process, r.what, r.cold.time_ps, r.cold.free_bytes_at_start).second) found.push_back(&r);
    return found;
}

/// Derives every timed repetition by itself, so that pairing with the reference is derive()'s business.
void add_processes(situation& s, evidence& e, const cell& c, const std::vector<const repetition*>& from, const cell* reference,
                   std::uint64_t file)
{
    for (const repetition* r : from) {
        if (r->what != role::timed || r->disturbed) continue;
        const cell_metrics m = derive(c, {r}, reference);
        const std::uint64_t round = (file << 32) + r->index;
        add_pass(s, e, m.cold, false, round);
        if (m.steady) add_pass(s, e, *m.steady, true, round);
        e.idle_ns = std::max({e.idle_ns, idle_of_recovery(m.cold), m.steady ? idle_of_recovery(*m.steady) : 0});
        ++e.processes;
    }
}

void add_cold_numbers(evidence& e, const pass_numbers& n)
{
    const auto larger = [](std::optional<double>& to, const std::optional<estimate>& from) {
        if (from) to = std::max(to.value_or(0), as_double(from->median));
    };
    larger(e.bloat, n.device_bloat);
    const std::optional<estimate>& peak = n.peak_device_bytes ? n.peak_device_bytes : n.peak_reserved_bytes;
    if (peak) e.peak_bytes = std::max(e.peak_bytes, static_cast<std::uint64_t>(as_double(peak->median)));
    e.recoveries = std::max(e.recoveries, as_double(n.recovery.recoveries));
    e.memory_calls = std::max(e.memory_calls, memory_calls(n.calls));
    e.cold_calls = n.calls;
}

void note_failure(evidence& e, const pass_metrics& m, bool steady)
{
    if (!m.result || m.result->what == status::completed) return;
    if (e.failure && severity(e.failure->what) >= severity(m.result->what)) return;
    e.failure = m.result;
    e.steady_failure = steady;
}

bool was_verified(const cell& c)
{
    return std::any_of(c.repetitions.begin(), c.repetitions.end(), [&](const repetition& r) {
        const bool checked = c.on.simulated || (r.what == role::verify && c.verify == verify_level::full);
        return checked && !r.disturbed && r.cold.result.what == status::completed;
    });
}

void add_cell(situation& s, evidence& e, const cell& c, const cell* reference, std::uint64_t file)
{
    const auto counted_here = new_ones(e, c);
    const cell_metrics m = derive(c, counted_here, reference);
    if (!m.cold.result) return;
    if (std::find(e.cells.begin(), e.cells.end(), c.id) == e.cells.end()) e.cells.push_back(c.id);
    e.attempted += m.cold.attempted;
    e.cold_completed += m.cold.completed;
    note_failure(e, m.cold, false);
    if (m.steady) note_failure(e, *m.steady, true);
    e.hazards = std::max({e.hazards, m.cold.hazard_count, m.steady ? m.steady->hazard_count : 0});
    e.verified = e.verified || was_verified(c);
    if (m.cold.numbers) add_cold_numbers(e, *m.cold.numbers);
    if (m.steady && m.steady->numbers) {
        e.steady_calls = m.steady->numbers->calls;
        e.has_steady = true;
    }
    add_processes(s, e, c, counted_here, reference, file);
}

/// Passes, kinds within a pass and depths within a kind count the same.
void share_phases(situation& s)
{
    const auto count = [&](auto matches) {
        return static_cast<double>(std::count_if(s.phases.begin(), s.phases.end(), matches));
    };
    std::set<bool> passes;
    std::map<bool, std::set<std::string>> kinds;
    for (const phase_key& p : s.phases) {
        passes.insert(p.steady);
        kinds[p.steady].emplace(kind_of(p.phase));
    }
    for (phase_key& p : s.phases) {
        const double alike = count(
            [&](const phase_key& q) { return q.steady == p.steady && kind_of(q.phase) == kind_of(p.phase); });
        p.share = 1 / (static_cast<double>(passes.size()) * static_cast<double>(kinds[p.steady].size()) * alike);
    }
}

/// From 0 up, in the order of files and indices.
void number_rounds(situation& s)
{
    std::map<std::uint64_t, std::uint64_t> numbers;
    for (const evidence& e : s.by_allocator)
        for (const auto& values : e.times)
            for (const timed_value& v : values) numbers[v.round] = 0;
    for (auto& [round, number] : numbers) number = s.rounds++;
    for (evidence& e : s.by_allocator)
        for (auto& values : e.times)
            for (timed_value& v : values) v.round = numbers[v.round];
}

void finish(situation& s)
{
    share_phases(s);
    number_rounds(s);
    for (evidence& e : s.by_allocator) {
        e.times.resize(s.phases.size());
        for (auto& values : e.times)
            std::sort(values.begin(), values.end(),
                      [](const timed_value& a, const timed_value& b) { return a.slowdown < b.slowdown; });
    }
}

/// Collects cells into one platform.
class collector {
public:
    explicit collector(platform& p) : p_(p) {}

    void add(const run_file& from, std::uint64_t file, const cell& c, const cell* reference)
    {
        add_once(p_.files, from.path);
        if (c.allocator.name == "ideal") return;
        const auto [s, s_new] = situations_.try_emplace(key_of(c), p_.situations.size());
        if (s_new) p_.situations.push_back(situation_of(c));
        const auto [a, a_new] = allocators_.try_emplace(c.allocator.spec, p_.allocators.size());
        if (a_new) p_.allocators.push_back({c.allocator.name, c.allocator.title, c.allocator.spec, c.allocator.settings});
        situation& where = p_.situations[s->second];
        if (where.by_allocator.size() <= a->second) where.by_allocator.resize(a->second + 1);
        add_cell(where, where.by_allocator[a->second], c, reference, file);
    }

private:
    platform& p_;
    std::map<std::string, std::size_t> situations_, allocators_;
};

/// What should be the same in all files of a platform, and what was not measured to its end.
void note_differences(platform& p, const std::vector<run_file>& files)
{
    for (const run_file& f : files)
        if (!f.run.finished && std::find(p.files.begin(), p.files.end(), f.path) != p.files.end())
            p.notes.push_back(f.path + " is not finished: some of its repetitions were not run");
    for (const auto& [key, what] :
         {std::pair{"commit", "commits of the program"}, std::pair{"cpu", "host processors"}, std::pair{"os", "systems"}}) {
        std::set<std::string> values;
        for (const run_file& f : files)
            if (std::find(p.files.begin(), p.files.end(), f.path) != p.files.end())
                values.insert(fact(f.run.environment, key));
        if (values.size() < 2) continue;
        std::string list;
        for (const std::string& v : values) list += (list.empty() ? "" : ", ") + (v.empty() ? "unknown" : v);
        p.notes.push_back(std::string("its files come from different ") + what + ": " + list);
    }
}

}  // namespace

bool platform::timed() const
{
    return real && std::any_of(situations.begin(), situations.end(), [](const situation& s) { return !s.phases.empty(); });
}

std::vector<platform> gather(const inputs& files)
{
    const std::vector<platform> named = named_in(files);
    std::vector<platform> platforms;
    std::vector<std::size_t> places;    // of each cell's platform: all are made before one is filled, so that none moves
    for (const run_file& f : files.runs)
        for (const cell& c : f.run.cells)
            places.push_back(place_for(platforms, platform_of(environment_of(f.run, c), c.on), named, f.path));
    for (const fit_file& f : files.fits)
        for (const fit_answer& a : f.answers) {
            platform& p = platforms[place_for(platforms, platform_of(f.environment, a.on), named, f.path)];
            add_once(p.files, f.path);
            p.fits.push_back(a);
        }
    std::vector<collector> collectors;
    for (platform& p : platforms) collectors.emplace_back(p);
    auto place = places.begin();
    for (std::size_t i = 0; i < files.runs.size(); ++i) {
        const references known(files.runs[i].run);
        for (const cell& c : files.runs[i].run.cells) collectors[*place++].add(files.runs[i], i, c, known.of(c));
    }
    for (platform& p : platforms) {
        for (situation& s : p.situations) {
            s.by_allocator.resize(p.allocators.size());
            finish(s);
        }
        note_differences(p, files.runs);
    }
    return platforms;
}

platform platform_of(const std::vector<environment_fact>& facts, const device_choice& on)
{
    const std::string device = "device." + on.spec + ".";
    platform p;
    p.kind = on.kind;
    p.card = on.name;
    const std::string architecture = fact(facts, device + "architecture");
    if (!architecture.empty()) p.card += " (" + architecture + ")";
    p.driver = on.simulated ? on.spec : fact(facts, device + "driver");
    p.driver_version = fact(facts, device + "driver_version");
    p.real = !on.simulated && fact(facts, "answered_by_stand_in").empty();
    return p;
}

platform platform_of(const probing::probe_report& r)
{
    return platform_of(r.environment, {r.device.kind, r.device.name, r.device.spec, r.device.simulated, {}});
}

bool same_platform(const platform& a, const platform& b)
{
    return same_but_for_driver(a, b) && a.driver == b.driver;
}

bool take_driver(platform& p, const std::vector<platform>& others)
{
    if (!p.driver.empty()) return false;
    std::set<std::string> drivers;
    for (const platform& q : others)
        if (same_but_for_driver(p, q) && !q.driver.empty()) drivers.insert(q.driver);
    if (drivers.size() != 1) return false;
    p.driver = *drivers.begin();
    return true;
}

std::string driver_taken(const std::string& path, const platform& p)
{
    return path + " does not tell its driver: taken as " + p.driver + ", the only one here of its card and driver_version";
}

std::string platform_name(const platform& p)
{
    if (p.kind == "sim") return "simulated " + p.card + " (" + p.driver + ")";
    std::string driver = p.driver.empty() ? p.driver_version : p.driver;
    if (!p.driver.empty() && !p.driver_version.empty()) driver += " (" + p.driver_version + ")";
    return p.kind + " " + p.card + ", driver " + (driver.empty() ? "unknown" : driver) +
           (p.real ? "" : " (answered by a stand-in)");
}

std::string short_spec(const platform& p, std::size_t allocator)
{
    const candidate& a = p.allocators[allocator];
    const auto namesakes = std::count_if(p.allocators.begin(), p.allocators.end(),
                                         [&](const candidate& b) { return a.name == b.name; });
    return namesakes == 1 ? a.name : a.spec;
}

}  // namespace vrambench::decide
