#include "bench/measure.hpp"

#include "bench/derive.hpp"
#include "bench/environment.hpp"
#include "bench/remote.hpp"
#include "bench/result_file.hpp"
#include "bench/runner.hpp"
#include "bench/settled.hpp"
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

/// Seconds that one repetition is expected to take: its passes, and a start. On the simulator events count; on a card its
/// context, and the slower of the kernels and of the host that launches them. Progress corrects it.
double estimated_seconds(const cell& c, role what)
{
    const trace_summary& s = c.workload->summary;
    if (c.on.simulated) return 0.001 + 2 * static_cast<double>(s.events) / 4e6;
    const double passes = what == role::verify ? 1 : what == role::timed ? 3 : 2;    // timed: the reference's too
    const double kernels = static_cast<double>(s.stated_kernel_ns) * 1e-9, host = static_cast<double>(s.events) * 4e-6;
    const double warming = what == role::timed ? 0.05 + std::min(host, 0.25) : 0;
    return 0.8 + warming + passes * std::max(kernels, host);
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
        const double seconds = estimated_seconds(plan.document.cells[s.cell], s.what);
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

/// What a simulator says does not hang on the process: there the reference's own cell serves all others. Nothing is refused to
/// a reference on purpose.
bool wants_reference(const run_document& document, const cell& c, role what)
{
    return what == role::timed && !c.on.simulated && c.inject.empty() && reference_of(document, c) != nullptr;
}

repetition measure_one(const run_document& document, const cell& c, const scheduled& s, const measure_options& options)
{
    run_controls controls;
    controls.stop = options.stop;
    controls.timeout = std::chrono::milliseconds(options.timeout_ms);
    controls.cold_only = s.what == role::verify;    // the pass in which memory changes hands; twice says no more
    controls.reference = wants_reference(document, c, s.what);
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

/// The rates that the repetitions of a file were measured with: its environment has them. All repetitions of a cell follow
/// one roofline.
std::optional<card_rates> rates_in(const run_document& before, const device_choice& on)
{
    const std::string prefix = "device." + on.spec + ".";
    card_rates r;
    for (const environment_fact& f : before.environment) {
        if (f.key == prefix + "flops_per_second") r.flops_per_second = f.number;
        if (f.key == prefix + "bytes_per_second") r.bytes_per_second = f.number;
        if (f.key == prefix + "flops_source") r.flops_source = f.text;
        if (f.key == prefix + "bytes_source") r.bytes_source = f.text;
    }
    if (on.simulated || r.flops_per_second == 0 || r.bytes_per_second == 0) return std::nullopt;
    return r;
}

/// Measures one piece of work and writes the file. What something disturbed is kept, marked, and measured again at once, so
/// that it stays beside the others of its round: at most `most_reruns` times, and only while `time_is_left`.
class piece_of_work {
public:
    piece_of_work(run_document& document, const scheduled& s, const measure_options& options, result_writer* writer)
        : document_(document), cell_(document.cells[s.cell]), scheduled_(s), options_(options), writer_(writer)
    {
    }

    template <class TimeIsLeft> void run(bool is_last, std::uint64_t& order, progress& shown, TimeIsLeft time_is_left)
    {
        for (std::uint64_t reruns = 0;; ++reruns) {
            cell_.repetitions.push_back(measure_one(document_, cell_, scheduled_, options_));
            repetition& r = cell_.repetitions.back();
            r.order = order++;
            const bool again = r.disturbed && reruns < most_reruns && time_is_left();
            document_.finished = is_last && !again;
            if (writer_) writer_->write(document_);
            if (r.disturbed)
                shown.note(label(cell_) + ": disturbed, " + printable(*r.disturbed) + (again ? "; measured again" : "; not used"));
            if (!again) return;
        }
    }

private:
    static constexpr std::uint64_t most_reruns = 2;

    run_document& document_;
    cell& cell_;
    const scheduled& scheduled_;
    const measure_options& options_;
    result_writer* writer_;
};

/// What an allocator or a device cannot run at all, it cannot run the next time either.
bool cannot_run(const cell& c)
{
    return std::any_of(c.repetitions.begin(), c.repetitions.end(), [](const repetition& r) {
        return !r.disturbed && r.cold.result.what == status::unsupported;
    });
}

/// Cells that need no more repetitions, each asked before its next one and remembered.
class settled_cells {
public:
    settled_cells(const run_plan& plan) : plan_(plan), settled_(plan.document.cells.size(), false) {}

    bool contains(std::size_t cell)
    {
        if (plan_.stop && !settled_[cell]) settled_[cell] = settled(plan_.document, plan_.document.cells[cell], *plan_.stop).has_value();
        return settled_[cell];
    }

private:
    const run_plan& plan_;
    std::vector<bool> settled_;
};

std::string why_stopped(const run_plan& plan, const cell& c, ending how)
{
    if (const auto why = settled(plan.document, c, *plan.stop)) return *why;
    const measured_set there = measured(c);
    const auto timed = std::count_if(there.begin(), there.end(), [](const auto& r) { return r.first == role::timed; });
    if (static_cast<std::uint64_t>(timed) >= plan.repetitions) return "repetitions";
    return how == ending::interrupted ? "interrupted" : "budget";
}

void finish(run_document& document, result_writer* writer)
{
    document.finished = true;
    if (writer) writer->write(document);
}

/// As measure().
ending measure_missing(run_plan& plan, const measure_options& options, result_writer* writer, progress& shown)
{
    auto& document = plan.document;
    auto work = missing_work(plan);
    const std::size_t wanted = work.size();
    if (plan.budget_ms && !plan.stop) fit_budget(work, plan, shown);    // with a rule nobody knows how many it takes
    std::vector<double> estimates;
    for (const auto& s : work) estimates.push_back(estimated_seconds(document.cells[s.cell], s.what));
    shown.plan(estimates);

    settled_cells done(plan);
    std::uint64_t order = next_order(document);
    document.finished = wanted == 0;
    if (writer && wanted == 0) writer->write(document);
    const auto began = std::chrono::steady_clock::now();
    const auto time_is_left = [&] {
        return !plan.budget_ms || std::chrono::steady_clock::now() - began <= std::chrono::milliseconds(*plan.budget_ms);
    };
    for (std::size_t i = 0; i < work.size(); ++i) {
        if (options.stop && options.stop->load()) return ending::interrupted;
        if (cannot_run(document.cells[work[i].cell]) || (work[i].what == role::timed && done.contains(work[i].cell))) {
            if (i + 1 == wanted) finish(document, writer);
            continue;
        }
        if (i > 0 && !time_is_left()) {
            shown.note("budget used up: " + std::to_string(work.size() - i) + " repetitions were not run");
            return ending::out_of_budget;
        }
        shown.start(i, label(document.cells[work[i].cell]));
        try {
            piece_of_work(document, work[i], options, writer).run(i + 1 == wanted, order, shown, time_is_left);
        } catch (const run_interrupted&) {
            return ending::interrupted;
        }
    }
    return document.finished ? ending::finished : ending::out_of_budget;
}

/// The commits that made what a file holds, in their order, without the one that goes on with it.
std::string commits_before(const run_document& before)
{
    std::string earlier, last;
    for (const environment_fact& f : before.environment) {
        if (f.key == "earlier_commits") earlier = f.text;
        if (f.key == "commit") last = f.text;
    }
    if (last.empty() || last == program_commit || earlier.find(last) != std::string::npos) return earlier;
    return earlier.empty() ? last : earlier + ", " + last;
}

}  // namespace

std::uint64_t resume_from(const std::string& path, run_plan& plan)
{
    run_document before = read_result(path);
    plan.earlier_commits = commits_before(before);
    if (!before.environments.empty())
        throw input_error("--resume: " + in_quotes(path) + " is a merged file; go on with one of its parts");
    check_all_planned(before, plan.document, path);
    std::uint64_t taken = 0;
    for (auto& c : plan.document.cells) {
        c.on.rates = rates_in(before, c.on);
        for (auto& old : before.cells) {
            if (old.id != c.id) continue;
            check_same_traffic(old, c, path);
            taken += old.repetitions.size();
            std::move(old.repetitions.begin(), old.repetitions.end(), std::back_inserter(c.repetitions));
        }
    }
    return taken;
}

ending measure(run_plan& plan, const measure_options& options, progress& shown)
{
    std::optional<result_writer> writer;
    if (!options.out.empty()) writer.emplace(options.out);
    const ending how = measure_missing(plan, options, writer ? &*writer : nullptr, shown);
    if (!plan.stop) return how;
    for (cell& c : plan.document.cells) c.stopped = why_stopped(plan, c, how);
    if (writer) writer->write(plan.document);
    return how;
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
