#include "bench/fit/search.hpp"

#include <algorithm>
#include <map>

namespace vrambench::fit {

namespace {

/// Tries every point once.
class memory_of {
public:
    explicit memory_of(const predicate& passes) : passes_(passes) {}

    bool operator()(std::uint64_t point)
    {
        const auto known = tried_.find(point);
        if (known != tried_.end()) return known->second;
        return tried_[point] = passes_(point);
    }
    const std::map<std::uint64_t, bool>& tried() const { return tried_; }

private:
    const predicate& passes_;
    std::map<std::uint64_t, bool> tried_;
};

/// Two points that end differently are brought together until they are neighbours.
void close_in(std::uint64_t low, std::uint64_t high, memory_of& passes)
{
    const bool low_passes = passes(low);
    while (high - low > 1) {
        const std::uint64_t middle = low + (high - low) / 2;
        (passes(middle) == low_passes ? low : high) = middle;
    }
}

void check(const checks& where, std::uint64_t found, std::uint64_t last, memory_of& passes)
{
    const std::uint64_t stride = std::max<std::uint64_t>(where.stride, 1);
    const std::uint64_t end = std::min(where.last, last);
    for (std::uint64_t p = found; p <= end; p += stride) passes(p);
    for (std::uint64_t p = found; p >= where.first + stride;) passes(p -= stride);
    if (where.first <= found) passes(where.first);
}

/// Makes the boundary between any two neighbours that were tried and end differently exact.
void sharpen(memory_of& passes)
{
    const auto tried = passes.tried();    // a copy: closing in adds to it
    for (auto right = tried.begin(); right != tried.end(); ++right) {
        if (right == tried.begin()) continue;
        const auto left = std::prev(right);
        if (left->second != right->second) close_in(left->first, right->first, passes);
    }
}

std::vector<island> islands_in(const std::map<std::uint64_t, bool>& tried)
{
    std::vector<island> found;
    bool open = false;
    for (const auto& [point, passed] : tried) {
        if (passed && open) found.back().to = point;
        else if (passed) found.push_back({point, point});
        open = passed;
    }
    return found;
}

std::optional<std::uint64_t> smallest_in(const std::map<std::uint64_t, bool>& tried)
{
    for (const auto& [point, passed] : tried)
        if (passed) return point;
    return std::nullopt;
}

}  // namespace

answer smallest_passing(std::uint64_t last, const predicate& passes, const check_rule& rule)
{
    memory_of known(passes);
    if (known(last)) {
        if (last > 0 && !known(0)) close_in(0, last, known);
    } else {
        check({last / points_of_a_failing_range + 1, 0, last}, last, last, known);
    }
    // What is found lower down is checked like the first find, until nothing lower turns up.
    std::optional<std::uint64_t> checked;
    for (auto found = smallest_in(known.tried()); found && found != checked; found = smallest_in(known.tried())) {
        checked = found;
        check(rule(*found), *found, last, known);
        sharpen(known);
    }
    answer a;
    a.smallest = smallest_in(known.tried());
    a.islands = islands_in(known.tried());
    a.monotonic = a.islands.size() <= 1 && (a.islands.empty() || a.islands.back().to == known.tried().rbegin()->first);
    a.tried = known.tried().size();
    return a;
}

}  // namespace vrambench::fit
