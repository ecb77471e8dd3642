#include "bench/measure.hpp"

#include "bench/remote.hpp"
#include "bench/result_file.hpp"
#include "bench/runner.hpp"
#include "spec/errors.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <set>

namespace vrambench {

namespace {

/// Roles and indices that a cell has and need not be measured again.
using measured_set = std::set<std::pair<role, std::uint64_t>>;

measured_set measured(const cell& c)
{
    measured_set all;
    for (const auto& r : c.repetitions)
        if (!r.disturbed) all.emplace(r.what, r.index);
    return all;
}

/// Seconds that one repetition is expected to take: both passes, and a start. On the simulator events count, on a card
/// its context, the kernels' stated times and some microseconds a call. Progress corrects it.
double estimated_seconds(const cell& c)
{
    const trace_summary& s = c.workload->summary;
    if (c.on.simulated) return 0.001 + 2.0 * static_cast<double>(s.events) / 4e6;
    return 1.0 + 2.0 * (static_cast<double>(s.stated_kernel_ns) * 1e-9 + static_cast<double>(s.events) * 10e-6);
}

std::string label(const cell& c) { return printable(c.allocator.title + " on " + c.workload->recipe->header().name); }

std::vector<scheduled> missing_work(const run_plan& plan)
{
    const auto& cells = plan.document.cells;
    std::vector<measured_set> there;
    for (const auto& c : cells) there.push_back(measured(c));
    auto work = schedule(cells.size(), plan.repetitions, plan.document.plan_seed, !cells.front().on.simulated);
    std::erase_if(work, [&](const scheduled& s) { return there[s.cell].contains({s.what, s.round}); });
    return work;
}

/// Drops the timed rounds for which there is no time. One always stays, and so do those that are not timed.
void fit_budget(std::vector<scheduled>& work, const run_plan& plan, progress& shown)
{
    double left = static_cast<double>(*plan.budget_ms) / 1000.0;
    std::map<std::uint64_t, double> rounds;    // seconds of each
    for (const auto& s : work) {
        const double seconds = estimated_seconds(plan.document.cells[s.cell]);
        if (s.what == role::timed) rounds[s.round] += seconds;
        else left -= seconds;
    }
    auto first_cut = rounds.begin();
    while (first_cut != rounds.end() && (first_cut == rounds.begin() || first_cut->second <= left)) {
        left -= first_cut->second;
        ++first_cut;
    }
    if (first_cut == rounds.end()) return;
    shown.note("budget: " + std::to_string(std::distance(rounds.begin(), first_cut)) + " of " + std::to_string(rounds.size()) +
               " repetitions fit");
    std::erase_if(work, [&](const scheduled& s) { return s.what == role::timed && s.round >= first_cut->first; });
}

std::uint64_t next_order(const run_document& document)
{
    std::uint64_t next = 0;
    for (const auto& c : document.cells)
        for (const auto& r : c.repetitions) next = std::max(next, r.order + 1);
    return next;
}

repetition measure_one(const cell& c, const scheduled& s, const measure_options& options)
{
    run_controls controls;
    controls.stop = options.stop;
    controls.timeout = std::chrono::milliseconds(options.timeout_ms);
    const bool in_child = !c.on.simulated && !options.in_process;
    repetition r = in_child ? run_in_child(c, s.what, controls) : run_repetition(c, controls, s.what);
    r.index = s.round;
    return r;
}

/// Cells that hold something which the plan does not ask for must not vanish when the file is written again.
void check_all_planned(const run_document& before, const run_document& planned, const std::string& path)
{
    for (const auto& old : before.cells) {
        const auto same = [&](const cell& c) { return c.id == old.id && c.on.name == old.on.name; };
        if (old.repetitions.empty() || std::any_of(planned.cells.begin(), planned.cells.end(), same)) continue;
        throw input_error("--resume: " + in_quotes(path) + " holds cells that this command does not measure (" +
                          label(old) + ", device " + in_quotes(old.on.name) + "): name another --out");
    }
}

/// The id names a trace file by its path: what it held then is known by its figures.
void check_same_traffic(const cell& before, const cell& now, const std::string& path)
{
    const trace_summary &a = before.workload->summary, &b = now.workload->summary;
    if (a.events != b.events || a.alloc_calls != b.alloc_calls || a.launches != b.launches || a.max_live_bytes != b.max_live_bytes)
        throw input_error(in_quotes(path) + " was measured with other contents of " + in_quotes(now.workload->recipe->header().spec) +
                          "; name another --out");
}

}  // namespace

std::uint64_t resume_from(const std::string& path, run_plan& plan)
{
    run_document before = read_result(path);
    check_all_planned(before, plan.document, path);
    std::uint64_t taken = 0;
    for (auto& c : plan.document.cells)
        for (auto& old : before.cells) {
            if (old.id != c.id) continue;
            check_same_traffic(old, c, path);
            taken += old.repetitions.size();
            std::move(old.repetitions.begin(), old.repetitions.end(), std::back_inserter(c.repetitions));
        }
    return taken;
}

ending measure(run_plan& plan, const measure_options& options, progress& shown)
{
    auto& document = plan.document;
    auto work = missing_work(plan);
    const std::size_t wanted = work.size();
    if (plan.budget_ms) fit_budget(work, plan, shown);
    std::vector<double> estimates;
    for (const auto& s : work) estimates.push_back(estimated_seconds(document.cells[s.cell]));
    shown.plan(estimates);

    std::optional<result_writer> writer;
    if (!options.out.empty()) writer.emplace(options.out);
    std::uint64_t order = next_order(document);
    document.finished = wanted == 0;
    if (writer && wanted == 0) writer->write(document);
    const auto began = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < work.size(); ++i) {
        if (options.stop && options.stop->load()) return ending::interrupted;
        const auto passed = std::chrono::steady_clock::now() - began;
        if (plan.budget_ms && i > 0 && passed > std::chrono::milliseconds(*plan.budget_ms)) {
            shown.note("budget used up: " + std::to_string(work.size() - i) + " repetitions were not run");
            return ending::out_of_budget;
        }
        cell& c = document.cells[work[i].cell];
        shown.start(i, label(c));
        try {
            c.repetitions.push_back(measure_one(c, work[i], options));
        } catch (const run_interrupted&) {
            return ending::interrupted;
        }
        c.repetitions.back().order = order++;
        document.finished = i + 1 == wanted;
        if (writer) writer->write(document);
    }
    return document.finished ? ending::finished : ending::out_of_budget;
}

int exit_code(const run_document& run)
{
    bool any_completed = false;
    for (const auto& c : run.cells) {
        if (c.reference) continue;
        for (const auto& r : c.repetitions) {
            if (r.disturbed) continue;
            for (const auto* pass : {&r.cold, r.steady ? &*r.steady : nullptr}) {
                if (!pass) continue;
                switch (pass->result.what) {
                case status::completed: any_completed = true; break;
                case status::oom:
                case status::starved:
                case status::unsupported: break;
                case status::corrupted:
                case status::timeout:
                case status::crashed: return 1;
                }
            }
        }
    }
    return any_completed ? 0 : 1;
}

}  // namespace vrambench
