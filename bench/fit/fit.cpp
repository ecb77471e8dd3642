#include "bench/fit/fit.hpp"

#include "bench/fit/forecast.hpp"
#include "bench/remote.hpp"
#include "bench/runner.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <chrono>
#include <map>

namespace vrambench::fit {

namespace {

constexpr std::uint64_t most_values = 1'000'000;
constexpr int most_attempts = 3;

std::uint64_t percent(std::uint64_t value, std::uint64_t p) { return value / 100 * p + value % 100 * p / 100; }

repetition run_once(const cell& c, role what, const run_controls& controls)
{
    if (c.on.simulated) return run_repetition(c, controls, what);
    repetition r = run_in_child(c, what, controls);
    for (int n = 1; r.disturbed && n < most_attempts; ++n) r = run_in_child(c, what, controls);
    return r;
}

/// Whether nobody could serve the trace, known without running it: what is resident stays beside the most that is alive.
bool is_hopeless(const cell& c)
{
    const std::uint64_t needed = c.workload->summary.max_live_bytes + c.resident_bytes;
    return c.vram_limit_bytes && needed > *c.vram_limit_bytes;
}

/// Of any limit that is less than max live.
outcome below_max_live()
{
    outcome o;
    o.what = status::oom;
    o.cause = "live";
    return o;
}

outcome hopeless(const cell& c)
{
    outcome o = below_max_live();
    o.wanted_bytes = c.workload->summary.max_live_bytes + c.resident_bytes;
    o.message = human_size(o.wanted_bytes) + " are needed at once, the limit is " + human_size(*c.vram_limit_bytes);
    return o;
}

/// Tries cells that differ in one value and remembers how each ended.
class trials {
public:
    trials(const runner& run, const run_forecast& expect, std::uint64_t last, const check_rule& rule)
        : run_(run), expect_(expect), left_(last, rule)
    {
    }

    const outcome& end_of(std::uint64_t value, const cell& c)
    {
        const auto known = ends_.find(value);
        if (known != ends_.end()) return known->second;
        expect_(left_.left());
        outcome& end = ends_[value] = is_hopeless(c) ? hopeless(c) : run_(c, false).end;
        left_.tried(value, end.what == status::completed);
        return end;
    }
    std::optional<outcome> known(std::uint64_t value) const
    {
        const auto found = ends_.find(value);
        return found == ends_.end() ? std::nullopt : std::optional<outcome>(found->second);
    }

private:
    const runner& run_;
    const run_forecast& expect_;
    expected_points left_;
    std::map<std::uint64_t, outcome> ends_;
};

std::uint64_t limit_step(const cell& c) { return (c.on.simulated ? 1 : 16) * MiB; }

/// Limits as points: point i is `floor` + i resolutions.
struct limit_scale {
    std::uint64_t floor = 0, step = 0;

    std::uint64_t limit(std::uint64_t point) const { return floor + point * step; }
    std::uint64_t point(std::uint64_t limit) const { return limit <= floor ? 0 : (limit - floor) / step; }
};

checks around_limit(const limit_scale& s, std::uint64_t found, bool simulated)
{
    const std::uint64_t limit = s.limit(found);
    const std::uint64_t last = s.point(percent(limit, 130));
    if (simulated) return {std::max<std::uint64_t>(1, percent(limit, 1) / s.step), 0, last};
    return {std::max<std::uint64_t>(1, percent(limit, 10) / s.step), found, last};
}

/// The largest value is the smallest point when points are counted from the largest value down.
struct value_scale {
    std::uint64_t from = 0, step = 0, last = 0;

