#pragma once
// The one table of what is measured: names, units, directions. The result file, its schema and the tables use it.

#include <cstdint>
#include <span>
#include <string_view>

namespace vrambench {

enum class better : std::uint8_t { lower, higher, none };
const char* to_string(better b);

struct metric_info {
    std::string_view name;
    std::string_view unit;
    better direction;
    std::string_view help;
};

/// All metrics, in the order in which they are shown.
std::span<const metric_info> metrics();

/// The metric of that name; throws std::logic_error for a name that the table lacks.
const metric_info& metric(std::string_view name);

}  // namespace vrambench
