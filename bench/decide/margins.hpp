#pragma once
// The one table of margins: how large a difference must be before it matters. Metrics with a margin decide.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace vrambench {

struct margin {
    enum class unit { absolute, share };     ///< share: of the base's value; of the base's time per token for an added time
    double value = 0;                        ///< not negative; a share of 0.5 % is 0.005
    unit of = unit::absolute;
    bool operator==(const margin&) const = default;
};

struct default_margin {
    std::string_view metric;
    margin value;
    std::string_view why;
};

/// The primary metrics with their margins for measured values. What is simulated has none: it is compared exactly.
std::span<const default_margin> default_margins();

using margin_table = std::map<std::string, margin>;

/// "0.5%", "200", "0": a share or an amount in the metric's unit. Throws input_error that names `metric`.
margin parse_margin(const std::string& text, const std::string& metric);
/// "added_ns_per_token=0.5%" of a command line. Throws input_error, for a metric that cannot be judged, too.
std::pair<std::string, margin> parse_margin_option(const std::string& text);
/// Throws input_error where `metric` is not one that can be judged.
void check_judged_metric(const std::string& metric, const std::string& where);

/// The margin for a metric: the typed one; else the default, which is 0 for what is simulated; none: the metric is described.
std::optional<margin> margin_for(const margin_table& typed, std::string_view metric, bool simulated);

/// In the metric's unit. `base` is the base's value, `scale` its time per token (an added time's).
double amount(const margin& m, double base, double scale);

/// "0.5 %", "200 ns": for tables.
std::string margin_words(const margin& m);

}  // namespace vrambench
