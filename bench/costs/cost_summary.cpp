#include "bench/costs/cost_summary.hpp"

#include <algorithm>

namespace vrambench::costs {

spread spread_of(samples values)
{
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const std::size_t n = values.size();
    const auto at = [&](std::size_t percent) { return values[(n * percent + 99) / 100 - 1]; };
    return {at(10), at(50), at(90), n};
}

const spread* cost_summary::find(const cost_key& key) const
{
    const auto it = ps.find(key);
    return it == ps.end() ? nullptr : &it->second;
}

std::vector<std::uint64_t> cost_summary::sizes(const std::string& call, situation when) const
{
    std::vector<std::uint64_t> found;
    for (auto it = ps.lower_bound({call, when, 0}); it != ps.end() && it->first.call == call && it->first.when == when; ++it)
        found.push_back(it->first.bytes);
    return found;
}

/// Processes differ in the margin that they see; none was seen to need less than the least of them.
std::int64_t fact_of(const std::string& key, samples values)
{
    return key.ends_with("_margin") ? *std::min_element(values.begin(), values.end()) : spread_of(std::move(values)).median;
}

cost_summary summarise(const std::vector<cost_report>& reports)
{
    cost_summary s;
    s.processes = reports.size();
    std::map<cost_key, samples> values;
    std::map<std::string, samples> facts;
    std::map<std::string, std::uint64_t> notes;
    for (const auto& r : reports) {
        for (const auto& [key, ps] : r.median_ps) values[key].push_back(ps);
        for (const auto& [key, value] : r.facts) facts[key].push_back(static_cast<std::int64_t>(value));
        for (const auto& note : r.notes) ++notes[note];
    }
    for (auto& [key, v] : values) s.ps[key] = spread_of(std::move(v));
    for (auto& [key, v] : facts) s.facts[key] = static_cast<std::uint64_t>(fact_of(key, std::move(v)));
    for (const auto& [note, n] : notes)
        s.notes.push_back(note + " (" + std::to_string(n) + " of " + std::to_string(reports.size()) + " processes)");
    if (!reports.empty()) s.words = reports.front().words;
    return s;
}

}  // namespace vrambench::costs
