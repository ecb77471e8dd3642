#pragma once
// The profile that `sim:@FILE.json` reads, from measured costs.

#include "bench/costs/cost_summary.hpp"

#include <string>
#include <vector>

namespace vrambench::costs {

/// What the profile says of its own making.
struct calibration {
    std::vector<std::string> command;        ///< as typed
    std::string date;                        ///< 2026-11-30
    std::string name;                        ///< of the profile; empty: after the card
    std::uint64_t asked = 0;                 ///< processes
    bool interrupted = false;
    std::vector<std::string> failures;       ///< of processes that gave no answer, one line each
};

/// Strict JSON for people: one curve a line. What was not measured is absent, so that the simulator names it instead of
/// working with an invention.
std::string profile_text(const cost_summary& summary, const calibration& how);

}  // namespace vrambench::costs
