#pragma once
// Margins for CI, from a file that lives beside the code it guards.

#include "bench/decide/margins.hpp"
#include "bench/plan.hpp"

#include <memory>
#include <string>
#include <vector>

namespace vrambench {

class name_filter;

inline constexpr const char* thresholds_schema = "vrambench.thresholds/1";

/// {"schema":"vrambench.thresholds/1", "margins":{"added_ns_per_token":"1%"},
///  "where":[{"filter":"limit:64MiB", "margins":{"device_bloat":"0"}}]}
/// Later entries of `where` come before earlier ones, and these before `margins`; a filter is matched as --benchmark_filter is.
class thresholds {
public:
    thresholds();
    explicit thresholds(margin_table typed);
    ~thresholds();
    thresholds(thresholds&&) noexcept;
    thresholds& operator=(thresholds&&) noexcept;

    /// What was typed on the command line comes before everything in the file.
    margin_table of(const cell& c) const;

    /// A note for each filter of `where` that matches none of these benchmark names.
    std::vector<std::string> without_cells(const std::vector<std::string>& names) const;

    /// Throws input_error with one line for a file that is missing, no JSON, not of this form, or names an unknown metric.
    static thresholds read(const std::string& path, margin_table typed);

private:
    struct rule {
        std::string typed;
        std::unique_ptr<name_filter> filter;
        margin_table margins;
    };
    margin_table typed_, margins_;
    std::vector<rule> where_;
};

}  // namespace vrambench
