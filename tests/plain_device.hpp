#pragma once
// A simulated card with simple known prices, for tests that name figures: the shipped profile is measured, and measured anew.

#include <string>

namespace vrambench::test {

/// The profile's file: no margin, nothing cleaned, no price of its own for shared blocks, refusals, trims or stream gaps.
inline const std::string plain_profile_path = VRAMBENCH_PLAIN_PROFILE;

/// Its device spec, with `keys` (`vram=1GiB`) where they are given.
inline std::string plain_device(const std::string& keys = "")
{
    return "sim:@" + plain_profile_path + (keys.empty() ? "" : "," + keys);
}

}  // namespace vrambench::test
