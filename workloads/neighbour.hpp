#pragma once
// Another application that takes memory of the device in mid-run and gives it back later, put into any workload.

#include "workloads/trace.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace vrambench {

struct neighbour_plan {
    std::uint64_t bytes = 0;
    std::uint64_t from_step = 1;             ///< 1-based: memory is taken when this step begins
    std::uint64_t to_step = 0;               ///< and given back when this one begins; 0: kept to the end of the trace
};

/// Reads `SIZE@step:FROM[..TO]`. Throws input_error that names --neighbour.
neighbour_plan parse_neighbour(std::string_view text);
std::string to_text(const neighbour_plan& plan);

/// `inner` with an external allocation (tag "neighbour") right after the step event `from_step` and its free after that of
/// `to_step`. The header's name and spec stay inner's. `external_ids` is that of inner's summary: the block gets the next id.
std::shared_ptr<const trace> with_neighbour(std::shared_ptr<const trace> inner, std::uint32_t external_ids, const neighbour_plan& plan);

}  // namespace vrambench
