#pragma once
// Columns of text tables.

#include <cstddef>
#include <string>

namespace vrambench {

/// That a text takes on a terminal: code points, not bytes.
std::size_t columns(const std::string& s);

/// `s` with spaces behind it (in front of it) up to `width` columns; a longer one as it is.
std::string left(const std::string& s, std::size_t width);
std::string right(const std::string& s, std::size_t width);

/// As left(), with one space at least.
std::string column(const std::string& s, std::size_t width);

std::string without_end_spaces(std::string s);

}  // namespace vrambench
