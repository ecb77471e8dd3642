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

struct run_document {
    std::vector<std::string> command;
    std::vector<environment_fact> environment;
    std::uint64_t plan_seed = 1;
    bool finished = false;                   ///< false between repetitions, and where a budget left some out
    std::vector<cell> cells;                 ///< references among them
};

}  // namespace vrambench
