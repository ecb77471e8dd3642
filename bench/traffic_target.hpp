#pragma once
// What `target=auto` of a workload stands for: the card whose buffer sizes and kernel times the traffic is made for.

#include "device/device.hpp"

#include <string>

namespace vrambench {

/// A shipped target of that architecture and multiprocessor count, else the card's figures as text; h200 where the
/// architecture is not known.
std::string card_target(const device_info& info);

/// The shipped target that has the name of the simulated card, else h200.
std::string simulated_target(const std::string& name);

}  // namespace vrambench
