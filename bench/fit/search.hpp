#pragma once
// The search behind `vrambench fit`: pure functions over a predicate, which knows nothing of allocators.
//
// Success need not be monotonic: a pool that fails with some limit may complete with a smaller one. So bisection finds a
// boundary, and what lies around it is then checked point by point.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace vrambench::fit {

using predicate = std::function<bool(std::uint64_t)>;

/// Where to look once bisection has found a point that passes.
struct checks {
    std::uint64_t stride = 1;            ///< every so many points
    std::uint64_t first = 0, last = 0;   ///< from this one up to that one
};
using check_rule = std::function<checks(std::uint64_t found)>;

/// Points `from` to `to`, all of those that were tried between them pass.
struct island {
    std::uint64_t from = 0, to = 0;
    bool operator==(const island&) const = default;
};

struct answer {
    std::optional<std::uint64_t> smallest;   ///< the smallest point known to pass; none: no point that was tried does
    bool monotonic = true;                   ///< every point that was tried beyond `smallest` passes
    std::vector<island> islands;             ///< ascending, the first begins at `smallest`; their ends are exact
    std::uint64_t tried = 0;                 ///< different points
};

/// Tried of a range whose end fails.
inline constexpr std::uint64_t points_of_a_failing_range = 64;

/// The smallest point of 0 ... last that passes. Bisection, then `rule` says which points to check: a point that passes
/// below what was found moves the answer there, and the ends of every island are found by bisection again. With a stride
/// of 1 from the first point on, the answer is that of a scan of all points up to checks::last. Where `last` itself fails,
/// 64 points of the whole range are tried instead of a bisection.
answer smallest_passing(std::uint64_t last, const predicate& passes, const check_rule& rule);

}  // namespace vrambench::fit
