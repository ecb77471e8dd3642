#include "bench/atomic_file.hpp"
#include "bench/benchmark_bridge.hpp"
#include "bench/commands.hpp"
#include "bench/environment.hpp"
#include "bench/interrupt.hpp"
#include "bench/measure.hpp"
#include "bench/remote.hpp"
#include "bench/result_file.hpp"
#include "bench/run_options.hpp"
#include "bench/table.hpp"
#include "bench/vram_limit.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <set>

#include <unistd.h>

namespace vrambench {

namespace {

template <class T> T choose(const std::string& typed, const std::string& option, std::initializer_list<T> values)
{
    std::vector<std::string> names;
    for (const T v : values) {
        if (typed == to_string(v)) return v;
        names.emplace_back(to_string(v));
    }
    throw input_error(option + " " + in_quotes(typed) + ": one of " + joined(names) + did_you_mean(typed, names));
}

/// Zero reads as "none" to one and as "nothing at all" to another, so it is neither.
std::uint64_t some_time(const std::string& typed, const std::string& option)
{
    const std::uint64_t ms = parse_duration_ms(typed, option);
    if (ms == 0) throw input_error(option + ": " + in_quotes(typed) + " is no time at all (leave it out for no limit)");
    return ms;
}

/// "0.5%" as 0.005.
double share_of(const std::string& typed, const std::string& option)
{
    if (!typed.ends_with('%')) throw input_error(option + " " + in_quotes(typed) + ": a percentage, as 0.5%");
    const double share = parse_number(typed.substr(0, typed.size() - 1), option, 0, 100) / 100;
    if (share <= 0) throw input_error(option + " " + in_quotes(typed) + " must be above 0");
    return share;
}

/// None where there is only one: that is an ordinary run.
std::optional<launcher_rank> wanted_rank(bool by_rank)
{
    if (!by_rank) return std::nullopt;
    const auto rank = find_rank();
    if (!rank) throw input_error("--by-rank: no launcher says which rank this is (mpirun, srun; docs/fleet.md has the variables)");
    return rank->ranks > 1 ? rank : std::nullopt;
}

void check_combinations(const run_options& o, const run_request& r)
{
    if (o.quick && o.full) throw input_error("--quick and --full exclude each other");
    if ((o.quick || o.full) && !r.workloads.empty()) throw input_error("--quick and --full choose a default set; drop them or --workload");
    if (!o.precision.empty() && o.no_reference)
        throw input_error("--precision is about the time beyond `ideal`; drop --no-reference");
    if (o.drop_losers && o.precision.empty())
        throw input_error("--drop-losers goes with --precision, which says when the others are done");
    if (o.resume && o.out.empty()) throw input_error("--resume needs --out FILE.json, the file to go on with");
}

/// A device may call itself anything; a file's name may not.
std::string file_name_part(std::string text)
{
    for (char& c : text)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.') c = '_';
    return text;
}

/// Measures with SIGINT held for us, so that what was measured is kept.
ending measure_until_interrupted(run_plan& plan, const run_options& o, const run_request& request, const std::string& out, progress& shown)
{
    const interrupt_guard interrupt;
    const ending how = measure(plan, {out, timeout_of(request, plan.document.cells.front().on), o.in_process, interrupt.flag()}, shown);
    shown.finish();
    return how;
}

/// The first pass that should not have ended as it did.
void print_first_fault(std::ostream& to, const run_document& document)
{
    for (const auto& c : document.cells)
        for (const auto& r : c.repetitions)
            for (const auto* pass : {&r.cold, r.steady ? &*r.steady : nullptr}) {
                if (!pass || (pass->result.what != status::corrupted && pass->result.what != status::crashed)) continue;
                to << printable(c.allocator.title + ": " + to_string(pass->result.what) + ": " + pass->result.message) << '\n';
                return;
            }
}

bool was_measured(const run_document& document)
{
    return std::any_of(document.cells.begin(), document.cells.end(), [](const cell& c) { return !c.repetitions.empty(); });
}

void print_results(std::ostream& to, const run_document& document, const std::string& table, const std::string& out)
{
    to << table;
    if (was_measured(document)) to << "\nresults: " << printable(out) << '\n';
    print_first_fault(to, document);
}

int list_cells(const run_document& document)
{
    for (const auto& c : document.cells) std::cout << printable(benchmark_name(c)) << '\n';
    return 0;
}

}  // namespace

/// `--resident model` is what the workloads of an engine can say of themselves, and all of the default set are such.
void take_models_along(run_request& r)
{
    if (r.resident != "model") return;
    r.models_resident = r.workloads.empty();
    for (auto& w : r.workloads) {
        const entry& e = find_entry(workload_entries(), parse_spec(w).name, "workload");
        if (std::none_of(e.keys.begin(), e.keys.end(), [](const key_info& k) { return k.name == "weights"; }))
            throw input_error("--resident model: workload " + in_quotes(e.name) + " has no model; write a size");
        w = with_key(w, "weights", "on");
    }
    r.resident.clear();
}

run_request understand(const run_options& o, const benchmark_flags& flags)
{
    run_request r = o.request;
    r.allocators = split_specs(r.allocators);
    r.workloads = o.trace_file.empty() ? split_specs(r.workloads) : std::vector<std::string>{"file:" + o.trace_file};
    take_models_along(r);
    for (const auto& typed : r.vram_limits) refuse_decimal_comma(typed);
    r.vram_limits = split_words(r.vram_limits);
    r.kernel_scales = split_words(r.kernel_scales);
    r.injections = split_words(r.injections);
    check_combinations(o, r);
    r.mode = choose(o.mode, "--mode", {run_mode::eager, run_mode::graph});
    r.verify = choose(o.verify, "--verify", {verify_level::off, verify_level::sample, verify_level::full});
    for (const auto& k : split_words(o.kernels)) r.kernels.push_back(choose(k, "--kernels", {kernel_model::hold, kernel_model::traffic}));
    if (!o.repetitions.empty()) r.repetitions = parse_integer(o.repetitions, "--repetitions", 1, 100'000);
    if (flags.repetitions) r.repetitions = flags.repetitions;
    r.seed = parse_integer(o.seed, "--seed", 0, UINT64_MAX);
    if (!o.timeout.empty()) r.timeout_ms = some_time(o.timeout, "--timeout");
    if (!o.budget.empty()) r.budget_ms = some_time(o.budget, "--budget");
    if (!o.precision.empty()) r.stop = stop_rule{share_of(o.precision, "--precision"), o.drop_losers};
    r.rank = wanted_rank(o.by_rank);
    r.reference = !o.no_reference;
    r.size = o.quick ? run_size::quick : o.full ? run_size::full : run_size::normal;
    r.filter = flags.filter;
    return r;
}

std::uint64_t timeout_of(const run_request& request, const device_choice& on)
{
    constexpr std::uint64_t on_a_card = 300'000;
    return request.timeout_ms == 0 && !on.simulated ? on_a_card : request.timeout_ms;
}

std::string default_out(const run_document& document)
{
    const std::time_t now = std::time(nullptr);
    char stamp[32];
    std::strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", std::localtime(&now));
    const auto& on = document.cells.front().on;
    const std::string name = "vrambench-" + on.kind + "-" + file_name_part(on.name) + "-" + stamp;
    std::string out = name + ".json";
    for (int n = 2; std::filesystem::exists(out); ++n) out = name + "-" + std::to_string(n) + ".json";    // a run may take less than a second
    return out;
}

/// What the workloads have to say of themselves, each once.
void print_notes(progress& shown, const run_document& document)
{
    std::set<std::string> seen;
    for (const cell& c : document.cells)
        for (const auto& note : c.workload->recipe->header().notes)
            if (seen.insert(note).second) shown.note("note: " + note);
}

/// Repetitions of a file that is gone on with keep the rates that they were measured with.
void describe_environment(run_document& document, device_info device)
{
    document.environment = host_environment();
    if (const auto stand_in = stand_in_program())    // such figures are no GPU's, and the file must say so
        document.environment.push_back({"answered_by_stand_in", *stand_in});
    if (const auto& rates = document.cells.front().on.rates) use_rates(device, *rates);
    for (auto& f : device_environment(device)) document.environment.push_back(std::move(f));
}

/// Beside the device's facts, so that a merged file still says who measured what.
void describe_rank(run_document& document, const launcher_rank& r)
{
    document.environment.push_back({"launcher", r.launcher});
    document.environment.push_back({"rank", "", r.rank, true});
    document.environment.push_back({"ranks", "", r.ranks, true});
    document.environment.push_back({"local_rank", "", r.local_rank, true});
}

std::string out_of(const run_options& o, const run_request& request, const run_document& document)
{
    const std::string out = o.out.empty() ? default_out(document) : o.out;
    return request.rank ? ranked_name(out, request.rank->rank) : out;
}

/// Google Benchmark's own file is a rank's own as well.
void name_by_rank(benchmark_flags& flags, const launcher_rank& r)
{
    const std::string out = "--benchmark_out=";
    for (auto& f : flags.passed_on) {
        if (!f.starts_with(out)) continue;
        const std::string name = ranked_name(f.substr(out.size()), r.rank);
        check_writable(name);
        f = out + name;
    }
}

int run(const run_options& o, const command_line& line, const table_maker& table)
{
    benchmark_flags flags = check_benchmark_flags(line.benchmark_flags);
    const run_request request = understand(o, flags);
    if (request.rank) name_by_rank(flags, *request.rank);
    run_plan plan = make_plan(request);
    run_document& document = plan.document;
    if (document.cells.empty()) {    // a launcher would end the others if this one failed
        std::cerr << "rank " << request.rank->rank << ": nothing to measure, the others have all of it\n";
        return 0;
    }
    if (flags.list_only) return list_cells(document);

    document.command = line.arguments;
    const std::string out = out_of(o, request, document);
    check_replaceable(out, "vrambench.result");
    progress shown(std::cerr, is_terminal(STDERR_FILENO), terminal_width(STDERR_FILENO));
    print_notes(shown, document);
    if (o.resume && std::filesystem::exists(out))
        shown.note("resuming: " + std::to_string(resume_from(out, plan)) + " repetitions taken from " + printable(out));
    describe_environment(document, plan.device);
    if (!plan.earlier_commits.empty()) {
        document.environment.push_back({"earlier_commits", plan.earlier_commits});
        shown.note("repetitions of an earlier commit of the program stay beside those of this one: " + printable(plan.earlier_commits));
    }
    if (request.rank) describe_rank(document, *request.rank);

    const ending how = measure_until_interrupted(plan, o, request, out, shown);
    if (how == ending::interrupted)
        std::cerr << (was_measured(document) ? "interrupted: what was measured is kept\n" : "interrupted before anything was measured\n");
    // Where the library writes JSON or CSV, standard output is for a program to read.
    const bool ours = !flags.writes_data;
    print_results(ours ? std::cout : std::cerr, document, table(document, style_for(ours ? STDOUT_FILENO : STDERR_FILENO)), out);
    if (how == ending::interrupted) return 130;
    if (!line.benchmark_flags.empty()) report_with_google_benchmark(document, flags.passed_on);
    return exit_code(document);
}

void add_run_options(CLI::App& app, run_options& o, bool with_workload)
{
    auto& r = o.request;
    app.add_option("--device", r.device, "auto, sim:PROFILE[,vram=SIZE][,block=SIZE][,pool=RULES][,marker=early|late] (such as sim:rx-7800-xt,pool=rocm-6.3), "
                               "sim:@FILE.json, cuda:N, hip:N")->capture_default_str();
    app.add_option("--allocator", r.allocators, "allocators to compare, repeated or comma-separated (default: all six)")
        ->allow_extra_args(false);
    if (with_workload)
        app.add_option("--workload", r.workloads, "workloads, repeated or comma-separated (default: the default set)")
            ->allow_extra_args(false);
    app.add_option("--vram-limit", r.vram_limits,
                   "memory that is free at the start of the trace: a size, none, 1.25x (times max live, beside what the trace\n"
                   "takes outside the allocator), or 80% (of it max live takes that much); repeated or comma-separated")
        ->allow_extra_args(false);
    app.add_option("--resident", r.resident, "memory taken outside the allocator before the trace and kept: a size, or model: its weights and KV cache");
    app.add_option("--neighbour", r.neighbour,
                   "SIZE@step:FROM[..TO]: another application takes memory when step FROM begins and gives it back when TO does\n"
                   "(a process of its own on a card)");
    app.add_option("--inject", r.injections,
                   "calls that answer out of memory with memory to spare: oom@N, oom@every:N or oom@p:SHARE (drawn from --seed),\n"
                   "counting malloc, malloc_async and create together, or one kind as create:oom@N; each makes cells of its own")
        ->allow_extra_args(false);
    app.add_option("--mode", o.mode, "how graph events execute: eager, graph")->capture_default_str();
    app.add_option("--repetitions", o.repetitions, "timed runs of each cell (default: 9 on a card; 1 on sim, where all are the same)");
    app.add_option("--precision", o.precision,
                   "repeat each cell until the 95 % interval of its added time is within this much of ideal's time, as 0.5%, or until\n"
                   "--repetitions (default then: 100) or --budget ends it; the file says which");
    app.add_flag("--drop-losers", o.drop_losers,
                 "with --precision: stop allocators that another one beats in every primary metric beyond doubt");
    app.add_flag("--by-rank", o.by_rank,
                 "under mpirun or srun: measure only this rank's share, on the card of its local rank, into NAME.rankN.json (that of\n"
                 "--benchmark_out too; docs/fleet.md)");
    app.add_option("--budget", o.budget, "time for the whole run, as 120s (default: of the default set 300s on a card, 120s on sim; none else)");
    app.add_option("--seed", o.seed, "of seeded workloads and of the order of repetitions")->capture_default_str();
    app.add_option("--verify", o.verify, "check what the allocator hands out: full, sample, off")->capture_default_str();
    app.add_option("--kernels", o.kernels, "hold: kernels last as stated; traffic: only as long as touching memory takes")
        ->allow_extra_args(false);
    app.add_option("--kernel-scale", r.kernel_scales, "multiplies kernel times, as 0.5,1,2")->allow_extra_args(false);
    app.add_flag("--no-reference", o.no_reference, "do not run `ideal`; drops added time and what depends on it");
    app.add_flag("--force", r.force, "run async or vmm even where the driver's pools or virtual memory fail their probe (see probe)");
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
    sub->footer("Google Benchmark's --benchmark_filter, --benchmark_repetitions, --benchmark_out and --benchmark_format work too.\n\n" +
                std::string(run_exit_codes) +
                "Examples:\n"
                "  vrambench run\n"
                "  vrambench run --device sim:h200 --allocator legacy,legacy-retry --allocator async:retry=sync \\\n"
                "      --workload kv-pair:heads=8,head-dim=128,step=512,to=131072 --vram-limit 1GiB\n"
                "  vrambench run --allocator legacy-retry,vmm --vram-limit 1x,1.25x,2x\n"
                "  vrambench run --device sim:h200 --allocator legacy,legacy-retry,vmm --inject none,oom@40,oom@every:25 \\\n"
                "      --workload kv-pair:heads=8,head-dim=128,step=512,to=32768\n"
                "  vrambench run --device sim:h200 --allocator legacy-retry,async,vmm --vram-limit 1.5x --neighbour 32MiB@step:20..40 \\\n"
                "      --workload kv-pair:heads=8,head-dim=128,step=512,to=32768\n"
                "  vrambench run --precision 0.5% --budget 20min\n"
                "  srun --ntasks=8 --gpus-per-task=1 vrambench run --by-rank --out fleet.json\n"
                "  vrambench run --workload random:events=1000000,order=shuffled,streams=4 --seed 7 --out run.json");
    sub->callback([o, &line, &chosen] { chosen = [o, &line] { return run(*o, line); }; });
}

}  // namespace vrambench
