#include "bench/decide/weights.hpp"

#include "bench/benchmark_bridge.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>

namespace vrambench::decide {

namespace {

struct weight {
    std::string pattern;
    double value;
};

weight parse_weight(const std::string& text)
{
    const std::size_t at = text.rfind('=');
    if (at == std::string::npos || at == 0)
        throw input_error("--weights " + in_quotes(text) + ": write PATTERN=NUMBER, as 'kv=q8_0=3'");
    const double value = parse_number(text.substr(at + 1), "--weights " + text.substr(0, at), 0, 1e6);
    if (!(value > 0))
        throw input_error("--weights " + in_quotes(text) + ": a weight is above 0; --filter leaves situations out");
    return {text.substr(0, at), value};
}

}  // namespace

void weigh(std::vector<platform>& platforms, const std::vector<std::string>& weights)
{
    for (const std::string& text : weights) {
        const weight w = parse_weight(text);
        const name_filter matches(w.pattern);
        bool matched = false;
        for (platform& p : platforms)
            for (situation& s : p.situations) {
                if (!matches.matches(s.key)) continue;
                s.weight = w.value;
                matched = true;
            }
        if (!matched)
            throw input_error("--weights " + in_quotes(text) + " matches no situation; the end of a report names them all");
    }
}

void keep_only(std::vector<platform>& platforms, const std::string& pattern)
{
    const name_filter matches(pattern);
    for (platform& p : platforms) std::erase_if(p.situations, [&](const situation& s) { return !matches.matches(s.key); });
    const bool none = std::all_of(platforms.begin(), platforms.end(),
                                  [](const platform& p) { return p.situations.empty(); });
    if (none)
        throw input_error("--filter " + in_quotes(pattern) + " matches no situation; the end of a report names them all");
}

}  // namespace vrambench::decide