    std::uint64_t value(std::uint64_t point) const { return from + (last - point) * step; }
    /// Of the largest value that is at most `wanted`.
    std::uint64_t point(std::uint64_t wanted) const
    {
        return last - std::min(last, wanted < from ? 0 : (wanted - from) / step);
    }
};

checks around_value(const value_scale& s, std::uint64_t found, bool simulated)
{
    const std::uint64_t value = s.value(found);
    const std::uint64_t last = s.point(value / 13 * 10 + value % 13 * 10 / 13);
    if (simulated) return {std::max<std::uint64_t>(1, percent(value, 1) / s.step), s.point(percent(value, 130)), last};
    return {std::max<std::uint64_t>(1, percent(value, 8) / s.step), found, last};
}

result from_answer(const answer& a, std::uint64_t resolution, const std::function<std::uint64_t(std::uint64_t)>& value_of)
{
    result r;
    r.resolution = resolution;
    r.monotonic = a.monotonic;
    if (a.smallest) r.best = value_of(*a.smallest);
    for (const auto& i : a.islands) {
        const std::uint64_t one = value_of(i.from), other = value_of(i.to);
        r.islands.push_back({std::min(one, other), std::max(one, other)});
    }
    std::sort(r.islands.begin(), r.islands.end(), [](const range& x, const range& y) { return x.from < y.from; });
    r.tried = a.tried;
    return r;
}

}  // namespace

runner make_runner(std::uint64_t timeout_ms, const std::atomic<bool>* stop)
{
    return [=](const cell& c, bool watch_memory) -> trial {
        run_controls controls;
        controls.stop = stop;
        controls.timeout = std::chrono::milliseconds(timeout_ms);
        controls.cold_only = true;
        const repetition r = run_once(c, watch_memory ? role::memory : role::timed, controls);
        trial t{r.cold.result, r.cold.peak_device_bytes, r.cold.free_bytes_at_start};
        if (r.disturbed) {
            t.end.what = status::unsupported;
            t.end.message = "three runs were disturbed: " + *r.disturbed;
        }
        return t;
    };
}

result smallest_limit(const cell& c, const runner& run, const run_forecast& expect)
{
    const std::uint64_t step = limit_step(c);
    const trace_summary& s = c.workload->summary;
    cell unlimited = c;
    unlimited.vram_limit_bytes.reset();
    const trial without = run(unlimited, true);
    if (without.end.what != status::completed) {
        result r;
        r.resolution = step;
        r.tried = 1;
        r.max_live_bytes = s.max_live_bytes;
        r.beyond = without.end;
        return r;
    }
    const limit_scale scale{round_up(s.max_live_bytes + c.resident_bytes, step), step};
    const std::uint64_t enough = std::max(scale.floor, without.peak_device_bytes + s.max_external_bytes);
    const std::uint64_t top = std::max(scale.floor, std::min(percent(enough, 130) + 2 * step, without.free_at_start));

    const check_rule rule = [&](std::uint64_t found) { return around_limit(scale, found, c.on.simulated); };
    trials tried(run, expect, scale.point(top), rule);
    const auto end_at = [&](std::uint64_t point) {
        cell limited = c;
        limited.vram_limit_bytes = scale.limit(point);
        return tried.end_of(point, limited);
    };
    const answer a = smallest_passing(
        scale.point(top), [&](std::uint64_t point) { return end_at(point).what == status::completed; }, rule);
    result r = from_answer(a, step, [&](std::uint64_t point) { return scale.limit(point); });
    r.max_live_bytes = s.max_live_bytes;
    ++r.tried;
    if (!a.smallest) r.beyond = tried.known(scale.point(top));
    else if (*a.smallest > 0) r.beyond = tried.known(*a.smallest - 1);
    else r.beyond = below_max_live();
    return r;
}

result largest_value(const cell& c, const variation& v, const workload_maker& workload_at, const runner& run,
                     const run_forecast& expect)
{
    const value_scale scale{v.from, v.step, (v.to - v.from) / v.step};
    if (c.vram_limit_bytes && c.resident_bytes >= *c.vram_limit_bytes) {    // then no value can help
        result r;
        r.beyond = hopeless(c);
        r.resolution = v.step;
        r.max_live_bytes = c.workload->summary.max_live_bytes;
        return r;
    }
    const check_rule rule = [&](std::uint64_t found) { return around_value(scale, found, c.on.simulated); };
    trials tried(run, expect, scale.last, rule);
    const auto end_at = [&](std::uint64_t point) {
        cell varied = c;
        varied.workload = workload_at(scale.value(point));
        return tried.end_of(point, varied);
    };
    const answer a = smallest_passing(
        scale.last, [&](std::uint64_t point) { return end_at(point).what == status::completed; }, rule);
    result r = from_answer(a, v.step, [&](std::uint64_t point) { return scale.value(point); });
    r.max_live_bytes = workload_at(r.best.value_or(v.from))->summary.max_live_bytes;
    if (!a.smallest) r.beyond = tried.known(scale.last);
    else if (*a.smallest > 0) r.beyond = tried.known(*a.smallest - 1);
    return r;
}

variation parse_variation(std::string_view text)
{
    const auto refuse = [&](const std::string& problem) { throw input_error("--vary: " + in_quotes(text) + " " + problem); };
    const auto equals = text.find('='), dots = text.find("..");
    if (equals == std::string_view::npos || equals == 0 || dots == std::string_view::npos || dots < equals)
        refuse("is no range (write to=4096..262144, or to=4096..262144:512 for a step of its own)");
    variation v;
    v.key = text.substr(0, equals);
    std::string_view end = text.substr(dots + 2);
    if (const auto colon = end.find(':'); colon != std::string_view::npos) {
        v.step = parse_size(end.substr(colon + 1), "--vary: the step");
        if (v.step == 0) refuse("has a step of 0");
        end = end.substr(0, colon);
    }
    v.from = parse_size(text.substr(equals + 1, dots - equals - 1), "--vary: the first value");
    v.to = parse_size(end, "--vary: the last value");
    if (v.from > v.to) refuse("ends before it begins");
    return v;
}

std::uint64_t own_step(const trace_header& header, const variation& v)
{
    const bool counts_tokens = v.key == "to" || v.key == "depth" || v.key == "prompt";
    std::uint64_t step = v.step == 0 && !counts_tokens ? 1 : v.step;
    for (const auto& [key, value] : header.params)
        if (step == 0 && key != v.key && (key == "step" || key == "ubatch"))
            step = parse_integer(value, header.name + ": " + key, 1, UINT64_MAX);
    if (step == 0)
        throw input_error("--vary: workload " + in_quotes(header.name) + " has no step of its own; write --vary " + v.key + "=" +
                          std::to_string(v.from) + ".." + std::to_string(v.to) + ":STEP");
    if (v.to != v.from && v.to - v.from < step)
        throw input_error("--vary: the range is shorter than its step of " + std::to_string(step) + "; write " + v.key + "=FROM..TO:STEP");
    if ((v.to - v.from) / step >= most_values) throw input_error("--vary: more than 1000000 values; a larger :STEP makes them fewer");
    return step;
}

}  // namespace vrambench::fit
