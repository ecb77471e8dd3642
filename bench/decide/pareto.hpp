#pragma once
// The Pareto front: what nothing else beats.

#include <cstddef>
#include <optional>
#include <vector>

namespace vrambench::decide {

/// Of each point (a list of criteria, less is better) the first other one that beats it: nowhere worse, and better by
/// more than the criterion's margin somewhere. None: the point is on the front.
std::vector<std::optional<std::size_t>> dominators(const std::vector<std::vector<double>>& points,
                                                   const std::vector<double>& margins);

}  // namespace vrambench::decide
