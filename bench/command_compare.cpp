#include "bench/commands.hpp"
#include "bench/decide/comparison.hpp"
#include "bench/decide/comparison_json.hpp"
#include "bench/decide/comparison_text.hpp"
#include "bench/decide/splits.hpp"
#include "bench/result_file.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <filesystem>
#include <future>
#include <iostream>
#include <unistd.h>

namespace vrambench {

namespace {

struct compare_options {
    std::vector<std::string> files, allocators, margins;
    std::string thresholds_file, filter, format = "table", seed = "1";
    std::uint64_t splits = 0;
    bool changes = false;
};

/// Short names where they tell the files apart.
std::vector<std::string> names_of(const std::vector<std::string>& paths)
{
    std::vector<std::string> names;
    for (const std::string& p : paths) names.push_back(std::filesystem::path(p).filename().string());
    for (std::size_t i = 0; i < names.size(); ++i)
        for (std::size_t k = 0; k < i; ++k)
            if (names[i] == names[k]) return paths;
    return names;
}

/// At the same time: reading is most of the work.
std::vector<named_run> read_all(const std::vector<std::string>& paths)
{
    const auto read = [](const std::string& path) { return read_result(path, result_parts::without_histograms); };
    std::vector<std::future<run_document>> reading;
    for (const std::string& p : paths) reading.push_back(std::async(std::launch::async, read, p));
    std::vector<named_run> runs;
    const auto names = names_of(paths);
    for (std::size_t i = 0; i < paths.size(); ++i) runs.push_back({names[i], reading[i].get()});
    return runs;
}

thresholds limits_of(const compare_options& o)
{
    margin_table typed;
    for (const std::string& text : split_words(o.margins)) {
        auto [metric, m] = parse_margin_option(text);
        if (!typed.emplace(metric, m).second) throw input_error("--margin: " + in_quotes(metric) + " is given twice");
    }
    return o.thresholds_file.empty() ? thresholds(std::move(typed)) : thresholds::read(o.thresholds_file, std::move(typed));
}

std::uint64_t seed_of(const compare_options& o) { return parse_integer(o.seed, "--seed", 0, UINT64_MAX); }

int compare_files(const compare_options& o)
{
    const auto runs = read_all(o.files);
    const comparison c = compare(runs, {split_specs(o.allocators), o.filter, limits_of(o), seed_of(o)});
    std::cout << (o.format == "json"       ? comparison_json(c)
                  : o.format == "markdown" ? comparison_markdown(c, o.changes)
                                           : comparison_text(c, style_for(STDOUT_FILENO), o.changes));
    return c.counts.worse > 0 ? 1 : 0;
}

int count_false_verdicts(const compare_options& o)
{
    if (o.files.size() != 1) throw input_error("--splits: takes one file, of repetitions of one allocator");
    const auto runs = read_all(o.files);
    const split_settings how{o.splits, o.filter, limits_of(o), seed_of(o)};
    progress shown(std::cerr, is_terminal(STDERR_FILENO), terminal_width(STDERR_FILENO));
    const auto results = split_verdicts(runs.front().run, how, shown);
    std::vector<std::string> names;
    for (const split_result& r : results) names.push_back(r.cell);
    for (const std::string& note : how.limits.without_cells(names)) shown.note("note: " + note);
    std::cout << splits_in_words(results);
    return 0;
}

void add_options(CLI::App& sub, compare_options& o)
{
    sub.add_option("files", o.files, "result files; the first is the base. One file: its allocators are compared")->required();
    sub.add_option("--allocators", o.allocators, "one file: which allocators, the base first (default: all, in the file's order);\n"
                                                 "several files: only these");
    sub.add_option("--margin", o.margins, "METRIC=MARGIN: how much must differ to matter, as a share (0.5%, of the base; of its time\n"
                                          "per token for an added time) or in the metric's unit. A metric with a margin decides");
    sub.add_option("--thresholds", o.thresholds_file, "margins for CI, a JSON file (docs/comparing.md)");
    sub.add_option("--filter", o.filter, "only pairs with a cell whose benchmark name matches, as of --benchmark_filter");
    sub.add_option("--format", o.format, "table, markdown or json")->check(CLI::IsMember({"table", "markdown", "json"}))->capture_default_str();
    sub.add_flag("--changes", o.changes, "leave out pairs that are the same throughout (table and Markdown)");
    sub.add_option("--seed", o.seed, "of the bootstrap")->capture_default_str();
    sub.add_option("--splits", o.splits, "instead: split the repetitions of one cell at random so many times and count verdicts that\n"
                                         "find a difference where none is; each split is judged as one comparison")
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000}))
        ->excludes("--format")
        ->excludes("--allocators")
        ->excludes("--changes");
}

}  // namespace

void add_compare(CLI::App& app, command& chosen)
{
    auto* sub = app.add_subcommand("compare", "judge differences between runs, or between allocators of one run");
    auto o = std::make_shared<compare_options>();
    add_options(*sub, *o);
    sub->footer("Verdicts: better and worse are differences beyond the margin, of which about 5 % at most are false over all that one\n"
                "command judges (Benjamini and Hochberg); same is shown to be within it. docs/comparing.md says how.\n"
                "Column n: 6r: 6 rounds, in each of which both ran; 6+6: 6 processes of the base and 6 of the other, not paired; =: compared\n"
                "exactly (simulated, the same measurements, or bytes that did not vary).\n\n"
                "Exit codes: 0 nothing is worse than the base; 1 something is; 2 bad usage or input, or nothing in common.\n\n"
                "Examples:\n  vrambench compare before.json after.json --changes\n"
                "  vrambench compare run.json --allocators legacy,vmm --format markdown\n"
                "  vrambench compare before.json after.json --margin added_ns_per_token=1%,device_bloat=0.05\n"
                "  vrambench compare golden.json today.json --thresholds ci.json");
    sub->callback([o, &chosen] { chosen = [o] { return o->splits ? count_false_verdicts(*o) : compare_files(*o); }; });
}

}  // namespace vrambench
