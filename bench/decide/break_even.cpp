#include "bench/decide/break_even.hpp"

#include <algorithm>

namespace vrambench::decide {

namespace {

double calls(const call_numbers& n, driver_call kind) { return as_double(n[static_cast<std::size_t>(kind)]); }

void add(traffic_counts& t, double weight, double pairs, std::uint64_t list_bytes, const call_numbers& list,
         const call_numbers& pool)
{
    t.list_bytes += weight * static_cast<double>(list_bytes);
    t.most_blocks = std::max(t.most_blocks, calls(list, driver_call::malloc));
    t.pairs += weight * pairs;
    t.synchronises += weight * calls(pool, driver_call::sync);
    t.list_allocations += weight * calls(list, driver_call::malloc);
    t.list_frees += weight * calls(list, driver_call::free);
    t.list_synchronises += weight * std::max(0.0, calls(list, driver_call::sync) - calls(pool, driver_call::sync));
}

bool is_list(const candidate& a) { return a.name.starts_with("legacy"); }
bool is_pool(const candidate& a) { return a.name == "async"; }

std::optional<break_even> compare(const contest& c, const std::vector<double>& weights, std::size_t list, std::size_t pool)
{
    break_even b;
    b.list = list;
    b.pool = pool;
    for (std::size_t i = 0; i < c.situations.size(); ++i) {
        const situation& s = c.where->situations[c.situations[i]];
        const evidence &l = s.by_allocator[list], &p = s.by_allocator[pool];
        if (!l.completed() || !p.completed()) continue;
        b.situations.push_back(c.situations[i]);
        add(b.cold, weights[i], static_cast<double>(s.alloc_calls), l.peak_bytes, l.cold_calls, p.cold_calls);
        add(b.steady, weights[i], static_cast<double>(s.alloc_calls), l.peak_bytes, l.steady_calls, p.steady_calls);
        b.has_steady = b.has_steady || l.has_steady;
    }
    if (b.situations.empty() || b.cold.pairs == 0) return std::nullopt;
    return b;
}

/// Situations of the contest that it did not finish: a pool that gives up earlier is no default, whatever it costs.
std::size_t unfinished(const contest& c, std::size_t allocator)
{
    return static_cast<std::size_t>(std::count_if(c.situations.begin(), c.situations.end(), [&](std::size_t s) {
        return !c.where->situations[s].by_allocator[allocator].completed();
    }));
}

}  // namespace

threshold threshold_at(const traffic_counts& t, double driver_us)
{
    const double list_us = (t.list_allocations + t.list_frees + t.list_synchronises) * driver_us;
    threshold h{driver_us, list_us / t.pairs, std::nullopt};
    if (t.synchronises > 0) h.synchronise_us = list_us / t.synchronises;
    return h;
}

settled settle(const traffic_counts& t, const driver_costs& costs)
{
    const auto us = [](double picoseconds) { return picoseconds / 1e6; };
    const sim::profile& p = costs.prices;
    const double mean_block = t.list_allocations > 0 ? t.list_bytes / t.list_allocations : 0;
    settled s;
    s.at = threshold_at(t, us(static_cast<double>(p.malloc.growing.at(static_cast<std::uint64_t>(mean_block)))));
    s.pair_us = us(static_cast<double>(p.pool.own + p.pool.free + p.pool.stream_gap) -
                   t.most_blocks * static_cast<double>(p.work_unit));
    return s;
}

std::vector<break_even> break_evens(const contest& c, const std::vector<double>& weights)
{
    std::size_t least = SIZE_MAX;
    for (const std::size_t a : c.candidates)
        if (is_list(c.where->allocators[a])) least = std::min(least, unfinished(c, a));
    std::vector<break_even> all;
    for (const std::size_t list : c.candidates) {
        if (!is_list(c.where->allocators[list]) || unfinished(c, list) != least) continue;
        for (const std::size_t pool : c.candidates)
            if (is_pool(c.where->allocators[pool]))
                if (auto b = compare(c, weights, list, pool)) all.push_back(std::move(*b));
    }
    return all;
}

}  // namespace vrambench::decide
