#pragma once
// What one process measured: the cost of each driver call by size and situation, and a few sizes of the card.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vrambench::costs {

/// The situations in which a call was seen to cost something else; each is a column of a profile.
enum class situation : std::uint8_t {
    idle,       ///< the device idle, memory that was given back and is clean again
    growing,    ///< the device idle, many in a row without a free between
    loaded,     ///< kernels queued and running; the wait for them is taken off
    shared,     ///< a small block in memory that other blocks hold: nothing is taken or given back
    refused,    ///< out of memory, by the bytes that are free
};
inline constexpr int situations = 5;
const char* to_string(situation s);

/// Which cost. `bytes` is 0 for what has no size. Prices of the stream-ordered pool are called "pool.KEY", as in the
/// profile's pool_ns.
struct cost_key {
    std::string call;
    situation when = situation::idle;
    std::uint64_t bytes = 0;
    auto operator<=>(const cost_key&) const = default;
};

using samples = std::vector<std::int64_t>;       ///< picoseconds
/// The lower of the middle two; of one sample at least.
std::int64_t median(samples values);

struct cost_report {
    std::map<cost_key, std::int64_t> median_ps;      ///< picoseconds
    std::map<std::string, std::uint64_t> facts;      ///< sizes, counts and rates: free_bytes, raw_margin, ...
    std::map<std::string, std::string> words;        ///< device, driver, runtime, ...
    std::vector<std::string> notes;                  ///< what was seen or left out, one line each

    /// The median of `values`, at least 0; nothing where there are none.
    void add(const cost_key& key, samples values);
    void add(const std::string& call, samples values) { add({call, situation::idle, 0}, std::move(values)); }
    /// Picoseconds, or `otherwise` where it was not measured.
    std::int64_t at(const cost_key& key, std::int64_t otherwise = 0) const;
};

nlohmann::json to_json(const cost_report& report);
/// Throws input_error or the library's exception on anything that is not a report.
cost_report report_from(const nlohmann::json& j);

}  // namespace vrambench::costs
