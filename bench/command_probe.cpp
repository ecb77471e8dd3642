#include "bench/atomic_file.hpp"
#include "bench/commands.hpp"
#include "bench/costs/cost_profile.hpp"
#include "bench/costs/cost_table.hpp"
#include "bench/environment.hpp"
#include "bench/interrupt.hpp"
#include "bench/probe/probe.hpp"
#include "bench/probe/run.hpp"
#include "bench/progress.hpp"
#include "bench/remote.hpp"
#include "bench/runner.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <chrono>
#include <iostream>

#include <unistd.h>

namespace vrambench {

namespace {

constexpr std::uint64_t child_seconds = 20;            // about what one process takes on a card, for the progress line
constexpr std::uint64_t default_timeout_ms = 300'000;
constexpr std::uint64_t probe_timeout_ms = 60'000;

/// As typed.
struct probe_options {
    std::string device = "auto", processes, timeout, out, name;
    std::vector<std::string> only;
    bool costs = false, quick = false;
};

std::uint64_t processes_of(const probe_options& o, bool simulated)
{
    if (!o.processes.empty()) return parse_integer(o.processes, "--processes", 1, 1000);
    return simulated ? 1 : o.quick ? 3 : 10;
}

std::uint64_t timeout_of(const probe_options& o)
{
    if (o.timeout.empty()) return o.costs ? default_timeout_ms : probe_timeout_ms;
    const std::uint64_t ms = parse_duration_ms(o.timeout, "--timeout");
    if (ms == 0) throw input_error("--timeout: " + in_quotes(o.timeout) + " is no time at all");
    return ms;
}

/// The processes of one calibration, one after another. The file is replaced after each, so that nothing measured is lost.
class calibration_run {
public:
    calibration_run(const probe_options& o, const command_line& line)
        : on_(answering_device(o.device)), quick_(o.quick), timeout_(timeout_of(o)), out_(o.out)
    {
        if (!on_.times_known)
            throw input_error("--costs: what calls cost on " + printable(on_.spec) + " is not known: there is nothing to measure (vrambench run "
                              "asks it for bytes and outcomes)");
        how_.command = line.arguments;
        how_.date = today();
        how_.name = o.name;
        how_.asked = processes_of(o, on_.simulated);
        how_.interrupted = true;    // until the last process has ended
    }

    void measure(progress& shown, const std::atomic<bool>* stop)
    {
        shown.plan(std::vector<double>(how_.asked, on_.simulated ? 0.5 : static_cast<double>(child_seconds)));
        for (std::uint64_t i = 0; i < how_.asked; ++i) {
            shown.start(i, "driver costs of " + on_.name);
            cost_answer a = measure_costs_in_child(on_, quick_, std::chrono::milliseconds(timeout_), stop);
            if (a.report) {
                reports_.push_back(std::move(*a.report));
            } else {
                how_.failures.push_back("process " + std::to_string(i + 1) + ": " + a.failure);
                shown.note(printable(how_.failures.back()));
            }
            how_.interrupted = i + 1 < how_.asked;
            write();
        }
    }

    /// Returns the exit code.
    int report(std::ostream& to) const
    {
        if (!reports_.empty()) {
            to << costs::cost_table(costs::summarise(reports_));
            if (!out_.empty()) to << "\nprofile: " << printable(out_) << " (--device sim:@" << printable(out_) << ")\n";
        }
        if (how_.interrupted) return 130;
        return reports_.empty() || !how_.failures.empty() ? 1 : 0;
    }

private:
    void write() const
    {
        if (!out_.empty() && !reports_.empty()) replace_file(out_, costs::profile_text(costs::summarise(reports_), how_));
    }

