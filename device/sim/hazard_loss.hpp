#pragma once
// Why memory is not where it was any more, for the words of a report.

#include <cstdint>

namespace vrambench::sim {

enum class memory_loss : std::uint8_t {
    free,
    unmap,
    trim,
    destroy,             ///< of its pool
    threshold,           ///< of its pool, at a synchronisation
    raw_request,         ///< somebody's malloc needed it, and its pool had it free
    other_pool,          ///< an allocation in another pool needed it
    remap,               ///< an allocation in its own pool needed the chunks elsewhere
    own_pool,            ///< an allocation in its own pool: a remap, or the threshold after a failed growth
    pressure,            ///< a free that found more memory free than used (HIP)
};

}  // namespace vrambench::sim
