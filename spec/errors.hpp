#pragma once
// Errors of what a user types or hands in. They end the program with exit code 2 and one line.

#include <stdexcept>
#include <string>

namespace vrambench {

/// Bad input: an unknown name, a malformed size, a truncated file. `what()` is one line that says what to do.
class input_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

}  // namespace vrambench
