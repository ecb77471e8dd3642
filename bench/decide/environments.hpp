#pragma once
// Whether two runs can be compared at all, and what beside the allocators may explain a difference between them.

#include "bench/run_document.hpp"

#include <string>
#include <vector>

namespace vrambench {

/// One line for each fact of the machines and programs that differs and can move a time or a byte. What is simulated does not
/// depend on the machine: only the program counts there. Throws input_error where no device is in both runs: a simulated
/// device against a card, or two kinds of card. `base_name` and `other_name` are what the lines call them.
std::vector<std::string> differences(const run_document& base, const std::string& base_name, const run_document& other,
                                     const std::string& other_name);

}  // namespace vrambench
