// Peers: memory of one device used by another. What the driver states of each ordered pair, and whether a block that is copied over
// arrives as it was sent.

#include "bench/probe/probes.hpp"
#include "spec/units.hpp"

#include <algorithm>

namespace vrambench::probing {

namespace {

constexpr int most_devices = 4;                  // every ordered pair of these: 12 copies
constexpr std::uint64_t copied = 32 * MiB;       // more than a driver stages at once

answer judge(const peer_trial& t)
{
    const std::string stated = t.stated ? "stated, but " : "not stated, and ";
    const std::string words = std::to_string(t.wrong_words) + " of " + std::to_string(copied / sizeof(std::uint64_t)) + " words";
    if (t.wrong_words) return {stated + "the copy arrives wrong", level::broken, words + " are wrong in a copy of " + human_size(copied)};
    if (!t.copy_refused.empty()) return {stated + "a copy fails", level::broken, t.copy_refused};
    if (!t.access_refused.empty()) return {"stated, but cannot be enabled", level::broken, t.access_refused};
    const std::string intact = "a copy of " + human_size(copied) + " arrives intact";
    if (!t.stated) return {"not stated", level::open, intact + " all the same"};
    return {"works", level::fine, intact + ", with access enabled"};
}

int device_count(const device_info& info)
{
    const auto devices = info.facts.find("devices");
    return devices == info.facts.end() ? 1 : std::stoi(devices->second);
}

}  // namespace

void probe_peers(session& s)
{
    const int devices = std::min(device_count(s.dev.info()), most_devices);
    if (devices < 2) s.ask("peers.access", "memory of another device", [&]() -> answer { throw unsupported_error("there is one device"); });
    for (int to = 0; to < devices; ++to)
        for (int from = 0; from < devices; ++from)
            if (from != to)
                s.ask("peers." + std::to_string(from) + "-to-" + std::to_string(to),
                      "memory of device " + std::to_string(from) + " from device " + std::to_string(to),
                      [&] { return judge(s.dev.try_peer(to, from, copied)); });
}

}  // namespace vrambench::probing
