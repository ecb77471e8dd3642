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
