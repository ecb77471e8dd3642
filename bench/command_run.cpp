#include "bench/atomic_file.hpp"
#include "bench/benchmark_bridge.hpp"
#include "bench/commands.hpp"
#include "bench/environment.hpp"
#include "bench/measure.hpp"
#include "bench/remote.hpp"
#include "bench/result_file.hpp"
#include "bench/run_options.hpp"
#include "bench/table.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <csignal>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <unistd.h>

namespace vrambench {

namespace {

std::atomic<bool> interrupted{false};

extern "C" void on_interrupt(int)
{
    interrupted.store(true);
    std::signal(SIGINT, SIG_DFL);    // a second one ends the program at once
}

template <class T> T choose(const std::string& typed, const std::string& option, std::initializer_list<T> values)
{
    std::vector<std::string> names;
    for (const T v : values) {
        if (typed == to_string(v)) return v;
        names.emplace_back(to_string(v));
    }
    std::string list, near = nearest(typed, names);
    for (const auto& n : names) list += (list.empty() ? "" : ", ") + n;
    throw input_error(option + " " + in_quotes(typed) + ": one of " + list + (near.empty() ? "" : ", did you mean '" + near + "'?"));
}

std::vector<std::string> split_commas(const std::vector<std::string>& typed)
{
    std::vector<std::string> all;
    for (const auto& t : typed)
        for (std::size_t at = 0; at <= t.size();) {
            const std::size_t comma = std::min(t.find(',', at), t.size());
            all.push_back(t.substr(at, comma - at));
            at = comma + 1;
        }
    return all;
}

/// Words become values; what is wrong is told in one line.
run_request understand(const run_options& o, const benchmark_flags& flags)
{
    run_request r = o.request;
    r.mode = choose(o.mode, "--mode", {run_mode::eager, run_mode::graph});
    r.verify = choose(o.verify, "--verify", {verify_level::off, verify_level::sample, verify_level::full});
    for (const auto& k : split_commas(o.kernels)) r.kernels.push_back(choose(k, "--kernels", {kernel_model::hold, kernel_model::traffic}));
    r.kernel_scales = split_commas(r.kernel_scales);
    if (!o.repetitions.empty()) r.repetitions = parse_integer(o.repetitions, "--repetitions", 1, 100'000);
    r.seed = parse_integer(o.seed, "--seed", 0, UINT64_MAX);
    if (!o.timeout.empty()) r.timeout_ms = parse_duration_ms(o.timeout, "--timeout");
    if (!o.budget.empty()) r.budget_ms = parse_duration_ms(o.budget, "--budget");
    r.reference = !o.no_reference;
    if (o.quick && o.full) throw input_error("--quick and --full exclude each other");
    if ((o.quick || o.full) && !r.workloads.empty()) throw input_error("--quick and --full choose a default set; drop them or --workload");
    r.size = o.quick ? run_size::quick : o.full ? run_size::full : run_size::normal;
    r.filter = flags.filter;
    if (flags.repetitions) r.repetitions = flags.repetitions;
    return r;
}

std::string default_out(const run_plan& plan)
{
    std::time_t now = std::time(nullptr);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
    const auto& d = plan.document.cells.front().on;
    std::string name = d.name;
    for (auto& ch : name)
        if (ch == '/' || ch == '@' || ch == ' ') ch = '_';
    return "vrambench-" + d.kind + "-" + name + "-" + stamp + ".json";
}

void describe_environment(run_document& document)
{
    document.environment = host_environment();
    const auto& on = document.cells.front().on;
    const device_info info = on.simulated ? open_device(on, {})->info() : ask_device(on);
    for (auto& f : device_environment(info)) document.environment.push_back(std::move(f));
}

/// What is left to say after the table.
void print_closing(const run_document& document, const std::string& out, ending how)
{
    if (how == ending::interrupted) std::cerr << "interrupted: what was measured is kept\n";
    bool anything = false;
    for (const auto& c : document.cells) anything = anything || !c.repetitions.empty();
    if (anything) std::cout << "\nresults: " << out << "\n";
    for (const auto& c : document.cells)
        for (const auto& r : c.repetitions)
            for (const auto* pass : {&r.cold, r.steady ? &*r.steady : nullptr})
                if (pass && (pass->result.what == status::corrupted || pass->result.what == status::crashed)) {
                    std::cout << c.allocator.title << ": " << to_string(pass->result.what) << ": " << pass->result.message << "\n";
                    return;
                }
}

}  // namespace

int run(const run_options& o, const command_line& line)
{
    const benchmark_flags flags = check_benchmark_flags(line.benchmark_flags);
    const run_request request = understand(o, flags);
    run_plan plan = make_plan(request);
    if (flags.list_only) {
        for (const auto& c : plan.document.cells) std::cout << benchmark_name(c) << '\n';
        return 0;
    }
    plan.document.command = line.arguments;
    const std::string out = o.out.empty() ? default_out(plan) : o.out;
    check_writable(out);
    progress shown(std::cerr, is_terminal(STDERR_FILENO), terminal_width(STDERR_FILENO));
    if (o.resume) {
        if (o.out.empty()) throw input_error("--resume needs --out FILE.json, the file to go on with");
        if (std::filesystem::exists(out))
            shown.note("resuming: " + std::to_string(resume_from(out, plan)) + " repetitions taken from " + out);
    }
    describe_environment(plan.document);

    std::signal(SIGINT, on_interrupt);
    const std::uint64_t timeout = o.timeout.empty() && !plan.document.cells.front().on.simulated ? 300'000 : request.timeout_ms;
    const ending how = measure(plan, {out, timeout, o.in_process, &interrupted}, shown);
    std::signal(SIGINT, SIG_DFL);
    shown.finish();
    std::cout << comparison_table(plan.document, style_for(STDOUT_FILENO));
    print_closing(plan.document, out, how);
    if (how == ending::interrupted) return 130;
    if (!line.benchmark_flags.empty()) report_with_google_benchmark(plan.document, flags.passed_on);
    return exit_code(plan.document);
}

void add_run_options(CLI::App& app, run_options& o, bool with_workload)
{
    auto& r = o.request;
    app.add_option("--device", r.device, "auto, sim:PROFILE[,vram=SIZE][,block=SIZE], sim:@FILE.json, cuda:N, hip:N")->capture_default_str();
    app.add_option("--allocator", r.allocators, "allocators to compare, repeated or comma-separated (default: all six)")
        ->allow_extra_args(false);
    if (with_workload)
        app.add_option("--workload", r.workloads, "workloads, repeated or comma-separated (default: the default set)")
            ->allow_extra_args(false);
    app.add_option("--vram-limit", r.vram_limits, "bytes free at the start of the trace, or none; repeated or comma-separated")
        ->allow_extra_args(false);
    app.add_option("--mode", o.mode, "how graph events execute: eager, graph")->capture_default_str();
    app.add_option("--repetitions", o.repetitions, "timed runs of each cell (default: 9 on a card; 1 on sim, where all are the same)");
    app.add_option("--budget", o.budget, "time for the whole run, as 120s (default: 120s for the default set, none else)");
    app.add_option("--seed", o.seed, "of seeded workloads and of the order of repetitions")->capture_default_str();
    app.add_option("--verify", o.verify, "check what the allocator hands out: full, sample, off")->capture_default_str();
    app.add_option("--kernels", o.kernels, "hold: kernels last as stated; traffic: only as long as touching memory takes")
        ->allow_extra_args(false);
    app.add_option("--kernel-scale", r.kernel_scales, "multiplies kernel times, as 0.5,1,2")->allow_extra_args(false);
    app.add_flag("--no-reference", o.no_reference, "do not run `ideal`; drops added time and what depends on it");
    app.add_flag("--in-process", o.in_process, "repetitions run in this process, for debuggers (always so on sim)");
    app.add_option("--timeout", o.timeout, "of one repetition, as 60s (default: 300s on a card, none on sim)");
    app.add_flag("--resume", o.resume, "go on with the result file that --out names");
    app.add_option("--out", o.out, "result file (default: vrambench-DEVICE-DATE.json here)");
    app.add_flag("--quick", o.quick, "a smaller default set");
    app.add_flag("--full", o.full, "a larger default set");
}

void add_run(CLI::App& app, const command_line& line, command& chosen)
{
    auto* sub = app.add_subcommand("run", "measure allocators on workloads, print one table, write a result file");
    auto o = std::make_shared<run_options>();
    add_run_options(*sub, *o, true);
    sub->footer("Google Benchmark's --benchmark_filter, --benchmark_repetitions, --benchmark_out and --benchmark_format work too.\n\n"
                "Examples:\n"
                "  vrambench run\n"
                "  vrambench run --device sim:h200 --allocator legacy,legacy-retry --allocator async:retry=sync \\\n"
                "      --workload kv-pair:heads=8,head-dim=128,step=512,to=131072 --vram-limit 1GiB\n"
                "  vrambench run --workload random:events=1000000,order=shuffled,streams=4 --seed 7 --out run.json");
    sub->callback([o, &line, &chosen] { chosen = [o, &line] { return run(*o, line); }; });
}

}  // namespace vrambench
