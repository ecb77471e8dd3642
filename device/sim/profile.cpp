#include "device/sim/profile.hpp"

#include "device/sim/hip_rules.hpp"
#include "spec/errors.hpp"
#include "spec/json_reader.hpp"
#include "spec/spec.hpp"

#include <algorithm>
#include <bit>
#include <fstream>
#include <sstream>

namespace vrambench::sim {

namespace {

constexpr std::uint64_t longest_ns = 1'000'000'000'000, largest_number = std::uint64_t{1} << 60;

std::uint64_t number(const json_reader& r, const std::string& key) { return r.number(key, 0, largest_number); }
std::uint64_t number_or_0(const json_reader& r, const std::string& key) { return r.has(key) ? number(r, key) : 0; }

/// Nanoseconds in the file, picoseconds in the result.
std::int64_t time(const json_reader& r, const std::string& key)
{
    return static_cast<std::int64_t>(r.number(key, 0, longest_ns)) * 1000;
}
std::int64_t time_or(const json_reader& r, const std::string& key, std::int64_t otherwise)
{
    return r.has(key) ? time(r, key) : otherwise;
}

/// What is there for people: how the figures came about. Nothing hangs on its contents.
void about(const json_reader& r, const std::string& key)
{
    if (r.has(key)) r.in(key);
}

cost_curve curve(const json_reader& r, const std::string& key)
{
    const auto& v = r.at(key);
    if (!v.is_array() || v.empty()) r.fail(key, "must be a list of [bytes, nanoseconds] pairs");
    std::vector<std::pair<std::uint64_t, std::int64_t>> points;
    for (const auto& p : v) {
        if (!p.is_array() || p.size() != 2 || !p[0].is_number_unsigned() || !p[1].is_number_unsigned())
            r.fail(key, "must be a list of [bytes, nanoseconds] pairs of whole numbers");
        if (p[1].get<std::uint64_t>() > longest_ns) r.fail(key, "has a time above " + std::to_string(longest_ns) + " ns");
        points.emplace_back(p[0].get<std::uint64_t>(), static_cast<std::int64_t>(p[1].get<std::uint64_t>()) * 1000);
        if (points.size() > 1 && points[points.size() - 2].first >= points.back().first) r.fail(key, "must have rising sizes");
    }
    return cost_curve(std::move(points));
}

/// All but `idle` are optional: a call that was not measured so costs what it costs idle.
call_cost call(const json_reader& of, const std::string& key)
{
    const json_reader r = of.in(key);
    call_cost c;
    c.idle = curve(r, "idle");
    c.growing = r.has("growing") ? curve(r, "growing") : c.idle;
    c.loaded = r.has("loaded") ? curve(r, "loaded") : c.growing;
    if (r.has("shared")) c.shared = curve(r, "shared");
    if (r.has("refused")) c.refused = curve(r, "refused");
    r.no_other_keys();
    return c;
}

pool_cost read_pool_cost(const json_reader& r)
{
    pool_cost c;
    c.own = time(r, "hit_own");
    c.completed = time(r, "hit_completed");
    c.other_stream = time(r, "hit_other_stream");
    c.merged = time(r, "hit_merged");
    c.internal = time(r, "internal_dependency");
    c.fail = time(r, "fail");
    c.free = time(r, "free");
    c.trim = time(r, "trim");
    c.map_call = time(r, "map_call");
    c.per_new_chunk = time(r, "per_new_chunk");
    c.per_remapped = time(r, "per_remapped_chunk");
    c.per_mapped = time(r, "per_mapped_chunk");
    c.per_released = time(r, "per_released_chunk");
    c.per_polled = time(r, "per_polled_block");
    c.per_trimmed = time_or(r, "per_trimmed_chunk", c.per_released);
    c.stream_gap = time_or(r, "stream_gap", 0);
    r.no_other_keys();
    return c;
}

void read_call_costs(profile& p, const json_reader& r)
{
    p.malloc = call(r, "malloc");
    p.free = call(r, "free");
    p.create = call(r, "create");
    p.map = call(r, "map");
    p.set_access = call(r, "set_access");
    p.unmap = call(r, "unmap");
    p.release = call(r, "release");
    r.no_other_keys();
}

void read_fixed_times(profile& p, const json_reader& r)
{
    p.launch = time(r, "launch");
    p.launch_latency = time(r, "launch_latency");
    p.kernel_overhead = time(r, "kernel_overhead");
    p.graph_launch = time(r, "graph_launch");
    p.sync = time(r, "sync");
    p.record = time(r, "record");
    p.wait = time(r, "wait");
    p.memory_info = time(r, "memory_info");
    p.reserve = time(r, "reserve");
    p.unreserve = time(r, "unreserve");
    p.release_mapped = time(r, "release_mapped");
    r.no_other_keys();
}

cleaning read_cleaning(const json_reader& r)
{
    cleaning c;
    c.wait_ps = time(r, "wait_ns");
    c.bytes_per_second = number(r, "bytes_per_second");
    if (c.bytes_per_second == 0) r.fail("bytes_per_second", "must be above 0 (leave \"cleaning\" out where memory is not cleaned)");
    r.no_other_keys();
    return c;
}

void read_memory(profile& p, const json_reader& r)
{
    p.total_bytes = number(r, "total_bytes");
    p.free_bytes = number(r, "free_bytes");
    if (p.free_bytes == 0 || p.free_bytes > p.total_bytes) r.fail("free_bytes", "must be above 0 and at most total_bytes");
    p.physical_block = number(r, "physical_block");
    if (p.physical_block < 256 || !std::has_single_bit(p.physical_block))
        r.fail("physical_block", "must be a power of two of at least 256");
    p.shared_up_to = number(r, "shared_up_to");
    if (p.shared_up_to > p.physical_block) r.fail("shared_up_to", "must be at most physical_block");
    p.vmm_granularity = number(r, "vmm_granularity");
    if (p.vmm_granularity != 0 && (p.vmm_granularity < 4096 || !std::has_single_bit(p.vmm_granularity)))
        r.fail("vmm_granularity", "must be a power of two of at least 4096, or 0 for none");
    p.address_space = number(r, "address_space");
    p.pool_rules = r.text("pool_rules");
    const auto known = pool_rule_names();
    if (std::find(known.begin(), known.end(), p.pool_rules) == known.end()) r.fail("pool_rules", "must be one of " + joined(known));
    p.free_waits = r.flag("free_waits");
    p.raw_margin = number_or_0(r, "raw_margin");
    p.handle_margin = number_or_0(r, "handle_margin");
    if (r.has("cleaning")) p.memory_cleaning = read_cleaning(r.in("cleaning"));
}

void read_speeds(profile& p, const json_reader& r)
{
    p.launch_queue = static_cast<std::uint32_t>(r.number("launch_queue", 1, 1u << 20));
    p.flops_per_second = number(r, "flops_per_second");
    p.bytes_per_second = number(r, "bytes_per_second");
    if (p.flops_per_second == 0) r.fail("flops_per_second", "must be above 0");
    if (p.bytes_per_second == 0) r.fail("bytes_per_second", "must be above 0");
}

void read_costs(profile& p, const json_reader& r)
{
    p.work_unit = static_cast<std::int64_t>(r.number("work_unit_ps", 0, 1'000'000));
    read_fixed_times(p, r.in("times_ns"));
    read_call_costs(p, r.in("calls_ns"));
    p.pool = read_pool_cost(r.in("pool_ns"));
}

}  // namespace

cost_curve::cost_curve(std::vector<std::pair<std::uint64_t, std::int64_t>> points) : points_(std::move(points)) {}

std::int64_t cost_curve::at(std::uint64_t bytes) const
{
    if (points_.empty()) return 0;
    if (bytes <= points_.front().first || points_.size() == 1) return points_.front().second;
    std::size_t i = 1;
    while (i + 1 < points_.size() && points_[i].first < bytes) ++i;
    const auto& [x0, y0] = points_[i - 1];
    const auto& [x1, y1] = points_[i];
    const __int128 rise = static_cast<__int128>(y1 - y0) * static_cast<__int128>(bytes - x0) / static_cast<__int128>(x1 - x0);
    const std::int64_t y = y0 + static_cast<std::int64_t>(rise);
    return y > 0 ? y : 0;
}

std::vector<std::string> pool_rule_names()
{
    std::vector<std::string> names{"cuda"};
    for (const hip_rules& r : all_hip_rules()) names.push_back(r.name);
    return names;
}

profile parse_profile(std::string_view text, const std::string& origin)
{
    const auto j = parse_json(text, origin);
    const json_reader r(j, origin);
    if (r.text("schema") != "vrambench.profile/1") r.fail("schema", "must be \"vrambench.profile/1\"");
    profile p;
    p.name = r.text("name");
    p.source = r.text("source");
    read_memory(p, r);
    read_speeds(p, r);
    p.costs_known = r.has("work_unit_ps") || r.has("times_ns") || r.has("calls_ns") || r.has("pool_ns");
    if (p.costs_known) read_costs(p, r);
    about(r, "measured");
    about(r, "spread");
    r.no_other_keys();
    return p;
}

namespace {

constexpr std::size_t largest_profile = std::size_t{1} << 20;

std::string read_text(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    std::string text(largest_profile + 1, '\0');
    if (!in || !in.read(text.data(), static_cast<std::streamsize>(text.size())).eof())
        throw input_error("cannot read the device profile " + in_quotes(path) + " (a text file of at most 1 MiB)");
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

}  // namespace

profile load_profile(const std::string& path) { return parse_profile(read_text(path), path); }

std::string profile_hash(const std::string& path) { return fnv1a(read_text(path)); }

}  // namespace vrambench::sim
