#pragma once
// How much of the simulated card's memory is taken. It counts bytes only; who owns which address is the business of the
// raw heap, the pools and the virtual memory manager.

#include <algorithm>
#include <cstdint>

namespace vrambench::sim {

class physical_memory {
public:
    explicit physical_memory(std::uint64_t free_bytes) : free_(free_bytes), lowest_(free_bytes) {}

    std::uint64_t free_bytes() const { return free_; }
    std::uint64_t lowest_free_bytes() const { return lowest_; }
    void reset_low_water() { lowest_ = free_; }

    /// Takes `bytes` if at least `beside` bytes stay free after it.
    bool take(std::uint64_t bytes, std::uint64_t beside = 0)
    {
        if (free_ < bytes || free_ - bytes < beside) return false;
        free_ -= bytes;
        lowest_ = std::min(lowest_, free_);
        return true;
    }
    void give(std::uint64_t bytes) { free_ += bytes; }

private:
    std::uint64_t free_;
    std::uint64_t lowest_;
};

}  // namespace vrambench::sim
