#pragma once
// What the processes of one calibration measured, together: every cost with its spread over processes.

#include "bench/costs/cost_report.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace vrambench::costs {

/// Over the medians of the processes, nearest rank.
struct spread {
    std::int64_t p10 = 0, median = 0, p90 = 0;
    std::uint64_t processes = 0;
};
spread spread_of(samples values);

struct cost_summary {
    std::map<cost_key, spread> ps;                   ///< picoseconds
    std::map<std::string, std::uint64_t> facts;      ///< medians
    std::map<std::string, std::string> words;        ///< of the first process
    std::vector<std::string> notes;                  ///< each once, with the number of processes that said so
    std::uint64_t processes = 0;                     ///< that answered

    const spread* find(const cost_key& key) const;
    /// The sizes at which `call` was measured in this situation, rising.
    std::vector<std::uint64_t> sizes(const std::string& call, situation when) const;
};
cost_summary summarise(const std::vector<cost_report>& reports);

}  // namespace vrambench::costs
