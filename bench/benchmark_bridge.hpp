#pragma once
// The bridge to Google Benchmark's habits (1.7.1 to 1.8.3): its filter selects cells before planning, its console and
// JSON show them after measuring. Cells are not run by it: it is given the recorded samples as manual times.

#include "bench/run_document.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace vrambench {

/// The `--benchmark_...` options of a command line.
struct benchmark_flags {
    std::string filter;                          ///< --benchmark_filter; empty: everything
    std::optional<std::uint64_t> repetitions;    ///< --benchmark_repetitions, an alias of --repetitions
    bool list_only = false;                      ///< --benchmark_list_tests: names, nothing is measured
    bool writes_data = false;                    ///< --benchmark_format=json or csv: standard output is for programs
    std::vector<std::string> passed_on;          ///< about output: for report_with_google_benchmark
};

/// Sorts them. Throws input_error with one line for an unknown option, for those that would make the library choose
/// iterations or shuffle, for a filter that is no regular expression, a value that the library would end the program for,
/// and an output file that cannot be written.
benchmark_flags check_benchmark_flags(const std::vector<std::string>& args);

/// "run/sim:h200,.../legacy-retry:retry=flush/kv-pair:.../limit:512MiB", all in canonical specs. Unique in a run.
std::string benchmark_name(const cell& c);

/// Google Benchmark's filter: an extended regular expression that is searched for; a leading '-' negates it.
class name_filter {
public:
    explicit name_filter(const std::string& pattern);   ///< throws input_error
    ~name_filter();
    name_filter(name_filter&&) noexcept;
    name_filter& operator=(name_filter&&) noexcept;
    bool matches(const std::string& name) const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

/// Registers each cell with its cold samples and lets the library report them, on stdout and to --benchmark_out. Cells
/// that did not finish are errors with their words. `benchmark_args` are benchmark_flags::passed_on. Returns how many
/// cells (references aside) were reported as errors: the library itself ends with success even if nothing succeeded.
int report_with_google_benchmark(const run_document& run, const std::vector<std::string>& benchmark_args);

}  // namespace vrambench
