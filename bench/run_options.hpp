#pragma once
// The options that `vrambench run` and `vrambench trace run` share.

#include "bench/benchmark_bridge.hpp"
#include "bench/commands.hpp"
#include "bench/planner.hpp"
#include "bench/table.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace vrambench {

/// As typed.
struct run_options {
    run_request request;                     ///< its lists as typed, not yet split
    std::string trace_file;                  ///< of `trace run`: the path of the only workload
    std::string mode = "eager", verify = "full", timeout, budget;
    std::vector<std::string> kernels;
    std::string repetitions, seed = "1", precision;
    bool no_reference = false, in_process = false, resume = false, quick = false, full = false, by_rank = false, drop_losers = false;
    std::string out;
};

/// Adds the options to `app`; `with_workload` adds --workload, which a trace file replaces.
void add_run_options(CLI::App& app, run_options& o, bool with_workload);

/// Words become values. Throws input_error with one line.
run_request understand(const run_options& o, const benchmark_flags& flags);

/// Milliseconds that one repetition may take; 0: without end. On a card, where drivers hang, 300 s where nothing was typed.
std::uint64_t timeout_of(const run_request& request, const device_choice& on);

/// A file name in the working directory that is not taken: "vrambench-sim-h200-20260420-101500.json".
std::string default_out(const run_document& document);

/// Fills in the environment: program, host, timer, and the device as it answered.
void describe_environment(run_document& document, device_info device);

using table_maker = std::function<std::string(const run_document&, const table_style&)>;

/// Plans, measures, prints the table, writes the file. Returns the exit code.
int run(const run_options& o, const command_line& line, const table_maker& table = comparison_table);

}  // namespace vrambench
