#include "bench/atomic_file.hpp"
#include "bench/commands.hpp"
#include "bench/reading_progress.hpp"
#include "bench/result_file.hpp"
#include "bench/results_check.hpp"
#include "bench/results_merge.hpp"
#include "spec/errors.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

namespace vrambench {

namespace {

namespace fs = std::filesystem;

/// A file to be checked, and the folder of its collection in which it lies; none for a file that was named by itself.
struct member {
    fs::path path;
    std::optional<std::string> folder;
};

/// Every JSON file below `root`, in the order of their names. `local/` is a place for runs that nobody contributes.
std::vector<member> members_of(const fs::path& root)
{
    std::vector<member> all;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_regular_file() || entry.path().extension() != ".json") continue;
        const fs::path below = entry.path().lexically_relative(root).parent_path();
        const std::string folder = below.empty() ? "" : below.begin()->string();
        if (folder != "local") all.push_back({entry.path(), folder});
    }
    std::sort(all.begin(), all.end(), [](const member& a, const member& b) { return a.path < b.path; });
    return all;
}

std::vector<member> members_of(const std::vector<std::string>& paths)
{
    std::vector<member> all;
    for (const std::string& p : paths) {
        if (!fs::exists(p)) throw input_error("cannot read " + in_quotes(p) + ": no such file or folder");
        if (!fs::is_directory(p)) {
            all.push_back({p, std::nullopt});
            continue;
        }
        const auto found = members_of(fs::path(p));
        if (found.empty()) throw input_error(in_quotes(p) + " holds no result files");
        all.insert(all.end(), found.begin(), found.end());
    }
    return all;
}

/// JSON of other kinds lies beside results: a schema, a table of constraints. Only what calls itself ours is judged in a folder.
bool is_ours(const nlohmann::json& document)
{
    return document.is_object() && document.contains("schema") && document["schema"].is_string() &&
           document["schema"].get<std::string>().starts_with("vrambench.result/");
}

/// None where there is nothing to judge.
std::optional<results_checker::verdict> judged(results_checker& checker, const member& m)
{
    nlohmann::json document;
    try {
        document = parse_result(m.path.string());
    } catch (const input_error& e) {
        return results_checker::verdict{{e.what()}, {}};
    }
    if (m.folder && !is_ours(document)) return std::nullopt;
    auto v = checker.judge(document);
    if (m.folder)
        for (auto& more : findings_of_place(document, *m.folder)) v.findings.push_back(std::move(more));
    return v;
}

/// Bytes of a result file, for what progress says before it knows better.
constexpr double checked_a_second = 10e6, merged_a_second = 20e6;

int check(const std::vector<std::string>& paths)
{
    const std::vector<member> members = members_of(paths);
    std::size_t n_judged = 0, with_findings = 0;
    results_checker checker;
    std::vector<reading_step> steps;
    for (const member& m : members) steps.push_back(reading_of(m.path.string(), checked_a_second));
    reading_progress shown(std::move(steps));
    for (const member& m : members) {
        shown.next();
        const auto v = judged(checker, m);
        if (!v) continue;
        ++n_judged;
        if (!v->findings.empty() || !v->notes.empty()) shown.clear();
        for (const std::string& line : v->findings) std::cout << printable(m.path.string() + ": " + line) << '\n';
        for (const std::string& line : v->notes) std::cout << printable(m.path.string() + ": note: " + line) << '\n';
        with_findings += v->findings.empty() ? 0 : 1;
    }
    shown.clear();
    std::cout << n_judged << (n_judged == 1 ? " file, " : " files, ") << with_findings << " with findings\n";
    return with_findings == 0 ? 0 : 1;
}

/// Merging derives cells anew, after which nothing tells that they did not follow from their repetitions. Throws input_error.
result_part checked_part(const std::string& path)
{
    const nlohmann::json document = read_document(path);
    result_part part{path, run_in(document, path)};
    if (const auto found = finding_before_merge(document, part.run))
        throw input_error(in_quotes(path) + " is not merged: " + printable(*found, 200) +
                          "; see what `vrambench results check` says of it");
    return part;
}

int merge(const std::vector<std::string>& files, const std::string& out, const command_line& line)
{
    check_not_read(out, files);
    check_replaceable(out, "vrambench.result");
    std::vector<reading_step> steps;
    double writing = 0;
    for (const std::string& f : files) writing += steps.emplace_back(reading_of(f, merged_a_second)).seconds;
    steps.push_back({"writing " + out, writing});
    reading_progress shown(std::move(steps));
    std::vector<result_part> parts;
    for (const std::string& f : files) shown.next(), parts.push_back(checked_part(f));
    shown.next();
    merged_result merged = merge_results(std::move(parts));
    merged.run.command = line.arguments;
    write_result(merged.run, out);
    shown.clear();
    for (const std::string& note : merged.notes) std::cerr << note << '\n';
    std::cout << printable(out) << ": " << merged.run.cells.size() << " cells of " << files.size() << " files, "
              << merged.run.environments.size() << (merged.run.environments.size() == 1 ? " environment\n" : " environments\n");
    return 0;
}

}  // namespace

void add_results(CLI::App& app, const command_line& line, command& chosen)
{
    auto* sub = app.add_subcommand("results", "check a collection of result files, merge files of many machines");
    sub->require_subcommand(1);
    sub->footer("Exit codes: 0 nothing found, or merged; 1 check found something; 2 bad usage or input.\n\n"
                "Examples:\n  vrambench results check\n  vrambench results merge a.json b.json --out both.json");

    auto* checking = sub->add_subcommand("check", "say what is wrong with result files: form, figures, origin, place; each workload is made\n"
                                                  "again from its spec, and what follows from it must be what the file says");
    auto paths = std::make_shared<std::vector<std::string>>(1, "results");
    checking->add_option("paths", *paths, "result files, or folders of them, whose sub-folders name the card or are called simulated")
        ->capture_default_str();
    checking->footer("Exit codes: 0 nothing found; 1 something found; 2 nothing to check.\n\n"
                     "Examples:\n  vrambench results check\n  vrambench results check run.json");
    checking->callback([paths, &chosen] { chosen = [paths] { return check(*paths); }; });

    auto* merging = sub->add_subcommand("merge", "join result files into one; machines that differ stay apart in it; a file whose\n"
                                                  "cells do not follow from its repetitions is refused");
    auto files = std::make_shared<std::vector<std::string>>();
    auto out = std::make_shared<std::string>();
    merging->add_option("files", *files, "two or more result files of runs")
        ->required()
        ->expected(2, CLI::detail::expected_max_vector_size);
    merging->add_option("--out", *out, "the file to write")->required();
    merging->footer("Exit codes: 0 merged; 2 bad usage or input.\n\nExample:\n  vrambench results merge fleet.rank0.json fleet.rank1.json --out fleet.json");
    merging->callback([files, out, &line, &chosen] { chosen = [files, out, &line] { return merge(*files, *out, line); }; });
}

}  // namespace vrambench
