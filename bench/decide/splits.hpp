#pragma once
// How often a comparison finds a difference where none is: the repetitions of one cell, split into two arms at random.

#include "bench/decide/thresholds.hpp"
#include "bench/decide/verdict.hpp"
#include "bench/progress.hpp"
#include "bench/run_document.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vrambench {

struct split_settings {
    std::uint64_t splits = 1000;
    std::string filter;                      ///< as of --benchmark_filter; empty: everything
    thresholds limits;
    std::uint64_t seed = 1;
};

/// One judged metric of the cell.
struct split_line {
    std::string metric, phase;
    bool steady = false;
    verdict_counts counts;
};

struct split_result {
    std::string cell;                        ///< its benchmark name
    std::size_t repetitions = 0;             ///< timed, completed and not disturbed: half of them an arm
    std::uint64_t splits = 0;
    std::uint64_t splits_with_a_false_one = 0;
    std::vector<split_line> lines;
};

/// Of every cell but `ideal`. One split is one comparison: what it judges of the cell is judged together, as compare() does. Throws input_error where none has eight repetitions, and for simulated ones, which do not
/// vary.
std::vector<split_result> split_verdicts(const run_document& run, const split_settings& how, progress& shown);

/// For people, ending in a newline.
std::string splits_in_words(const std::vector<split_result>& results);

}  // namespace vrambench
