// vrambench: which allocator should serve an engine's temporary buffers on this vendor, this card, this driver?

#include "bench/commands.hpp"
#include "spec/errors.hpp"

#include <iostream>

namespace {

// docs: README.md and docs/ say the same
constexpr const char* exit_codes =
    "Exit codes: 0 measured (running out of memory is a result); 1 something was corrupted, crashed or timed out, or nothing\n"
    "completed; 2 bad usage or input; 3 vrambench itself failed; 130 interrupted, what was measured is kept.";

vrambench::command_line take_arguments(int argc, char** argv)
{
    vrambench::command_line line;
    for (int i = 0; i < argc; ++i) line.arguments.emplace_back(argv[i]);
    return line;
}

/// Google Benchmark's flags are not ours to parse.
std::vector<std::string> without_benchmark_flags(vrambench::command_line& line)
{
    std::vector<std::string> rest;
    for (std::size_t i = 1; i < line.arguments.size(); ++i) {
        const auto& a = line.arguments[i];
        (a.starts_with("--benchmark_") ? line.benchmark_flags : rest).push_back(a);
    }
    return rest;
}

bool is_child(const vrambench::command_line& line) { return line.arguments.size() > 1 && line.arguments[1] == "child"; }

int parse_and_run(CLI::App& app, std::vector<std::string> arguments, const vrambench::command& chosen)
{
    std::reverse(arguments.begin(), arguments.end());    // CLI11 takes them last first
    try {
        app.parse(std::move(arguments));
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);    // --help, --version
        std::cerr << "vrambench: " << e.what() << " (vrambench --help)\n";
        return 2;
    }
    return chosen();
}

}  // namespace

int main(int argc, char** argv)
{
    using namespace vrambench;
    command_line line = take_arguments(argc, argv);
    CLI::App app{"Compares GPU memory allocators on the traffic of LLM inference engines.", "vrambench"};
    app.set_version_flag("--version", VRAMBENCH_VERSION);
    app.require_subcommand(1);
    app.footer(std::string("Start with: vrambench run\n\n") + exit_codes);
    command chosen;
    add_run(app, line, chosen);
    add_list(app, chosen);
    add_trace(app, line, chosen);
    add_child(app, chosen);
    try {
        return parse_and_run(app, without_benchmark_flags(line), chosen);
    } catch (const input_error& e) {
        if (!is_child(line)) std::cerr << "vrambench: ";    // the parent says it again
        std::cerr << e.what() << '\n';
        return 2;
    } catch (const std::exception& e) {
        std::cerr << "vrambench: internal error: " << e.what() << '\n';
        return 3;
    }
}