    device_choice on_;
    bool quick_;
    std::uint64_t timeout_;
    std::string out_;
    costs::calibration how_;
    std::vector<costs::cost_report> reports_;
};

int measure_costs(const probe_options& o, const command_line& line)
{
    calibration_run run(o, line);
    if (!o.out.empty()) check_replaceable(o.out, "vrambench.profile");
    progress shown(std::cerr, is_terminal(STDERR_FILENO), terminal_width(STDERR_FILENO));
    const interrupt_guard interrupt;
    try {
        run.measure(shown, interrupt.flag());
    } catch (const run_interrupted&) {
        shown.note("interrupted: the processes that had ended are kept");
    }
    shown.finish();
    return run.report(std::cout);
}

int ask(const probe_options& o, const command_line& line)
{
    if (!o.name.empty()) throw input_error("--name: names the profile of --costs; drop it or add --costs");
    probing::probe_request r;
    r.device = o.device;
    r.quick = o.quick;
    r.only = split_words(o.only);
    if (!o.processes.empty()) r.processes = parse_integer(o.processes, "--processes", 1, 1000);
    r.timeout = std::chrono::milliseconds(timeout_of(o));
    r.out = o.out;
    return probing::run_probes(r, line);
}

/// The costs are a probe among the others, with a result of their own.
int probe(probe_options o, const command_line& line)
{
    const std::vector<std::string> only = split_words(o.only);
    const bool costs_named = std::find(only.begin(), only.end(), "costs") != only.end();
    if (costs_named && only.size() > 1) throw input_error("--only costs writes a profile: name it alone");
    if (o.costs && !only.empty() && !costs_named) throw input_error("--costs and --only exclude each other");
    o.costs = o.costs || costs_named;
    return o.costs ? measure_costs(o, line) : ask(o, line);
}

std::string probes_text()
{
    std::string text = "Probes:\n";
    for (const auto& p : probing::probe_entries())
        text += "  " + std::string(p.name) + std::string(13 - std::string(p.name).size(), ' ') + p.what + (p.in_quick ? "" : " (not with --quick)") + "\n";
    return text + "  costs        as --costs: every call by size, and the simulator's profile of this card\n";
}

}  // namespace

void add_probe(CLI::App& app, const command_line& line, command& chosen)
{
    auto* sub = app.add_subcommand("probe", "ask what a driver really does, or what its calls cost");
    auto o = std::make_shared<probe_options>();
    sub->add_option("--device", o->device, "auto, cuda:N, hip:N, sim:PROFILE")->capture_default_str();
    sub->add_flag("--quick", o->quick, "under a minute: what decides between legacy, async and vmm; with --costs fewer sizes");
    sub->add_option("--only", o->only, "these probes alone, repeated or comma-separated")->allow_extra_args(false);
    sub->add_flag("--costs", o->costs, "what every call costs, by size: idle, growing, under load, refused; pools, launches, margins");
    sub->add_option("--processes", o->processes,
                    "child processes of each probe, each with a context of its own (default: 1 to 30, by probe; of --costs 10,\n"
                    "3 with --quick; 1 on sim)");
    sub->add_option("--out", o->out, "the report to write, which recommend reads too; with --costs the profile, for --device sim:@FILE.json (default: only the table)");
    sub->add_option("--name", o->name, "with --costs: of the profile (default: after the card)");
    sub->add_option("--timeout", o->timeout, "of one process, as 60s (default: 60s; of --costs 300s)");
    sub->footer(probes_text() +
                "\nEvery verdict is shown with its evidence, and bad ones do not change the exit code. Takes most of the card's memory for\n"
                "seconds at a time: run it on a card that nobody else uses. docs/probe.md and docs/calibration.md say what is asked and how.\n\n"
                "Exit codes: 0 all was asked, whatever the verdicts, or with --costs measured; 1 with --costs: a process failed; 2 bad usage\n"
                "or input, or no device; 130 interrupted, what was found is kept.\n\n"
                "Examples:\n"
                "  vrambench probe --quick\n"
                "  vrambench probe --device cuda:0 --out probe.json\n"
                "  vrambench probe --only vmm,release --processes 30\n"
                "  vrambench probe --costs --device cuda:0 --out mycard.json\n"
                "  vrambench run --device sim:@mycard.json");
    sub->callback([o, &line, &chosen] { chosen = [o, &line] { return probe(*o, line); }; });
}

}  // namespace vrambench
