#include "bench/check/cell_rules.hpp"

#include "bench/check/pass_rules.hpp"
#include "bench/clock_watch.hpp"
#include "bench/derive.hpp"
#include "bench/repetition_json.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>

namespace vrambench::checking {

namespace {

std::string fact_of_device(const run_document& run, const cell& c, const std::string& key)
{
    const auto& facts = environment_of(run, c);
    const auto found = std::find_if(facts.begin(), facts.end(), [&](const auto& f) { return f.key == "device." + c.on.spec + "." + key; });
    return found == facts.end() ? "" : found->text;
}

/// Names and settings that follow from the specs, and what the environment says of the same device.
void check_names(const run_document& run, const cell& c, expectations& e)
{
    e.same("device/kind", c.on.kind, c.on.spec.substr(0, c.on.spec.find(':')), "device/spec");
    constexpr const char* its_environment = "the environment";
    e.same("device/kind", c.on.kind, fact_of_device(run, c, "kind"), its_environment);
    e.same("device/name", c.on.name, fact_of_device(run, c, "name"), its_environment);
    e.same("device/simulated", std::string(c.on.simulated ? "yes" : "no"), fact_of_device(run, c, "simulated"), its_environment);
    e.same("device/confidence", c.on.confidence, fact_of_device(run, c, "pool_rules.confidence"), its_environment);
    try {
        const allocator_choice a = choose_allocator(c.allocator.spec);
        e.same("allocator/spec", c.allocator.spec, a.spec, "itself");
        e.same("allocator/name", c.allocator.name, a.name, "allocator/spec");
        e.same("allocator/title", c.allocator.title, a.title, "allocator/spec");
        auto stored = c.allocator.settings.values(), follow = a.settings.values();
        std::sort(stored.begin(), stored.end()), std::sort(follow.begin(), follow.end());
        e.holds(stored == follow, "allocator/config does not follow from allocator/spec");
    } catch (const input_error& why) {
        e.holds(false, std::string("allocator/spec: ") + why.what());
    }
}

/// Whether `ideal` was asked for as any other allocator; without a list of allocators it is.
bool may_have_asked_for_ideal(const std::vector<std::string>& command)
{
    const auto lists_some = [](const std::string& w) { return w.starts_with("--allocator"); };
    const auto names_it = [](const std::string& w) { return w.find("ideal") != std::string::npos; };
    return std::any_of(command.begin(), command.end(), names_it) || std::none_of(command.begin(), command.end(), lists_some);
}

void check_reference(const run_document& run, const cell& c, expectations& e)
{
    if (c.reference) return e.holds(may_be_reference(c), "reference is true, but only `ideal` without a limit can be one");
    if (may_be_reference(c) && run.environments.empty())    // else the commands are those of the parts
        e.holds(may_have_asked_for_ideal(run.command), "reference is false, but nobody asked for `ideal`");
}

void check_stopped(const cell& c, expectations& e)
{
    constexpr std::array words{"", "precision", "dominated", "repetitions", "budget", "interrupted"};
    e.holds(std::find(words.begin(), words.end(), c.stopped) != words.end(), "stopped is " + in_quotes(c.stopped) + ", which ends nothing");
}

/// Rounds are counted from 0 for each role; one that was disturbed is measured again under its number. Those of a merged
/// document are numbered on.
void check_indices(const run_document& run, const cell& c, expectations& e)
{
    std::map<role, std::set<std::uint64_t>> all, used;
    std::uint64_t last = 0;
    for (const repetition& r : c.repetitions) {
        const std::string which = std::string(to_string(r.what)) + " repetition " + std::to_string(r.index);
        all[r.what].insert(r.index);
        e.holds(r.disturbed || used[r.what].insert(r.index).second, which + " is there twice");
        e.holds(&r == c.repetitions.data() || r.order > last, which + " has an order that is not after the one before");
        last = r.order;
    }
    if (!run.environments.empty()) return;
    for (const auto& [what, indices] : all)
        e.holds(*indices.rbegin() + 1 == indices.size(), std::string(to_string(what)) + " repetitions are not numbered from 0");
}

bool is_measured(const pass_measurement& p) { return p.result.what != status::crashed && p.result.what != status::corrupted; }

/// All that the passes took of the driver is given back by them or by the allocator's destructor.
void check_balance(const cell& c, const repetition& r, const recipe* known, expectations& e)
{
    using enum driver_call;
    const pass_measurement& last = r.steady ? *r.steady : r.cold;
    const auto count = [&](driver_call k) {
        const auto i = static_cast<std::size_t>(k);
        return r.cold.calls[i] + (r.steady ? r.steady->calls[i] : 0);
    };
    const auto torn_down = [&](driver_call k) { return last.teardown_calls[static_cast<std::size_t>(k)]; };
    const auto equal = [&](driver_call down, std::uint64_t follows, const char* from) {
        e.same(std::string("teardown_calls/") + to_string(down), torn_down(down), follows, from);
    };
    if (c.allocator.name == "vmm")    // what looks for memory after a failure may be the first to reserve some
        for (const driver_call k : {unreserve, unmap}) {
            if (last.result.what == status::completed) equal(k, count(reserve), "its reservations");
            e.at_least(std::string("teardown_calls/") + to_string(k), torn_down(k), count(reserve), "its reservations");
            e.holds(torn_down(k) <= c.workload->summary.streams,
                    std::string("teardown_calls/") + to_string(k) + " is above one a stream");
        }
    if (c.allocator.name == "async") equal(pool_destroy, c.allocator.settings.is("pool", "own") ? 1 : 0, "its pool");
    // `ideal` took its memory before the clock started; blocks that a trace leaves are freed between the passes, uncounted.
    const bool is_counted = known && known->workload().summary.end_live_blocks == 0 && c.allocator.name != "ideal";
    if (!is_counted || last.result.what != status::completed) return;
    for (const auto& [up, down] : {std::pair{driver_call::malloc, driver_call::free}, {malloc_async, free_async}})
        e.same(std::string("teardown_calls/") + to_string(down), torn_down(down), count(up) - count(down), "its calls");
}

/// What a policy decides, as numbers that are the same in every process where nothing else decides.
std::vector<std::pair<const char*, std::uint64_t>> decisions_in(const pass_measurement& p)
{
    std::vector<std::pair<const char*, std::uint64_t>> all{
        {"events", p.events},         {"peak_reserved_bytes", p.peak_reserved_bytes}, {"end_reserved_bytes", p.end_reserved_bytes},
        {"oom/failures", p.failures}, {"oom/recoveries", p.recoveries},               {"oom/bytes_given_back", p.recovery.bytes_given_back},
        {"oom/evictions", p.evictions}, {"oom/evicted_bytes", p.evicted_bytes}};
    for (std::size_t k = 0; k < driver_call_kinds; ++k) all.emplace_back(to_string(static_cast<driver_call>(k)), p.calls[k]);
    for (const std::uint64_t b : p.cached_blocks) all.emplace_back("cached_blocks_bytes", b);
    for (const std::uint64_t b : p.idle_reserved_bytes) all.emplace_back("idle_reserved_bytes", b);
    if (p.activity.stated_kernels >= 0) all.emplace_back("stated_kernels", p.activity.stated_kernels);
    return all;
}

/// On a card a stream-ordered pool goes by what is done when, and after a refusal by what the driver has free then: one at the
/// end changes nothing before it.
bool decides_alone(const cell& c, const pass_measurement& p)
{
    if (p.result.what != status::completed && !ran_out_of_memory(p.result.what)) return false;
    const bool was_refused = p.recoveries != 0 || (p.failures != 0 && retry_of(c) != "none");
    return c.allocator.name != "async" && !was_refused;
}

/// A repetition without what tells it from others.
std::vector<nlohmann::json> measured_by(const repetition& r)
{
    auto entries = repetition_json(r);
    for (nlohmann::json& e : entries)
        for (const char* own : {"index", "order", "process", "role"}) e.erase(own);
    return entries;
}

/// The simulator answers the same every time.
void check_same_on_simulator(const cell& c, expectations& e)
{
    const repetition* first = nullptr;
    for (const repetition& r : c.repetitions) {
        if (r.disturbed) continue;
        if (!first) first = &r;
        else e.holds(measured_by(r) == measured_by(*first), "its repetitions differ, where those of a simulated device are all the same");
    }
}

/// Passes of one kind that came equally far made the same decisions.
void check_alike(const cell& c, expectations& e)
{
    std::map<std::pair<bool, std::uint64_t>, const pass_measurement*> first;    // by whether it is the steady pass, and its events
    for (const repetition& r : c.repetitions)
        for (const pass_measurement* p : {&r.cold, r.steady ? &*r.steady : nullptr}) {
            if (!p || r.disturbed || !decides_alone(c, *p)) continue;
            const auto [found, is_first] = first.emplace(std::pair{p != &r.cold, p->events}, p);
            if (is_first) continue;
            const auto one = decisions_in(*found->second), other = decisions_in(*p);
            e.holds(one.size() == other.size(), "its repetitions differ in what the policy keeps");
            for (std::size_t i = 0; i < one.size() && !e.broken(); ++i)
                e.same(std::string("in one repetition ") + one[i].first, other[i].second, one[i].second, "another one");
        }
}

void check_reference_measurement(const repetition& r, expectations& e)
{
    if (!r.reference || r.cold.result.what != status::completed) return;
    const auto& phases = r.reference->phases;
    e.same("the phases of reference", phases.size(), r.cold.phases.size(), "its cold pass");
    for (std::size_t i = 0; i < phases.size() && !e.broken(); ++i) {
        e.same("reference/phases/name", phases[i].name, r.cold.phases[i].name, "its cold pass");
        e.same("reference/phases/steps", phases[i].steps, r.cold.phases[i].steps, "its cold pass");
        e.same("reference/phases/tokens", phases[i].tokens, r.cold.phases[i].tokens, "its cold pass");
    }
    const device_activity& a = r.reference->activity;
    e.holds(a.busy_ps <= a.span_ps && a.empty_queue_ps <= a.span_ps, "its reference's device was busy for longer than it was watched");
}

std::optional<std::string> broken_rule(const cell& c, const repetition& r, recipe* known)
{
    const std::string which = std::string(to_string(r.what)) + " repetition " + std::to_string(r.index);
    for (const pass_measurement* p : {&r.cold, r.steady ? &*r.steady : nullptr})
        if (p)
            if (const auto why = broken_rule(judged_pass{c, r, *p, known})) return which + (p == &r.cold ? ", cold: " : ", steady: ") + *why;
    expectations e;
    if (is_measured(r.cold) && r.cold.events != 0 && (!r.steady || is_measured(*r.steady))) check_balance(c, r, known, e);
    check_reference_measurement(r, e);
    if (r.what == role::timed && r.before && r.after && clocks_disturbed(*r.before, *r.after))
        e.holds(false, "it is not marked as disturbed, but " + *clocks_disturbed(*r.before, *r.after));
    return e.broken() ? std::optional(which + ": " + *e.broken()) : std::nullopt;
}

/// A simulated device has as much free at the start of each pass under one limit.
bool starts_alike(const run_document& run)
{
    std::map<std::pair<std::string, std::optional<std::uint64_t>>, std::uint64_t> free;
    for (const cell& c : run.cells)
        for (const repetition& r : c.repetitions)
            for (const pass_measurement* p : {&r.cold, r.steady ? &*r.steady : nullptr}) {
                if (!p || !c.on.simulated || p->events == 0) continue;
                const auto known = free.emplace(std::pair{c.on.spec, c.vram_limit_bytes}, p->free_bytes_at_start).first;
                if (p->free_bytes_at_start != known->second) return false;
            }
    return true;
}

/// What follows --seed; 1 where nothing does.
std::uint64_t typed_seed(const std::vector<std::string>& command)
{
    const std::string option = "--seed";
    for (std::size_t i = 0; i < command.size(); ++i) {
        const bool joined = command[i].starts_with(option + "=");
        if (joined || (command[i] == option && i + 1 < command.size()))
            return parse_integer(joined ? command[i].substr(option.size() + 1) : command[i + 1], option, 0, UINT64_MAX);
    }
    return 1;
}

void check_seed(const run_document& run, expectations& e)
{
    try {
        e.same("seed", run.plan_seed, typed_seed(run.command), "its command");
    } catch (const input_error& why) {
        e.holds(false, std::string("its command: ") + why.what());
    }
}

/// A card's repetitions are a process each; those of a simulator are all of one. Process ids may come again on another day.
bool tells_processes(const run_document& run)
{
    const auto& w = run.command;
    const auto has = [&](const char* option) { return std::find(w.begin(), w.end(), option) != w.end(); };
    return run.environments.empty() && !has("--resume") && !has("--in-process");
}

}  // namespace

void want_positions(const cell& c, recipe& known)
{
    for (const repetition& r : c.repetitions)
        for (const pass_measurement* p : {&r.cold, r.steady ? &*r.steady : nullptr}) {
            if (!p) continue;
            known.want(p->events);
            for (const recovery_record& f : p->first_recoveries) known.want(f.event);
        }
}

std::optional<std::string> broken_rule(const run_document& run, const cell& c, recipe* known)
{
    expectations e;
    check_names(run, c, e);
    check_reference(run, c, e);
    check_stopped(c, e);
    check_indices(run, c, e);
    if (e.broken()) return e.broken();
    for (const repetition& r : c.repetitions)
        if (!r.disturbed)
            if (const auto why = broken_rule(c, r, known)) return why;
    c.on.simulated ? check_same_on_simulator(c, e) : check_alike(c, e);
    return e.broken();
}

std::optional<std::string> broken_rule_of_one_run(const run_document& run, const cell& c)
{
    expectations e;
    check_reference(run, c, e);
    check_indices(run, c, e);
    return e.broken();
}

std::vector<std::string> findings_of_plan(const run_document& run)
{
    if (!run.environments.empty()) return {};
    expectations e;
    check_seed(run, e);
    e.holds(starts_alike(run), "free_bytes_at_start differs between cells of one simulated device and limit");
    return e.broken() ? std::vector{*e.broken()} : std::vector<std::string>{};
}

/// A script may put the cells of several runs into one file, as scripts/async-patterns did, and each run numbers its own.
bool is_one_run(const run_document& run)
{
    return !run.command.empty() && std::filesystem::path(run.command.front()).filename().string().starts_with("vrambench");
}

std::vector<std::string> findings_of_numbering(const run_document& run)
{
    std::set<std::uint64_t> orders;
    std::map<std::int64_t, std::uint64_t> processes;
    std::uint64_t repetitions = 0;
    bool on_sim = true;
    for (const cell& c : run.cells)
        for (const repetition& r : c.repetitions) {
            orders.insert(r.order), ++processes[r.process], ++repetitions;
            on_sim = on_sim && c.on.simulated;
        }
    if (repetitions == 0) return {};
    std::vector<std::string> found;
    if (is_one_run(run) && (orders.size() != repetitions || *orders.rbegin() + 1 != repetitions))
        found.push_back("the orders of its " + std::to_string(repetitions) + " repetitions are not 0 to " + std::to_string(repetitions - 1));
    if (processes.begin()->first <= 0) found.push_back("a repetition was measured by no process");
    if (!tells_processes(run)) return found;
    if (on_sim && processes.size() > 1) found.push_back("its repetitions on the simulator are of several processes, where one measures all");
    if (!on_sim && processes.size() != repetitions) found.push_back("two of its repetitions are of one process, where each has its own");
    return found;
}

}  // namespace vrambench::checking
