#include "bench/costs/cost_profile.hpp"

#include "bench/json_text.hpp"

#include <array>

namespace vrambench::costs {

namespace {

using json = nlohmann::ordered_json;

json text(const std::string& s) { return json_text(s); }

std::int64_t ns(std::int64_t ps) { return (ps + 500) / 1000; }

constexpr std::array raw_and_virtual{"malloc", "free", "create", "map", "set_access", "unmap", "release"};
constexpr std::array times{"launch", "launch_latency", "kernel_overhead", "graph_launch", "sync", "record", "wait",
                           "memory_info", "reserve", "unreserve", "release_mapped"};
constexpr std::array pool_times{"hit_own",  "hit_completed",      "hit_other_stream",  "hit_merged",       "internal_dependency",
                                "fail",     "free",               "trim",              "map_call",         "per_released_chunk",
                                "per_trimmed_chunk", "per_polled_block", "stream_gap"};

json call_curves(const cost_summary& s, const std::string& call)
{
    json columns = json::object();
    for (int i = 0; i < situations; ++i) {
        const auto when = static_cast<situation>(i);
        json curve = json::array();
        for (const auto bytes : s.sizes(call, when)) curve.push_back({bytes, ns(s.find({call, when, bytes})->median)});
        if (!curve.empty()) columns[to_string(when)] = std::move(curve);
    }
    return columns;
}

json fixed_times(const cost_summary& s)
{
    json j = json::object();
    for (const std::string key : times)
        if (const spread* t = s.find({key, situation::idle, 0})) j[key] = ns(t->median);
    return j;
}

/// Growing and remapping were timed with the mapping of the chunks in them; the profile has it apart.
json pool_prices(const cost_summary& s)
{
    json j = json::object();
    for (const std::string key : pool_times)
        if (const spread* t = s.find({"pool." + key, situation::idle, 0})) j[key] = ns(t->median);
    const spread* mapped = s.find({"pool.per_mapped_chunk", situation::idle, 0});
    if (!mapped) return j;
    j["per_mapped_chunk"] = ns(mapped->median);
    const auto beyond_mapping = [&](const char* key, const char* timed) {
        const spread* t = s.find({timed, situation::idle, 0});
        if (t) j[key] = ns(std::max<std::int64_t>(t->median - mapped->median, 0));
    };
    beyond_mapping("per_new_chunk", "pool.grow_per_chunk");
    beyond_mapping("per_remapped_chunk", "pool.remap_per_chunk");
    return j;
}

/// CALL: SITUATION: [[bytes, p10, median, p90], ...], nanoseconds (work_unit: picoseconds).
json spreads(const cost_summary& s)
{
    json j = json::object();
    for (const auto& [key, t] : s.ps) {
        const bool fine = key.call == "work_unit";
        const auto value = [fine](std::int64_t ps) { return fine ? ps : ns(ps); };
        j[key.call][to_string(key.when)].push_back({key.bytes, value(t.p10), value(t.median), value(t.p90)});
    }
    return j;
}

std::string word(const cost_summary& s, const std::string& key)
{
    const auto it = s.words.find(key);
    return it == s.words.end() ? "" : it->second;
}

/// A name that can stand in a table: "NVIDIA H200" becomes "nvidia-h200".
std::string profile_name(std::string name)
{
    for (char& c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        else if (!plain) c = '-';
    }
    return name.empty() ? "unnamed" : name;
}

std::string source_text(const cost_summary& s, const calibration& how)
{
    std::string said = word(s, "name") + (word(s, "simulated") == "yes" ? " (simulated)" : "");
    if (const auto driver = word(s, "driver_version"); !driver.empty())
        said += ", driver " + driver + ", runtime " + word(s, "runtime_version");
    return said + ", " + how.date + ": medians over " + std::to_string(s.processes) +
           (s.processes == 1 ? " process" : " processes") + ". physical_block, shared_up_to and vmm_granularity are what the device layer says; all else was measured.";
}

json about_measuring(const cost_summary& s, const calibration& how)
{
    json j{{"date", how.date},
           {"command", json::array()},
           {"processes", s.processes},
           {"processes_asked", how.asked},
           {"interrupted", how.interrupted},
           {"failures", json::array()},
           {"notes", json::array()},
           {"device", json::object()}};
    for (const auto& w : how.command) j["command"].push_back(text(w));
    for (const auto& f : how.failures) j["failures"].push_back(text(f));
    for (const auto& n : s.notes) j["notes"].push_back(text(n));
    for (const auto& [key, w] : s.words) j["device"][key] = text(w);
    return j;
}

json card_memory(const cost_summary& s)
{
    json j = json::object();
    for (const char* key : {"total_bytes", "free_bytes", "physical_block", "shared_up_to", "vmm_granularity", "raw_margin",
                            "handle_margin", "address_space"})
        if (const auto it = s.facts.find(key); it != s.facts.end()) j[key] = it->second;
    const spread* wait = s.find({"clean_wait", situation::idle, 0});
    const auto rate = s.facts.find("clean_bytes_per_second");
    if (wait && rate != s.facts.end()) j["cleaning"] = {{"wait_ns", ns(wait->median)}, {"bytes_per_second", rate->second}};
    return j;
}

/// Objects indented, lists on one line.
void print(const json& j, std::size_t indent, std::string& out)
{
    if (!j.is_object() || j.empty()) {
        out += j.dump();
        return;
    }
    out += "{\n";
    bool first = true;
    for (const auto& [key, value] : j.items()) {
        if (!first) out += ",\n";
        first = false;
        out += std::string(indent + 2, ' ') + json(key).dump() + ": ";
        print(value, indent + 2, out);
    }
    out += "\n" + std::string(indent, ' ') + "}";
}

}  // namespace

std::string profile_text(const cost_summary& s, const calibration& how)
{
    json j{{"schema", "vrambench.profile/1"}, {"name", text(profile_name(how.name.empty() ? word(s, "name") : how.name))},
           {"source", text(source_text(s, how))}};
    j.update(card_memory(s));
    j["pool_rules"] = "cuda";
    if (const auto it = s.facts.find("free_waits"); it != s.facts.end()) j["free_waits"] = it->second != 0;
    for (const char* key : {"launch_queue", "flops_per_second", "bytes_per_second"})
        if (const auto it = s.facts.find(key); it != s.facts.end()) j[key] = it->second;
    if (const spread* unit = s.find({"work_unit", situation::idle, 0})) j["work_unit_ps"] = unit->median;
    j["times_ns"] = fixed_times(s);
    j["calls_ns"] = json::object();
    for (const std::string call : raw_and_virtual)
        if (json curves = call_curves(s, call); !curves.empty()) j["calls_ns"][call] = std::move(curves);
    j["pool_ns"] = pool_prices(s);
    j["measured"] = about_measuring(s, how);
    j["spread"] = spreads(s);
    std::string out;
    print(j, 0, out);
    return out + "\n";
}

}  // namespace vrambench::costs
