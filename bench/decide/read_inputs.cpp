#include "bench/decide/evidence.hpp"
#include "bench/document_parts.hpp"
#include "bench/json_errors.hpp"
#include "bench/json_numbers.hpp"
#include "bench/json_text.hpp"
#include "bench/repetition_json.hpp"
#include "bench/result_file.hpp"
#include "spec/errors.hpp"

#include <algorithm>
#include <filesystem>
#include <future>
#include <thread>
#include <variant>

namespace vrambench::decide {

namespace {

using nlohmann::json;

std::optional<std::uint64_t> count_or_none(const json& j, const char* key)
{
    const auto found = j.find(key);
    if (found == j.end() || found->is_null()) return std::nullopt;
    return count_from(*found, key);
}

std::string beyond_in_words(const json& j)
{
    const json& beyond = j.at("beyond");
    if (beyond.is_null()) return {};
    std::string words = beyond.at("status").get<std::string>();
    if (const std::string cause = beyond.value("cause", ""); !cause.empty()) words += ": " + cause;
    return words;
}

fit_answer answer_from(const json& j)
{
    fit_answer a;
    const json& on = j.at("device");
    a.on = {on.at("kind").get<std::string>(),
            on.at("name").get<std::string>(),
            on.at("spec").get<std::string>(),
            on.at("simulated").get<bool>(),
            {}};
    j.at("allocator").at("spec").get_to(a.allocator);
    j.at("allocator").at("title").get_to(a.title);
    j.at("workload").at("spec").get_to(a.workload);
    a.limit_bytes = count_or_none(j, "vram_limit_bytes");
    a.resident_bytes = count_or_none(j, "resident_bytes").value_or(0);
    if (const auto vary = j.find("vary"); vary != j.end()) vary->at("key").get_to(a.key);
    a.best = count_or_none(j, a.key.empty() ? "smallest_passing_limit_bytes" : "largest_passing_value");
    a.beyond = beyond_in_words(j);
    return a;
}

fit_file fits_from(const json& j, const std::string& path)
{
    fit_file f{path, environment_from(j.at("environment")), {}};
    for (const json& cell : j.at("cells")) f.answers.push_back(answer_from(cell));
    return f;
}

using any_file = std::variant<run_file, fit_file, probe_file>;

any_file read_one(const std::string& path)
{
    const json j = read_document(path, result_parts::without_histograms, {result_schema, probing::report_schema});
    const std::string kind = text_at(j, "kind");
    const std::string damaged = in_quotes(path) + " is damaged";
    if (j.at("schema") == probing::report_schema) return read_at(damaged, [&] { return probe_file{path, probing::report_from(j)}; });
    if (kind == "run") return read_at(damaged, [&] { return run_file{path, run_from_json(j)}; });
    if (kind == "fit") return read_at(damaged, [&] { return fits_from(j, path); });
    throw input_error(in_quotes(path) + " holds a " + in_quotes(kind) + ", neither a run nor a fit");
}

void add(inputs& to, any_file file)
{
    if (auto* run = std::get_if<run_file>(&file)) to.runs.push_back(std::move(*run));
    else if (auto* fit = std::get_if<fit_file>(&file)) to.fits.push_back(std::move(*fit));
    else to.probes.push_back(std::get<probe_file>(std::move(file)));
}

void refuse_reports_alone(const inputs& in)
{
    if (!in.runs.empty() || !in.fits.empty()) return;
    throw input_error(in_quotes(in.probes.front().path) + " is a probe's report, which says what a driver does and not what "
                      "an allocator costs: name files of `vrambench run` or `fit` beside it");
}

/// The same processes twice would look like twice as many.
void refuse_twins(const std::vector<std::string>& paths)
{
    for (std::size_t i = 0; i < paths.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
            std::error_code unreadable;    // reading tells that better
            if (std::filesystem::equivalent(paths[i], paths[k], unreadable))
                throw input_error(in_quotes(paths[i]) + " is given twice: name each file once");
        }
}

bool is_copy(const cell& a, const cell& b)
{
    const auto same = [](const repetition& x, const repetition& y) {
        return x.index == y.index && x.process == y.process && x.what == y.what && x.cold.time_ps == y.cold.time_ps &&
               x.order == y.order;
    };
    return a.id == b.id && !a.on.simulated && !a.repetitions.empty() && a.repetitions.size() == b.repetitions.size() &&
           std::equal(a.repetitions.begin(), a.repetitions.end(), b.repetitions.begin(), same);
}

void refuse_copies(const inputs& in)
{
    for (std::size_t i = 0; i < in.runs.size(); ++i)
        for (std::size_t k = 0; k < i; ++k) {
            const auto& a = in.runs[i].run.cells;
            const auto& b = in.runs[k].run.cells;
            if (!a.empty() && a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), is_copy))
                throw input_error(in_quotes(in.runs[i].path) + " holds the same processes as " +
                                  in_quotes(in.runs[k].path) + ": drop one");
        }
}

}  // namespace

inputs read_inputs(const std::vector<std::string>& paths)
{
    refuse_twins(paths);
    inputs in;
    const std::size_t at_once = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t begin = 0; begin < paths.size(); begin += at_once) {
        std::vector<std::future<any_file>> reading;
        for (std::size_t i = begin; i < std::min(paths.size(), begin + at_once); ++i)
            reading.push_back(std::async(std::launch::async, read_one, paths[i]));
        for (auto& r : reading) add(in, r.get());
    }
    refuse_reports_alone(in);
    refuse_copies(in);
    const bool empty = std::all_of(in.runs.begin(), in.runs.end(), [](const run_file& f) { return f.run.cells.empty(); }) &&
                       std::all_of(in.fits.begin(), in.fits.end(), [](const fit_file& f) { return f.answers.empty(); });
    if (empty)
        throw input_error("there is not one cell in " + std::string(paths.size() == 1 ? "the file" : "the files") +
                          ": nothing to decide from");
    return in;
}

}  // namespace vrambench::decide
