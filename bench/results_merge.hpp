#pragma once
// Joins result files: parts of one fleet's run, or runs of many machines.

#include "bench/run_document.hpp"

#include <string>
#include <vector>

namespace vrambench {

struct result_part {
    std::string path;                        ///< for messages
    run_document run;
};

struct merged_result {
    run_document run;
    std::vector<std::string> notes;          ///< which parts stay apart, and by what they differ
};

/// Cells that were measured twice in one environment become one with the repetitions of both, numbered on: index and order of
/// the later part follow the earlier one's, so that pairs with the reference stay pairs. Parts whose environments differ keep
/// cells of their own, which compare with those of their own environment only. Environments are one where every fact is the
/// same but for what is measured of the timer and what a launcher numbers (rank, ranks, local_rank).
///
/// Throws input_error where a part holds the same repetitions as another, was merged already, or where simulated and
/// measured cells would come together.
merged_result merge_results(std::vector<result_part> parts);

}  // namespace vrambench
