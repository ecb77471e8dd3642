#pragma once
// Runs a plan: repetition by repetition, the result file replaced after each, so that nothing measured is ever lost.

#include "bench/planner.hpp"
#include "bench/progress.hpp"

#include <atomic>
#include <string>

namespace vrambench {

struct measure_options {
    std::string out;                             ///< result file; empty: none is written
    std::uint64_t timeout_ms = 0;                ///< of one repetition; 0: none
    bool in_process = false;                     ///< on a card too: for debuggers and profilers
    const std::atomic<bool>* stop = nullptr;     ///< set when the user interrupts
};

enum class ending : std::uint8_t { finished, interrupted, out_of_budget };

/// Takes over everything that `path` holds, more repetitions than planned too. Returns how many. Throws input_error where
/// the file cannot be read, or holds repetitions of cells that are not planned: nothing measured may be lost.
std::uint64_t resume_from(const std::string& path, run_plan& plan);

/// Runs every repetition that is not there yet, known by its cell, role and index; with a rule for stopping only of cells that are not
/// settled, and each cell then says why it stopped. The document is finished once nothing is left to run, and not where the
/// budget left some out. Throws input_error where the result file cannot be written.
ending measure(run_plan& plan, const measure_options& options, progress& shown);

/// 0: at least one repetition completed, the others completed, ran out of memory or are unsupported. 1 otherwise. The
/// reference does not count, unless it was asked for.
int exit_code(const run_document& run);

}  // namespace vrambench
