#pragma once
// How much of the simulated card's memory is taken, and how much of what is free can be handed out at once. It counts
// bytes only; who owns which address is the business of the raw heap, the pools and the virtual memory manager.

#include <algorithm>
#include <cstdint>
#include <utility>

namespace vrambench::sim {

/// Memory that was given back is cleaned in the background before it is handed out again, and a request that the clean part
/// cannot serve waits. Inferred from an H200 (2026-11-30): with 420 MiB free, malloc and free of 300 MiB in a loop took
/// 7.7 ms each time, 0.3 ms with a pause of 1 ms between; 100 GiB asked for again at once took 190 ms.
struct cleaning {
    std::int64_t wait_ps = 0;                ///< the least that such a request waits
    std::uint64_t bytes_per_second = 0;      ///< of the cleaning; 0: not modelled, all free memory is clean
};

class physical_memory {
public:
    /// All of it is clean. `now_ps`, the virtual time, outlives it; null where nothing is cleaned.
    explicit physical_memory(std::uint64_t free_bytes, const cleaning& how = {}, const std::int64_t* now_ps = nullptr)
        : free_(free_bytes), lowest_(free_bytes), how_(how), now_ps_(now_ps)
    {
    }

    std::uint64_t free_bytes() const { return free_; }
    std::uint64_t lowest_free_bytes() const { return lowest_; }
    void reset_low_water() { lowest_ = free_; }

    /// Takes `bytes` if at least `beside` bytes stay free after it.
    bool take(std::uint64_t bytes, std::uint64_t beside = 0)
    {
        if (free_ < bytes || free_ - bytes < beside) return false;
        if (how_.bytes_per_second) wait_until_clean(bytes);
        free_ -= bytes;
        lowest_ = std::min(lowest_, free_);
        return true;
    }
    void give(std::uint64_t bytes)
    {
        free_ += bytes;
        if (how_.bytes_per_second) clean_at_ps_ = std::max(clean_at_ps_, *now_ps_) + cleaning_time(bytes);
    }

    /// How long the requests since the last call have to wait; the caller lets that time pass.
    std::int64_t take_wait_ps() { return std::exchange(wait_ps_, 0); }

private:
    std::int64_t cleaning_time(std::uint64_t bytes) const
    {
        return static_cast<std::int64_t>(static_cast<__int128>(bytes) * 1'000'000'000'000 / how_.bytes_per_second);
    }
    void wait_until_clean(std::uint64_t bytes)
    {
        const std::int64_t left = clean_at_ps_ - (*now_ps_ + wait_ps_);
        if (left <= 0) return;
        const auto unclean = static_cast<std::uint64_t>(static_cast<__int128>(left) * how_.bytes_per_second / 1'000'000'000'000);
        if (bytes <= free_ - std::min(unclean, free_)) return;
        wait_ps_ += std::max(how_.wait_ps, left);
        clean_at_ps_ = 0;
    }

    std::uint64_t free_;
    std::uint64_t lowest_;
    cleaning how_;
    const std::int64_t* now_ps_;
    std::int64_t clean_at_ps_ = 0;           ///< when all that was given back will be clean
    std::int64_t wait_ps_ = 0;
};

}  // namespace vrambench::sim
