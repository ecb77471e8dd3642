#include "bench/atomic_file.hpp"
#include "bench/commands.hpp"
#include "bench/reading.hpp"
#include "bench/run_options.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/describe.hpp"
#include "workloads/registry.hpp"
#include "workloads/trace_file.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>

namespace vrambench {

namespace {

void check_workload_name(const std::string& text)
{
    std::vector<std::string> names;
    for (const auto* e : workload_entries()) names.push_back(e->name);
    const std::string name = text.substr(0, text.find(':'));
    if (std::find(names.begin(), names.end(), name) == names.end())
        throw input_error("there is neither a file nor a workload " + in_quotes(text) + did_you_mean(name, names) +
                          " (vrambench list workloads)");
}

/// A workload's spec, or the path of a trace file.
std::unique_ptr<trace> open_named(const std::string& text, std::uint64_t seed)
{
    std::error_code ignored;
    if (std::filesystem::exists(text, ignored)) return open_trace_file(text);
    check_workload_name(text);
    return make_trace(text, seed);
}

struct export_options {
    std::string workload, out, format = "jsonl", seed = "1";
};

int export_trace(const export_options& o)
{
    const auto t = open_named(o.workload, parse_integer(o.seed, "--seed", 0, UINT64_MAX));
    check_replaceable(o.out, "vrambench_trace");
    const trace_summary summary = summarise_telling(*t);
    write_trace(*t, o.out, o.format == "packed" ? trace_format::packed : trace_format::json_lines);
    std::cout << printable(o.out) << ": " << summary.events << " events, "
              << human_size(std::filesystem::file_size(o.out)) << "\n";
    return 0;
}

int trace_stats(const std::string& workload, const std::string& seed)
{
    const auto t = open_named(workload, parse_integer(seed, "--seed", 0, UINT64_MAX));
    std::cout << describe(t->header(), summarise_telling(*t));
    return 0;
}

void add_export(CLI::App& app, command& chosen)
{
    auto* sub = app.add_subcommand("export", "write a workload's trace to a file");
    auto o = std::make_shared<export_options>();
    sub->add_option("workload", o->workload, "workload spec or trace file")->required();
    sub->add_option("--out", o->out, "file to write")->required();
    sub->add_option("--format", o->format, "jsonl (readable) or packed (small and fast)")
        ->check(CLI::IsMember({"jsonl", "packed"}))
        ->capture_default_str();
    sub->add_option("--seed", o->seed, "of seeded workloads")->capture_default_str();
    sub->footer("Exit codes: 0 written; 2 bad usage or input.\n\n"
                "Example:\n  vrambench trace export kv-pair:heads=8,head-dim=128,step=512,to=32768 --out kv.jsonl");
    sub->callback([o, &chosen] { chosen = [o] { return export_trace(*o); }; });
}

void add_stats(CLI::App& app, command& chosen)
{
    auto* sub = app.add_subcommand("stats", "what follows from a trace alone: live bytes, calls, depth, tokens");
    auto workload = std::make_shared<std::string>();
    auto seed = std::make_shared<std::string>("1");
    sub->add_option("workload", *workload, "workload spec or trace file")->required();
    sub->add_option("--seed", *seed, "of seeded workloads")->capture_default_str();
    sub->footer("Exit codes: 0 described; 2 bad usage or input.\n\n"
                "Examples:\n  vrambench trace stats random:events=100000,order=lifo\n  vrambench trace stats kv.jsonl");
    sub->callback([workload, seed, &chosen] { chosen = [workload, seed] { return trace_stats(*workload, *seed); }; });
}

void add_trace_run(CLI::App& app, const command_line& line, command& chosen)
{
    auto* sub = app.add_subcommand("run", "measure allocators on a trace file, as `vrambench run --workload file:FILE`");
    auto o = std::make_shared<run_options>();
    auto file = std::make_shared<std::string>();
    sub->add_option("file", *file, "trace file")->required();
    add_run_options(*sub, *o, false);
    sub->footer("Exit codes: as `vrambench run`.\n\nExample:\n  vrambench trace run kv.jsonl --allocator legacy,vmm --vram-limit 160MiB");
    sub->callback([o, file, &line, &chosen] {
        chosen = [o, file, &line] {
            o->trace_file = *file;
            return run(*o, line);
        };
    });
}

}  // namespace

void add_trace(CLI::App& app, const command_line& line, command& chosen)
{
    auto* sub = app.add_subcommand("trace", "export, describe and run traces");
    sub->require_subcommand(1);
    sub->footer("Exit codes: 0 done; 2 bad usage or input; those of `trace run` are those of `vrambench run`.\n\n"
                "Examples:\n  vrambench trace export kv-pair:heads=8,head-dim=128,step=512,to=32768 --out kv.jsonl\n  vrambench trace stats kv.jsonl");
    add_export(*sub, chosen);
    add_stats(*sub, chosen);
    add_trace_run(*sub, line, chosen);
}

}  // namespace vrambench
