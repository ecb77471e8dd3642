#include "bench/measure.hpp"

#include "bench/remote.hpp"
#include "bench/result_file.hpp"
#include "bench/runner.hpp"

#include <algorithm>
#include <chrono>

namespace vrambench {

namespace {

bool has_repetition(const cell& c, std::uint64_t index)
{
    return std::any_of(c.repetitions.begin(), c.repetitions.end(),
                       [&](const repetition& r) { return r.index == index && !r.disturbed; });
}

/// Seconds that one repetition is expected to take: both passes, and a start. On the simulator events count, on a card
/// its context, the kernels' stated times and some microseconds a call. Progress corrects it.
double estimated_seconds(const cell& c)
{
    const trace_summary& s = c.workload->summary;
    if (c.on.simulated) return 0.001 + 2.0 * static_cast<double>(s.events) / 4e6;
    return 1.0 + 2.0 * (static_cast<double>(s.stated_kernel_ns) * 1e-9 + static_cast<double>(s.events) * 10e-6);
}

std::string label(const cell& c) { return c.allocator.title + " on " + c.workload->recipe->header().name; }

/// What is still to be done, and how many rounds of it fit the budget.
std::vector<scheduled> remaining_work(const run_plan& plan, progress& shown)
{
    const auto& cells = plan.document.cells;
    double round_seconds = 0;
    for (const auto& c : cells) round_seconds += estimated_seconds(c);
    std::uint64_t rounds = plan.repetitions;
    if (plan.budget_ms) {
        const double fit = static_cast<double>(*plan.budget_ms) / 1000.0 / round_seconds;
        const double watched = cells.front().on.simulated ? 0.0 : 2.0;    // the rounds that are not timed
        const auto affordable = static_cast<std::uint64_t>(std::clamp(fit - watched, 1.0, 1e6));
        if (affordable < rounds) {
            shown.note("budget: " + std::to_string(affordable) + " of " + std::to_string(rounds) + " repetitions fit");
            rounds = affordable;
        }
    }
    auto work = schedule(cells.size(), rounds, plan.document.plan_seed, !cells.front().on.simulated);
    std::erase_if(work, [&](const scheduled& s) { return has_repetition(cells[s.cell], s.round); });
    return work;
}

}  // namespace

std::uint64_t resume_from(const std::string& path, run_plan& plan)
{
    const run_document before = read_result(path);
    std::uint64_t taken = 0;
    for (auto& c : plan.document.cells)
        for (const auto& old : before.cells) {
            if (old.id != c.id) continue;
            for (const auto& r : old.repetitions)
                if (r.what != role::timed || r.index < plan.repetitions) {
                    c.repetitions.push_back(r);
                    ++taken;
                }
        }
    return taken;
}

ending measure(run_plan& plan, const measure_options& options, progress& shown)
{
    auto& document = plan.document;
    const auto work = remaining_work(plan, shown);
    std::vector<double> estimates;
    for (const auto& s : work) estimates.push_back(estimated_seconds(document.cells[s.cell]));
    shown.plan(estimates);

    std::optional<result_writer> writer;
    if (!options.out.empty()) writer.emplace(options.out);
    std::uint64_t order = 0;
    for (const auto& c : document.cells)
        for (const auto& r : c.repetitions) order = std::max(order, r.order + 1);

    run_controls controls;
    controls.stop = options.stop;
    controls.timeout = std::chrono::milliseconds(options.timeout_ms);
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
            const bool in_child = !c.on.simulated && !options.in_process;
            repetition r = in_child ? run_in_child(c, work[i].what, controls) : run_repetition(c, controls, work[i].what);
            r.index = work[i].round;
            r.order = order++;
            c.repetitions.push_back(std::move(r));
        } catch (const run_interrupted&) {
            return ending::interrupted;
        }
        document.finished = i + 1 == work.size();
        if (writer) writer->write(document);
    }
    document.finished = true;
    if (writer && work.empty()) writer->write(document);
    return ending::finished;
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
