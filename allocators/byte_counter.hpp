#pragma once
// The byte counters that most policies keep: what they hold of the driver and what of it is in the caller's hands.

#include "allocators/allocator.hpp"

#include <algorithm>
#include <cstdint>

namespace vrambench {

/// Adds to an allocator_stats; `reserved` is the allocator's own counter, passed in so that there is one truth.
class byte_counter {
public:
    void handed_out(std::uint64_t bytes) { peak_live_ = std::max(peak_live_, live_ += bytes); }
    /// `reserved`: what is held after it. Only here and in reserved_is can more become unused than ever before.
    void taken_back(std::uint64_t bytes, std::uint64_t reserved)
    {
        live_ -= bytes;
        peak_cached_ = std::max(peak_cached_, reserved - std::min(reserved, live_));
    }
    void reserved_is(std::uint64_t reserved)
    {
        peak_reserved_ = std::max(peak_reserved_, reserved);
        peak_cached_ = std::max(peak_cached_, reserved - std::min(reserved, live_));
    }
    void failed() { ++failures_; }
    std::uint64_t live() const { return live_; }

    allocator_stats stats(std::uint64_t reserved) const
    {
        allocator_stats s;
        s.live = live_, s.peak_live = peak_live_;
        s.reserved = reserved, s.peak_reserved = peak_reserved_;
        s.cached = reserved - std::min(reserved, live_), s.peak_cached = std::max(peak_cached_, s.cached);
        s.failures = failures_;
        return s;
    }

private:
    std::uint64_t live_ = 0, peak_live_ = 0, peak_reserved_ = 0, peak_cached_ = 0, failures_ = 0;
};

}  // namespace vrambench
