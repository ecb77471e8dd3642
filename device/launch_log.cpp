#include "device/launch_log.hpp"

#include <algorithm>

namespace vrambench {

namespace {

/// Joins what overlaps or touches.
std::vector<std::pair<std::int64_t, std::int64_t>> joined(std::vector<std::pair<std::int64_t, std::int64_t>> all)
{
    std::sort(all.begin(), all.end());
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    for (const auto& i : all) {
        if (!out.empty() && i.first <= out.back().second)
            out.back().second = std::max(out.back().second, i.second);
        else
            out.push_back(i);
    }
    return out;
}

std::int64_t length(const std::vector<std::pair<std::int64_t, std::int64_t>>& disjoint)
{
    std::int64_t sum = 0;
    for (const auto& [begin, end] : disjoint) sum += end - begin;
    return sum;
}

}  // namespace

launch_log::launch_log(std::vector<launch_times> launches) : launches_(std::move(launches))
{
    std::sort(launches_.begin(), launches_.end(), [](const auto& a, const auto& b) { return a.ready < b.ready; });
    std::vector<interval> all;
    all.reserve(launches_.size());
    for (const auto& l : launches_) all.emplace_back(l.start, l.end);
    busy_ = joined(std::move(all));
}

std::int64_t launch_log::busy_ps() const { return length(busy_); }

std::int64_t launch_log::busy_within_ps(std::int64_t begin, std::int64_t end) const
{
    std::int64_t busy = 0;
    auto at = std::partition_point(busy_.begin(), busy_.end(), [&](const interval& i) { return i.second <= begin; });
    for (; at != busy_.end() && at->first < end; ++at) busy += std::min(end, at->second) - std::max(begin, at->first);
    return busy;
}

bool launch_log::is_busy_at(std::int64_t t) const
{
    const auto at = std::partition_point(busy_.begin(), busy_.end(), [&](const interval& i) { return i.second <= t; });
    return at != busy_.end() && at->first <= t;
}

std::int64_t launch_log::waiting_ps() const
{
    std::vector<interval> waits;
    for (const auto& l : launches_)
        if (l.start > l.ready && is_busy_at(l.ready)) waits.emplace_back(l.ready, l.start);
    return length(joined(std::move(waits)));
}

}  // namespace vrambench
