#include "device/sim/profile.hpp"

#include "device/sim/hip_rules.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <fstream>
#include <sstream>

namespace vrambench::sim {

namespace {

using json = nlohmann::json;

constexpr std::uint64_t longest_ns = 1'000'000'000'000;

/// Reads one profile document and says where it is wrong.
class reader {
public:
    reader(const json& j, std::string where) : j_(j), where_(std::move(where)) {}

    [[noreturn]] void fail(const std::string& key, const std::string& what) const
    {
        throw input_error(where_ + ": \"" + key + "\" " + what);
    }

    const json& at(const std::string& key) const
    {
        if (!has(key)) fail(key, "is missing");
        return j_.at(key);
    }
    /// Every key that is asked for is a known one.
    bool has(const std::string& key) const
    {
        known_.push_back(key);
        return j_.is_object() && j_.contains(key);
    }
    /// To be called when all was read: a misspelt optional key must not be silently left out.
    void no_other_keys() const
    {
        for (const auto& [key, value] : j_.items())
            if (std::find(known_.begin(), known_.end(), key) == known_.end())
                throw input_error(where_ + ": unknown key " + in_quotes(key) + did_you_mean(key, known_));
    }
    reader in(const std::string& key) const
    {
        if (!at(key).is_object()) fail(key, "must be an object");
        return reader(at(key), where_ + ": " + key);
    }
    std::string text(const std::string& key) const
    {
        if (!at(key).is_string()) fail(key, "must be text");
        return at(key).get<std::string>();
    }
    std::uint64_t number(const std::string& key, std::uint64_t most = std::uint64_t{1} << 60) const
    {
        const auto& v = at(key);
        if (!v.is_number_unsigned() || v.get<std::uint64_t>() > most)
            fail(key, "must be a whole number from 0 to " + std::to_string(most));
        return v.get<std::uint64_t>();
    }
    bool flag(const std::string& key) const
    {
        if (!at(key).is_boolean()) fail(key, "must be true or false");
        return at(key).get<bool>();
    }
    /// Nanoseconds in the file, picoseconds in the result.
    std::int64_t time(const std::string& key) const
    {
        return static_cast<std::int64_t>(number(key, longest_ns)) * 1000;
    }
    std::int64_t time_or(const std::string& key, std::int64_t otherwise) const { return has(key) ? time(key) : otherwise; }
    std::uint64_t number_or_0(const std::string& key) const { return has(key) ? number(key) : 0; }
    /// What is there for people: how the figures came about. Nothing hangs on its contents.
    void about(const std::string& key) const
    {
        if (has(key) && !at(key).is_object()) fail(key, "must be an object");
    }

