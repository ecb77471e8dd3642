#include "bench/text_columns.hpp"

#include <algorithm>

namespace vrambench {

namespace {

std::string padding(const std::string& s, std::size_t width) { return std::string(width - std::min(width, columns(s)), ' '); }

}  // namespace

std::size_t columns(const std::string& s)
{
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };    // a code point
    return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), begins));
}

std::string left(const std::string& s, std::size_t width) { return s + padding(s, width); }
std::string right(const std::string& s, std::size_t width) { return padding(s, width) + s; }

std::string column(const std::string& s, std::size_t width)
{
    return columns(s) < width ? left(s, width) : s + ' ';
}

std::string without_end_spaces(std::string s)
{
    s.erase(s.find_last_not_of(' ') + 1);
    return s;
}

}  // namespace vrambench
