#pragma once
// The hazards found so far and the words for them. All of it is off the hot path: nothing here runs until something is
// wrong, and texts are made only for the hazards that are kept.

#include "device/device.hpp"
#include "device/observer.hpp"
#include "device/sim/hazard_loss.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace vrambench::sim {

enum class hazard_kind : std::uint8_t {
    reuse_before_ordered, unordered_use, free_before_ordered, released_in_use, released_live, overlap, use_after_free,
    stale_replay, outside_block, double_free, wrong_size, misaligned, too_small,
};

inline const char* to_string(hazard_kind kind)
{
    static constexpr std::array names = {
        "reuse-before-ordered", "unordered-use", "free-before-ordered", "released-in-use", "released-live", "overlap",
        "use-after-free", "stale-replay", "outside-block", "double-free", "wrong-size", "misaligned", "too-small",
    };
    return names[static_cast<std::size_t>(kind)];
}

/// Which kinds were reported of a block since it was handed out, so that one fault does not become a flood.
class reported_kinds {
public:
    /// True the first time.
    bool first(hazard_kind kind)
    {
        const auto bit = static_cast<std::uint16_t>(1U << static_cast<unsigned>(kind));
        if (bits_ & bit) return false;
        bits_ = static_cast<std::uint16_t>(bits_ | bit);
        return true;
    }

private:
    std::uint16_t bits_ = 0;
};

class hazard_log {
public:
    static constexpr std::size_t kept = 100;
    static constexpr std::uint64_t no_event = UINT64_MAX;

    const std::vector<hazard>& kept_hazards() const { return hazards_; }
    std::uint64_t count() const { return count_; }

    /// `text()` makes the message's part after "event N: ".
    template <class Text>
    void add(hazard_kind kind, std::uint64_t event, std::uint64_t earlier, Text text)
    {
        if (++count_ > kept) return;
        hazards_.push_back({to_string(kind), event, earlier, "event " + std::to_string(event) + ": " + text()});
    }

    /// For accesses to what is no block, where there is none to remember it by: true the first time for this `key`.
    bool first(hazard_kind kind, std::uint64_t key)
    {
        return seen_.size() < most_seen ? seen_.insert({kind, key}).second : !seen_.contains({kind, key});
    }

private:
    static constexpr std::size_t most_seen = 4096;           // beyond, repetitions are counted again
    std::vector<hazard> hazards_;
    std::uint64_t count_ = 0;
    std::set<std::pair<hazard_kind, std::uint64_t>> seen_;
};

// Phrases.

template <class... Parts>
std::string words(const Parts&... parts)
{
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

/// "0x1000+4096"
inline std::string span_text(std::uint64_t start, std::uint64_t bytes)
{
    std::ostringstream out;
    out << "0x" << std::hex << start << std::dec << '+' << bytes;
    return out.str();
}

inline std::string block_text(std::uint32_t block, std::uint64_t start, std::uint64_t bytes)
{
    return words("block ", block, " at ", span_text(start, bytes));
}

/// "free returns 0x1000+4096 to the driver"
inline std::string loss_text(memory_loss how, std::uint64_t start, std::uint64_t bytes)
{
    struct phrase {
        const char* verb;
        const char* rest;
    };
    static constexpr std::array phrases = {
        phrase{"free returns ", " to the driver"},
        phrase{"unmap returns ", " to the driver"},
        phrase{"pool_trim returns ", " to the driver"},
        phrase{"pool_destroy returns ", " to the driver"},
        phrase{"a synchronisation returns ", ", above the pool's threshold, to the driver"},
        phrase{"malloc takes ", " out of a pool for its own request"},
        phrase{"malloc_async takes ", " out of another pool for its own request"},
        phrase{"malloc_async remaps the memory of ", " elsewhere in its pool"},
        phrase{"malloc_async takes ", " away, to map it elsewhere in its pool or to return it above the pool's threshold"},
        phrase{"a free returns ", " to the driver, since its pool has more free than used"},
    };
    const phrase& p = phrases[static_cast<std::size_t>(how)];
    return words(p.verb, span_text(start, bytes), p.rest);
}

/// "event 7 on stream 1"
inline std::string place_text(std::uint64_t event, std::uint32_t stream)
{
    return words("event ", event, " on stream ", stream);
}

/// The edge that would have made it right.
inline std::string missing_edge(std::uint32_t from, std::uint32_t to)
{
    return words("; no event wait from stream ", from, " to stream ", to, " and no synchronisation between them");
}

}  // namespace vrambench::sim