    cost_curve curve(const std::string& key) const
    {
        const auto& v = at(key);
        if (!v.is_array() || v.empty()) fail(key, "must be a list of [bytes, nanoseconds] pairs");
        std::vector<std::pair<std::uint64_t, std::int64_t>> points;
        for (const auto& p : v) {
            if (!p.is_array() || p.size() != 2 || !p[0].is_number_unsigned() || !p[1].is_number_unsigned())
                fail(key, "must be a list of [bytes, nanoseconds] pairs of whole numbers");
            if (p[1].get<std::uint64_t>() > longest_ns) fail(key, "has a time above " + std::to_string(longest_ns) + " ns");
            points.emplace_back(p[0].get<std::uint64_t>(), static_cast<std::int64_t>(p[1].get<std::uint64_t>()) * 1000);
            if (points.size() > 1 && points[points.size() - 2].first >= points.back().first)
                fail(key, "must have rising sizes");
        }
        return cost_curve(std::move(points));
    }
    /// All but `idle` are optional: a call that was not measured so costs what it costs idle.
    call_cost call(const std::string& key) const
    {
        const reader r = in(key);
        call_cost c;
        c.idle = r.curve("idle");
        c.growing = r.has("growing") ? r.curve("growing") : c.idle;
        c.loaded = r.has("loaded") ? r.curve("loaded") : c.growing;
        if (r.has("shared")) c.shared = r.curve("shared");
        if (r.has("refused")) c.refused = r.curve("refused");
        r.no_other_keys();
        return c;
    }

private:
    const json& j_;
    std::string where_;
    mutable std::vector<std::string> known_;
};

pool_cost read_pool_cost(const reader& r)
{
    pool_cost c;
    c.own = r.time("hit_own");
    c.completed = r.time("hit_completed");
    c.other_stream = r.time("hit_other_stream");
    c.merged = r.time("hit_merged");
    c.internal = r.time("internal_dependency");
    c.fail = r.time("fail");
    c.free = r.time("free");
    c.trim = r.time("trim");
    c.map_call = r.time("map_call");
    c.per_new_chunk = r.time("per_new_chunk");
    c.per_remapped = r.time("per_remapped_chunk");
    c.per_mapped = r.time("per_mapped_chunk");
    c.per_released = r.time("per_released_chunk");
    c.per_polled = r.time("per_polled_block");
    c.per_trimmed = r.time_or("per_trimmed_chunk", c.per_released);
    c.stream_gap = r.time_or("stream_gap", 0);
    r.no_other_keys();
    return c;
}

void read_call_costs(profile& p, const reader& r)
{
    p.malloc = r.call("malloc");
    p.free = r.call("free");
    p.create = r.call("create");
    p.map = r.call("map");
    p.set_access = r.call("set_access");
    p.unmap = r.call("unmap");
    p.release = r.call("release");
    r.no_other_keys();
}

void read_fixed_times(profile& p, const reader& r)
{
    p.launch = r.time("launch");
    p.launch_latency = r.time("launch_latency");
    p.kernel_overhead = r.time("kernel_overhead");
    p.graph_launch = r.time("graph_launch");
    p.sync = r.time("sync");
    p.record = r.time("record");
    p.wait = r.time("wait");
    p.memory_info = r.time("memory_info");
    p.reserve = r.time("reserve");
    p.unreserve = r.time("unreserve");
    p.release_mapped = r.time("release_mapped");
    r.no_other_keys();
}

cleaning read_cleaning(const reader& r)
{
    cleaning c;
    c.wait_ps = r.time("wait_ns");
    c.bytes_per_second = r.number("bytes_per_second");
    if (c.bytes_per_second == 0) r.fail("bytes_per_second", "must be above 0 (leave \"cleaning\" out where memory is not cleaned)");
    r.no_other_keys();
    return c;
}

void read_memory(profile& p, const reader& r)
{
    p.total_bytes = r.number("total_bytes");
    p.free_bytes = r.number("free_bytes");
    if (p.free_bytes == 0 || p.free_bytes > p.total_bytes) r.fail("free_bytes", "must be above 0 and at most total_bytes");
    p.physical_block = r.number("physical_block");
    if (p.physical_block < 256 || !std::has_single_bit(p.physical_block))
        r.fail("physical_block", "must be a power of two of at least 256");
    p.shared_up_to = r.number("shared_up_to");
    if (p.shared_up_to > p.physical_block) r.fail("shared_up_to", "must be at most physical_block");
    p.vmm_granularity = r.number("vmm_granularity");
    if (p.vmm_granularity != 0 && (p.vmm_granularity < 4096 || !std::has_single_bit(p.vmm_granularity)))
        r.fail("vmm_granularity", "must be a power of two of at least 4096, or 0 for none");
    p.address_space = r.number("address_space");
    p.pool_rules = r.text("pool_rules");
    const auto known = pool_rule_names();
    if (std::find(known.begin(), known.end(), p.pool_rules) == known.end()) r.fail("pool_rules", "must be one of " + joined(known));
    p.free_waits = r.flag("free_waits");
    p.raw_margin = r.number_or_0("raw_margin");
    p.handle_margin = r.number_or_0("handle_margin");
    if (r.has("cleaning")) p.memory_cleaning = read_cleaning(r.in("cleaning"));
}

void read_speeds(profile& p, const reader& r)
{
    p.launch_queue = static_cast<std::uint32_t>(r.number("launch_queue", 1u << 20));
    if (p.launch_queue == 0) r.fail("launch_queue", "must be at least 1");
    p.flops_per_second = r.number("flops_per_second");
    p.bytes_per_second = r.number("bytes_per_second");
    if (p.flops_per_second == 0) r.fail("flops_per_second", "must be above 0");
    if (p.bytes_per_second == 0) r.fail("bytes_per_second", "must be above 0");
}

void read_costs(profile& p, const reader& r)
{
    p.work_unit = static_cast<std::int64_t>(r.number("work_unit_ps", 1'000'000));
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
    const json j = json::parse(text, nullptr, false);
    if (j.is_discarded()) throw input_error(origin + ": not valid JSON");
    const reader r(j, origin);
    if (r.text("schema") != "vrambench.profile/1") r.fail("schema", "must be \"vrambench.profile/1\"");
    profile p;
    p.name = r.text("name");
    p.source = r.text("source");
    read_memory(p, r);
    read_speeds(p, r);
    p.costs_known = r.has("work_unit_ps") || r.has("times_ns") || r.has("calls_ns") || r.has("pool_ns");
    if (p.costs_known) read_costs(p, r);
    r.about("measured");
    r.about("spread");
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
