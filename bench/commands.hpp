#pragma once
// The subcommands of vrambench. Each adds itself to the command line and returns the exit code when it is run.

#include <CLI/CLI.hpp>

#include <functional>
#include <string>
#include <vector>

namespace vrambench {

/// Set by the subcommand that was chosen; called after parsing.
using command = std::function<int()>;

struct command_line {
    std::vector<std::string> arguments;          ///< as typed, for the result file
    std::vector<std::string> benchmark_flags;    ///< --benchmark_..., taken out before parsing
};

/// What --help says of `run` and of what measures like it.
inline constexpr const char* run_exit_codes =
    "Exit codes: 0 measured (running out of memory is a result); 1 something was corrupted, crashed or timed out, or nothing\n"
    "completed; 2 bad usage or input; 3 vrambench itself failed; 130 interrupted, what was measured is kept.\n\n";

void add_run(CLI::App& app, const command_line& line, command& chosen);
void add_fit(CLI::App& app, const command_line& line, command& chosen);
void add_frontier(CLI::App& app, const command_line& line, command& chosen);
void add_list(CLI::App& app, command& chosen);
void add_results(CLI::App& app, const command_line& line, command& chosen);
void add_show(CLI::App& app, command& chosen);
void add_compare(CLI::App& app, command& chosen);
void add_probe(CLI::App& app, const command_line& line, command& chosen);
void add_recommend(CLI::App& app, command& chosen);
void add_child(CLI::App& app, command& chosen);
void add_trace(CLI::App& app, const command_line& line, command& chosen);

}  // namespace vrambench
