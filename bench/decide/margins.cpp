#include "bench/decide/margins.hpp"

#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace vrambench {

namespace {

constexpr std::array defaults{
    default_margin{"added_ns_per_token", {0.005, margin::unit::share}, "of the base's time per token: what a user could notice at all"},
    default_margin{"device_bloat", {0.01, margin::unit::share}, "of the base's bloat: about the steps in which drivers give memory"},
};

/// What a file without histograms gives one value a process of (bench/decide/samples.hpp).
const std::vector<std::string> judged{"added_ns_per_token", "device_bloat",   "slowdown",           "pp_tokens_per_s",   "tg_tokens_per_s",
                                      "device_idle_ns",     "stall_ns",       "host_bound",         "peak_reserved_bytes", "end_reserved_bytes",
                                      "byte_seconds_ratio", "driver_calls"};

}  // namespace

std::span<const default_margin> default_margins() { return defaults; }

void check_judged_metric(const std::string& metric, const std::string& where)
{
    if (std::find(judged.begin(), judged.end(), metric) == judged.end())
        throw input_error(where + ": " + in_quotes(metric) + " cannot be judged" + did_you_mean(metric, judged) + " (" + joined(judged) + ")");
}

margin parse_margin(const std::string& text, const std::string& metric)
{
    const bool share = !text.empty() && text.back() == '%';
    const double value = parse_number(share ? text.substr(0, text.size() - 1) : text, "the margin of " + metric, 0, 1e15);
    return {share ? value / 100 : value, share ? margin::unit::share : margin::unit::absolute};
}

std::pair<std::string, margin> parse_margin_option(const std::string& text)
{
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw input_error("--margin: " + in_quotes(text) + " is no METRIC=MARGIN (added_ns_per_token=0.5%)");
    const std::string metric = text.substr(0, equals);
    check_judged_metric(metric, "--margin");
    return {metric, parse_margin(text.substr(equals + 1), metric)};
}

std::optional<margin> margin_for(const margin_table& typed, std::string_view metric, bool simulated)
{
    if (const auto found = typed.find(std::string(metric)); found != typed.end()) return found->second;
    for (const default_margin& d : defaults)
        if (d.metric == metric) return simulated ? margin{} : d.value;
    return std::nullopt;
}

double amount(const margin& m, double base, double scale)
{
    if (m.of == margin::unit::absolute) return m.value;
    return m.value * std::abs(scale > 0 ? scale : base);
}

std::string margin_words(const margin& m)
{
    return m.of == margin::unit::share ? exact_number(std::round(m.value * 1e8) / 1e6) + " %" : exact_number(m.value);
}

}  // namespace vrambench
