#pragma once
// Errors of what a user types or hands in. They end the program with exit code 2 and one line.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace vrambench {

/// Bad input: an unknown name, a malformed size, a truncated file. `what()` is one line that says what to do.
class input_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// `text` as one line that does nothing to a terminal: control characters become '?'. What is longer than `longest` bytes
/// is cut, never within a UTF-8 character.
inline std::string printable(std::string_view text, std::size_t longest = std::string_view::npos)
{
    std::size_t end = text.size() < longest ? text.size() : longest;
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    std::string out(text.substr(0, end));
    for (char& c : out)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
    return end < text.size() ? out + "..." : out;
}

/// `text` in single quotes for a one-line message.
inline std::string in_quotes(std::string_view text) { return "'" + printable(text, 120) + "'"; }

}  // namespace vrambench
