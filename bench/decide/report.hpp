#pragma once
// A recommendation as a page, and as JSON.

#include "bench/decide/page.hpp"
#include "bench/decide/recommendation.hpp"

#include <nlohmann/json.hpp>

namespace vrambench::decide {

/// Adds one platform's recommendation to a page: the answer first, then each step of the method, then what the names
/// stand for.
void write_report(page& to, const platform& p, const recommendation& r, const question& q);

/// The same as data; every claim names its cells.
nlohmann::json report_json(const platform& p, const recommendation& r, const question& q);

/// The command that settles a break-even on a card of the platform's kind.
std::string probe_command(const platform& p);

/// Driver costs for which thresholds are shown: assumptions, not measurements. Microseconds.
inline constexpr double assumed_driver_us[] = {10, 100, 1000};

}  // namespace vrambench::decide
