#include "bench/benchmark_bridge.hpp"

#include "bench/atomic_file.hpp"
#include "bench/derive.hpp"
#include "bench/json_text.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

#include <regex.h>

namespace vrambench {

namespace {

/// What happens to an option of the library.
enum class fate { filter, repetitions, list, output_file, word, context, text, truth, refused };

struct flag {
    const char* name;
    fate what;
    const char* why = "";                        ///< refused
    std::array<const char*, 4> words = {};       ///< word: what the library knows; it ends the program for any other
};

constexpr const char* planner_chooses = "a cell is one pass over its trace, repeated by --repetitions";
constexpr const char* planner_orders = "vrambench always interleaves the cells, in the order of --seed";

constexpr std::array flags{
    flag{"filter", fate::filter},
    flag{"repetitions", fate::repetitions},
    flag{"list_tests", fate::list},
    flag{"out", fate::output_file},
    flag{"out_format", fate::word, "", {"console", "json", "csv"}},
    flag{"format", fate::word, "", {"console", "json", "csv"}},
    flag{"color", fate::text},
    flag{"counters_tabular", fate::truth},
    flag{"report_aggregates_only", fate::truth},
    flag{"display_aggregates_only", fate::truth},
    flag{"time_unit", fate::word, "", {"ns", "us", "ms", "s"}},
    flag{"context", fate::context},
    flag{"min_time", fate::refused, planner_chooses},
    flag{"min_warmup_time", fate::refused, planner_chooses},
    flag{"dry_run", fate::refused, "--benchmark_list_tests shows what would be measured"},
    flag{"enable_random_interleaving", fate::refused, planner_orders},
    flag{"perf_counters", fate::refused, "the library sees recorded times, not the work itself"},
};

constexpr std::string_view prefix = "--benchmark_";

/// "--benchmark_NAME=VALUE" taken apart; without "=" the value is empty.
struct split_flag {
    std::string name, value;
    bool has_value = false;
};

split_flag split(const std::string& arg)
{
    const std::string rest = arg.substr(prefix.size());
    const std::size_t equals = rest.find('=');
    if (equals == std::string::npos) return {rest, "", false};
    return {rest.substr(0, equals), rest.substr(equals + 1), true};
}

const flag& find_flag(const split_flag& typed)
{
    const auto found = std::find_if(flags.begin(), flags.end(), [&](const flag& f) { return typed.name == f.name; });
    if (found != flags.end()) return *found;
    std::vector<std::string> names;
    for (const flag& f : flags)
        if (f.what != fate::refused) names.push_back(std::string(prefix) + f.name);
    throw input_error("unknown option " + in_quotes(std::string(prefix) + typed.name) +
                      did_you_mean(std::string(prefix) + typed.name, names));
}

void need_value(const split_flag& typed)
{
    if (!typed.has_value || typed.value.empty())
        throw input_error("'--benchmark_" + typed.name + "' needs a value: --benchmark_" + typed.name + "=...");
}

void check_word(const split_flag& typed, const flag& f)
{
    need_value(typed);
    std::vector<std::string> words;
    for (const char* w : f.words)
        if (w) words.emplace_back(w);
    if (std::find(words.begin(), words.end(), typed.value) == words.end())
        throw input_error("'--benchmark_" + typed.name + "' " + in_quotes(typed.value) + ": one of " + joined(words) +
                          did_you_mean(typed.value, words));
}

/// The library's own reading of a boolean.
bool truth(const split_flag& typed)
{
    if (!typed.has_value) return true;
    static constexpr std::array no{"0", "n", "no", "f", "false", "off", "F", "N", "No", "NO", "False", "FALSE", "Off", "OFF"};
    return std::find(no.begin(), no.end(), typed.value) == no.end();
}

void sort_flag(benchmark_flags& to, const std::string& arg)
{
    const split_flag typed = split(arg);
    const flag& f = find_flag(typed);
    switch (f.what) {
    case fate::refused: throw input_error("'--benchmark_" + typed.name + "' is not possible here: " + f.why);
    case fate::list: to.list_only = truth(typed); return;
    case fate::filter:
        need_value(typed);
        name_filter{typed.value};   // fails now rather than after measuring
        to.filter = typed.value;
        return;
    case fate::repetitions:
        need_value(typed);
        to.repetitions = parse_integer(typed.value, "--benchmark_repetitions", 1, 1'000'000);
        return;
    case fate::output_file:
        need_value(typed);
        check_writable(typed.value);
        break;
    case fate::word:
        check_word(typed, f);
        if (typed.name == "format") to.writes_data = typed.value != "console";
        break;
    case fate::context:
        if (typed.value.find('=') == std::string::npos)
            throw input_error("'--benchmark_context' needs a value: --benchmark_context=KEY=VALUE");
        break;
    case fate::text: need_value(typed); break;
    case fate::truth: break;
    }
    to.passed_on.push_back(arg);
}

/// The settings behind a spec's name.
std::string after_name(const std::string& spec)
{
    const std::size_t colon = spec.find(':');
    return colon == std::string::npos ? "" : spec.substr(colon);
}

/// The library writes text into its JSON as it is.
std::string clean(const std::string& s) { return printable(json_text(s).get<std::string>()); }

/// What the library is told of one cell.
struct reported_cell {
    std::string error;                       ///< non-empty: nothing to report but this
    std::vector<double> seconds;
    std::vector<std::pair<std::string, double>> counters;
    bool simulated = false;
    std::size_t next = 0;                    ///< the sample that the next run shows
};

std::vector<double> cold_samples(const cell& c)
{
    std::vector<double> seconds;
    for (const repetition& r : c.repetitions)
        if (!r.disturbed && r.what == role::timed && r.cold.result.what == status::completed)
            seconds.push_back(static_cast<double>(r.cold.time_ps) * 1e-12);
    return seconds;
}

/// Counters go through double, so that they are for looking at: the result file has the exact numbers. Zeros are left out:
/// over repetitions the library would divide by them and write a bare NaN, which is no JSON.
std::vector<std::pair<std::string, double>> counters_of(const cell& c, const pass_numbers& n)
{
    std::vector<std::pair<std::string, double>> counters;
    const auto add_value = [&](const char* name, double value) {
        if (std::isfinite(value) && value != 0) counters.emplace_back(name, value);
    };
    const auto add = [&](const char* name, const std::optional<estimate>& e) {
        if (e) add_value(name, as_double(e->median));
    };
    add(n.per_token ? "added_ns_per_token" : "added_ns_per_step", n.added_ns);
    add("peak_reserved_bytes", n.peak_reserved_bytes);
    add("peak_device_bytes", n.peak_device_bytes);
    add("device_bloat", n.device_bloat);
    add_value("max_live_bytes", static_cast<double>(n.max_live_bytes));
    add_value("tokens", static_cast<double>(c.workload->summary.tokens));
    add_value("flushes", as_double(n.recovery.flushes));
    add_value("recoveries", as_double(n.recovery.recoveries));
    return counters;
}

reported_cell reported(const run_document& run, const cell& c)
{
    const cell_metrics m = derive(c, reference_of(run, c));
    reported_cell r;
    r.simulated = gives_simulated_results(c.on);
    if (!m.cold.result) r.error = "not measured";
    else if (m.cold.result->what != status::completed) r.error = clean(in_words(*m.cold.result));
    else if (!m.cold.numbers) r.error = "no timed repetition";
    if (!r.error.empty()) return r;
    if (!c.on.times_known) r.error = "no times: what a call costs on this device is not known";
    if (!r.error.empty()) return r;
    r.seconds = cold_samples(c);
    if (*std::min_element(r.seconds.begin(), r.seconds.end()) <= 0) r.error = "took no time";   // again a division
    r.counters = counters_of(c, *m.cold.numbers);
    return r;
}

void show(benchmark::State& state, reported_cell& r)
{
    if (!r.error.empty()) {
        state.SkipWithError(r.error.c_str());
        return;
    }
    for (auto _ : state) {
        state.SetIterationTime(r.seconds[r.next]);
        r.next = (r.next + 1) % r.seconds.size();
    }
    for (const auto& [name, value] : r.counters) state.counters[name] = benchmark::Counter(value);
    if (r.simulated) state.SetLabel("simulated");
}

void register_cell(const std::string& name, const std::shared_ptr<reported_cell>& r)
{
    const int repetitions = static_cast<int>(std::max<std::size_t>(r->seconds.size(), 1));
    benchmark::RegisterBenchmark(name.c_str(), [r](benchmark::State& state) { show(state, *r); })
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(repetitions)
        ->Unit(benchmark::kMillisecond);
}

/// The library keeps a pointer to the program's name, so that it must live on.
void initialize_library(const std::vector<std::string>& args)
{
    static char program[] = "vrambench";
    std::vector<std::string> storage = args;
    std::vector<char*> argv{program};
    for (std::string& a : storage) argv.push_back(a.data());
    int argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    benchmark::Initialize(&argc, argv.data());
}

}  // namespace

benchmark_flags check_benchmark_flags(const std::vector<std::string>& args)
{
    benchmark_flags sorted;
    for (const std::string& arg : args) {
        if (arg.compare(0, prefix.size(), prefix) != 0) throw input_error(in_quotes(arg) + " is not a --benchmark_ option");
        sort_flag(sorted, arg);
    }
    return sorted;
}

std::string benchmark_name(const cell& c)
{
    // The allocator's own name, so that a filter for "legacy-retry" finds what was asked for by that name.
    std::string name = "run/" + c.on.spec + "/" + c.allocator.name + after_name(c.allocator.spec) + "/" +
                       c.workload->recipe->header().spec + "/limit:" +
                       (c.vram_limit_bytes ? exact_size(*c.vram_limit_bytes) : std::string("none"));
    if (c.mode != run_mode::eager) name += std::string("/mode:") + to_string(c.mode);
    if (c.kernels != kernel_model::hold) name += std::string("/kernels:") + to_string(c.kernels);
    if (c.kernel_scale != "1") name += "/kernel_scale:" + c.kernel_scale;
    if (c.resident_bytes) name += "/resident:" + exact_size(c.resident_bytes);
    if (!c.neighbour.empty()) name += "/neighbour:" + c.neighbour;
    if (!c.inject.empty()) name += "/inject:" + c.inject;
    if (c.reference) name += "/reference";
    return name;
}

/// POSIX rather than the standard library's: that one takes exponential time, or the stack, on some patterns.
struct name_filter::state {
    ~state()
    {
        if (compiled) ::regfree(&expression);
    }
    regex_t expression{};
    bool compiled = false, negated = false;
};

name_filter::name_filter(const std::string& pattern) : state_(std::make_unique<state>())
{
    std::string rest = pattern;
    if (!rest.empty() && rest[0] == '-') {
        state_->negated = true;
        rest.erase(0, 1);
    }
    if (rest.empty() || rest == "all") rest = ".";
    state_->compiled = ::regcomp(&state_->expression, rest.c_str(), REG_EXTENDED | REG_NOSUB) == 0;
    if (!state_->compiled) throw input_error(in_quotes(pattern) + " is not a regular expression (--benchmark_filter)");
}

name_filter::~name_filter() = default;
name_filter::name_filter(name_filter&&) noexcept = default;
name_filter& name_filter::operator=(name_filter&&) noexcept = default;

bool name_filter::matches(const std::string& name) const
{
    return (::regexec(&state_->expression, name.c_str(), 0, nullptr, 0) == 0) != state_->negated;
}

int report_with_google_benchmark(const run_document& run, const std::vector<std::string>& benchmark_args)
{
    initialize_library(benchmark_args);
    benchmark::ClearRegisteredBenchmarks();
    int errors = 0;
    for (const cell& c : run.cells) {
        const auto r = std::make_shared<reported_cell>(reported(run, c));
        if (!r->error.empty() && !c.reference) ++errors;
        register_cell(clean(benchmark_name(c)), r);
    }
    // The reporter is named, since 1.7.1 deletes its default one after the first run and uses it again in the second; so
    // is the filter, since its names have suffixes that ours have not.
    if (!run.cells.empty()) benchmark::RunSpecifiedBenchmarks(benchmark::CreateDefaultDisplayReporter(), ".");
    benchmark::ClearRegisteredBenchmarks();
    return errors;
}

}  // namespace vrambench
