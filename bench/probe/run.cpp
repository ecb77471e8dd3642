#include "bench/probe/run.hpp"

#include "bench/atomic_file.hpp"
#include "bench/environment.hpp"
#include "bench/interrupt.hpp"
#include "bench/probe/report.hpp"
#include "bench/progress.hpp"
#include "bench/remote.hpp"
#include "spec/errors.hpp"

#include <algorithm>
#include <iostream>

#include <unistd.h>

namespace vrambench::probing {

namespace {

constexpr double process_seconds = 2;    // about what one takes on a card, for the progress line

std::vector<const probe_entry*> chosen_probes(const probe_request& r)
{
    std::vector<const probe_entry*> all;
    for (const auto& name : r.only) find_probe(name);
    for (const auto& p : probe_entries()) {
        const bool named = std::find(r.only.begin(), r.only.end(), p.name) != r.only.end();
        if (r.only.empty() ? p.in_quick || !r.quick : named) all.push_back(&p);
    }
    return all;
}

/// The simulator is the same in every process.
std::uint64_t processes_of(const probe_entry& p, const probe_request& r, bool simulated)
{
    if (r.processes) return *r.processes;
    if (simulated) return p.over_processes ? 2 : 1;
    return r.quick ? p.quick_processes : p.processes;
}

struct probing_run {
    const probe_request& request;
    device_choice on;
    probe_report report;
    std::vector<const probe_entry*> probes;

    void write() const
    {
        if (!request.out.empty()) replace_file(request.out, probe_text(report));
    }

    void ask(progress& shown, const std::atomic<bool>* stop)
    {
        std::vector<double> estimates;
        for (const auto* p : probes)
            estimates.insert(estimates.end(), processes_of(*p, request, on.simulated), on.simulated ? 0.3 : process_seconds);
        shown.plan(estimates);
        std::size_t piece = 0;
        for (const auto* p : probes) {
            std::vector<process_report> reports;
            report.probes.push_back({p->name, 0, {}});
            const std::uint64_t n = processes_of(*p, request, on.simulated);
            for (std::uint64_t i = 0; i < n; ++i) {
                shown.start(piece++, std::string(p->name) + ": " + p->what);
                reports.push_back(probe_in_child(on, *p, request.quick, request.timeout, stop));
                report.probes.back() = summarise(*p, reports);
                report.finished = p == probes.back() && i + 1 == n;
                write();
            }
        }
    }
};

}  // namespace

int run_probes(const probe_request& request, const command_line& line)
{
    probing_run run{request, answering_device(request.device), {}, chosen_probes(request)};
    if (!request.out.empty()) check_replaceable(request.out, "vrambench.probe");
    run.report.command = line.arguments;
    run.report.date = today();
    run.report.quick = request.quick;
    run.report.device = run.on.simulated ? open_device(run.on, {})->info() : ask_device(run.on);
    run.report.environment = host_environment();
    for (auto& f : device_environment(run.report.device)) run.report.environment.push_back(std::move(f));
    if (const auto stand_in = stand_in_program()) run.report.environment.push_back({"answered_by_stand_in", *stand_in});

    progress shown(std::cerr, is_terminal(STDERR_FILENO), terminal_width(STDERR_FILENO));
    const interrupt_guard interrupt;
    try {
        run.ask(shown, interrupt.flag());
    } catch (const run_interrupted&) {
        shown.note("interrupted: what was found is kept");
    }
    shown.finish();
    std::cout << probe_table(run.report);
    if (!request.out.empty()) std::cout << "\nreport: " << printable(request.out) << '\n';
    return run.report.finished ? 0 : 130;
}

failed_features quick_check(const device_choice& on)
{
    constexpr std::chrono::milliseconds patience{20'000};
    const auto defect = [&](const char* name, const char* what) {
        const std::string seen = first_defect(probe_in_child(on, find_probe(name), true, patience, nullptr).findings);
        return seen.empty() ? seen : std::string(what) + " fails its probe: " + seen + " (--force runs it)";
    };
    return {defect("pools", "the driver's pool"), defect("vmm", "virtual memory")};
}

}  // namespace vrambench::probing
