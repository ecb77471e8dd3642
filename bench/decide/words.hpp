#pragma once
// Numbers as sentences and tables of a recommendation have them; "-" where nothing is known.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>

namespace vrambench::decide {

inline std::string percent(double share, int digits = 2)
{
    if (std::isnan(share)) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.*f %%", digits, share * 100);
    return text;
}

inline std::string factor(double f)
{
    if (std::isnan(f)) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.2fx", f);
    return text;
}

/// "1 situation", "2 situations", "3 processes".
inline std::string counted(std::size_t n, const std::string& one, const std::string& many)
{
    return std::to_string(n) + " " + (n == 1 ? one : many);
}

}  // namespace vrambench::decide
