#pragma once
// Hands out address ranges that never overlap while they are held; a range that was given back serves the next request of
// its length, so that a long run does not use up the addresses.

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace vrambench::sim {

class address_places {
public:
    explicit address_places(std::uint64_t first) : next_(first) {}

    std::uint64_t take(std::uint64_t extent)
    {
        auto& places = free_[extent];
        if (places.empty()) {
            const std::uint64_t at = next_;
            next_ += extent;
            return at;
        }
        const std::uint64_t at = places.back();
        places.pop_back();
        return at;
    }
    void give(std::uint64_t at, std::uint64_t extent) { free_[extent].push_back(at); }

private:
    std::uint64_t next_;
    std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> free_;   ///< by extent, last given back first
};

}  // namespace vrambench::sim
