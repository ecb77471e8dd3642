#pragma once
// What CLI11 leaves out when a command line is wrong: the nearest name. It also checks what is missing before what is too
// much, so that a misspelt command reads as none at all.

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace vrambench {

/// "unknown option '--alocator', did you mean '--allocator'?" for the first word, in typed order, that nothing accepts.
/// Empty where all are accepted.
std::string unexpected_word(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace vrambench
