#pragma once
// What the driver's pool may cost before a list pool beats it, from counts alone: no time of a card that nobody has is
// needed.

#include "bench/decide/choice.hpp"
#include "device/sim/profile.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace vrambench::decide {

/// What a probe measured, or a profile says, of a card.
struct driver_costs {
    std::string source;                          ///< the file
    sim::profile prices;
};

/// Weighted sums over a mix, of one pass.
struct traffic_counts {
    double pairs = 0;                            ///< allocations, each with its free
    double synchronises = 0;                     ///< of the engine and of the pool
    double list_allocations = 0, list_frees = 0; ///< driver calls of the list pool
    double list_synchronises = 0;                ///< that the list pool makes beyond the other: its flushes
    double list_bytes = 0;                       ///< that the list pool holds at most
    double most_blocks = 0;                      ///< that the list pool can have to look through for one request
};

/// In microseconds, for a driver allocation that takes `driver_us`, and a driver free and a flush's synchronise as much
/// each.
struct threshold {
    double driver_us = 0;
    /// The pool loses where a warm pair costs this much more than the list pool's own.
    double pair_us = 0;
    /// Or where a synchronise costs this much more at threshold max; none without any.
    std::optional<double> synchronise_us;
};

struct break_even {
    std::size_t list = 0, pool = 0;              ///< allocators
    std::vector<std::size_t> situations;         ///< in which both completed
    traffic_counts cold, steady;
    bool has_steady = false;
};

/// pool time = pairs x pair + synchronises x synchronise, list time = driver calls x their cost, bookkeeping aside: the
/// pool can only win where both thresholds are kept.
threshold threshold_at(const traffic_counts& t, double driver_us);

/// The same with measured costs: a driver call of the list pool's mean size while it grows, and what a warm pair costs
/// more than a look through the whole list.
struct settled {
    threshold at;
    double pair_us = 0;
    bool list_wins() const { return pair_us >= at.pair_us; }
};
settled settle(const traffic_counts& t, const driver_costs& costs);

/// Every list pool that finishes most of what list pools finish against every driver's pool among the candidates.
std::vector<break_even> break_evens(const contest& c, const std::vector<double>& weights);

}  // namespace vrambench::decide
