#include "bench/clock_watch.hpp"

#include <algorithm>
#include <array>

namespace vrambench {

namespace {

/// What a card does of itself when nothing runs, and what its owner chose.
bool is_harmless(const std::string& holder)
{
    constexpr std::array harmless{"idle", "applications-setting", "display-setting"};
    return std::find(harmless.begin(), harmless.end(), holder) != harmless.end();
}

bool fell(std::uint64_t before, std::uint64_t after) { return after * 100 < before * 95; }

std::string fall(const char* which, std::uint64_t before, std::uint64_t after)
{
    return std::string("the ") + which + " clock fell from " + std::to_string(before) + " to " + std::to_string(after) + " MHz";
}

}  // namespace

std::optional<std::string> clocks_disturbed(const card_condition& before, const card_condition& after)
{
    for (const auto* reading : {&before, &after})
        for (const auto& holder : reading->held_by)
            if (!is_harmless(holder)) return "the card's clocks were held down (" + holder + ")";
    if (std::find(after.held_by.begin(), after.held_by.end(), "idle") != after.held_by.end()) return std::nullopt;
    if (fell(before.sm_mhz, after.sm_mhz)) return fall("SM", before.sm_mhz, after.sm_mhz);
    if (fell(before.memory_mhz, after.memory_mhz)) return fall("memory", before.memory_mhz, after.memory_mhz);
    return std::nullopt;
}

}  // namespace vrambench
