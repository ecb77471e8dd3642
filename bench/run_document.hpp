#pragma once
// A whole run as it is written: environment, command and cells.

#include "bench/plan.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vrambench {

/// (key, value) pairs that say enough to repeat the run; a value is text or a whole number.
struct environment_fact {
    std::string key;
    std::string text;                        ///< used when `is_number` is false
    std::uint64_t number = 0;
    bool is_number = false;
};

/// The files of a merged document that were measured in one environment.
struct merged_environment {
    struct merged_run {
        std::vector<std::string> command;
        std::uint64_t plan_seed = 1;
        bool finished = false;
    };
    std::vector<environment_fact> facts;     ///< of the first file
    std::vector<merged_run> runs;
};

struct run_document {
    std::vector<std::string> command;
    std::vector<environment_fact> environment;   ///< of a merged document: the facts that all of it shares
    std::vector<merged_environment> environments;   ///< of a merged document; empty otherwise
    std::uint64_t plan_seed = 1;
    bool finished = false;                   ///< false between repetitions, and where a budget left some out
    std::vector<cell> cells;                 ///< references among them
};

/// The facts that hold for a cell: its own environment's in a merged document.
const std::vector<environment_fact>& environment_of(const run_document& run, const cell& c);

}  // namespace vrambench
