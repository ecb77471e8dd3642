#pragma once
// Whether a card's clocks make a timed repetition unfit for use.

#include "device/device.hpp"

#include <optional>
#include <string>

namespace vrambench {

/// The reason, from readings before and after; none where both are as they should be. Two things disturb: something other
/// than idleness or a setting held the clocks at either reading (a power cap, heat), or the SM or memory clock was more than
/// 5 % lower afterwards, unless the card had gone idle by then.
std::optional<std::string> clocks_disturbed(const card_condition& before, const card_condition& after);

}  // namespace vrambench
