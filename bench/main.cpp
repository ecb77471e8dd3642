// vrambench: which allocator should serve an engine's temporary buffers on this vendor, this card, this driver?

#include "bench/commands.hpp"
#include "bench/unexpected_word.hpp"
#include "spec/errors.hpp"

#include <algorithm>
#include <iostream>

namespace {

// docs: README.md and docs/ say the same
constexpr const char* exit_codes =
    "Exit codes: 0 measured (running out of memory is a result); 1 something was corrupted, crashed or timed out, or nothing\n"
    "completed; 2 bad usage or input; 3 vrambench itself failed; 130 interrupted, what was measured is kept. `compare` ends with 1\n"
    "where something is worse than the base, `results check` where it found something.";

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

/// An empty value is a script's unset variable; it must not read as the default.
void refuse_empty_values(CLI::App& app)
{
    const CLI::Validator not_empty([](std::string& typed) { return std::string(typed.empty() ? "a value is missing" : ""); }, "");
    for (auto* option : app.get_options())
        if (option->get_items_expected_max() > 0) option->check(not_empty);
    for (auto* command : app.get_subcommands([](CLI::App*) { return true; })) refuse_empty_values(*command);
}

/// CLI11 would take the next word as the value of `--name=`.
void check_written_values(const std::vector<std::string>& words)
{
    for (const auto& word : words)
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
            throw vrambench::input_error(vrambench::printable(word.substr(0, word.size() - 1), 120) + ": a value is missing");
}

int parse_and_run(CLI::App& app, const std::vector<std::string>& words, const vrambench::command& chosen)
{
    check_written_values(words);
    try {
        app.parse(std::vector<std::string>(words.rbegin(), words.rend()));    // CLI11 takes them last first
    } catch (const CLI::ParseError& e) {
        if (e.get_exit_code() == 0) return app.exit(e);    // --help, --version
        const std::string unexpected = vrambench::unexpected_word(app, words);
        // CLI11 repeats what was typed as it was.
        throw vrambench::input_error((unexpected.empty() ? vrambench::printable(e.what(), 300) : unexpected) + " (vrambench --help)");
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
    add_fit(app, line, chosen);
    add_frontier(app, line, chosen);
    add_list(app, chosen);
    add_trace(app, line, chosen);
    add_show(app, chosen);
    add_compare(app, chosen);
    add_results(app, line, chosen);
    add_probe(app, line, chosen);
    add_recommend(app, chosen);
    add_child(app, chosen);
    refuse_empty_values(app);
    try {
        const int code = parse_and_run(app, without_benchmark_flags(line), chosen);
        if (std::cout.flush()) return code;
        std::cerr << "vrambench: standard output could not be written\n";
        return 3;
    } catch (const input_error& e) {
        if (!is_child(line)) std::cerr << "vrambench: ";    // the parent says it again
        std::cerr << printable(e.what()) << '\n';
        return 2;
    } catch (const std::exception& e) {
        std::cerr << "vrambench: internal error: " << printable(e.what()) << '\n';
        return 3;
    }
}
