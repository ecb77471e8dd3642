#pragma once
// Errors of what a user types or hands in. They end the program with exit code 2 and one line.

#include <stdexcept>
#include <string>
#include <string_view>

namespace vrambench {

/// Bad input: an unknown name, a malformed size, a truncated file. `what()` is one line that says what to do.
class input_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// `text` in single quotes for a one-line message: control characters become '?', long text is cut.
inline std::string in_quotes(std::string_view text)
{
    constexpr std::size_t longest = 120;
    std::string out = "'";
    for (const char c : text.substr(0, longest)) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
    out += text.size() > longest ? "...'" : "'";
    return out;
}

}  // namespace vrambench
