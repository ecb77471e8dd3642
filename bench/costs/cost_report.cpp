#include "bench/costs/cost_report.hpp"

#include "bench/json_numbers.hpp"
#include "bench/json_text.hpp"

#include <algorithm>

namespace vrambench::costs {

namespace {

using nlohmann::json;

constexpr const char* names[situations] = {"idle", "growing", "loaded", "shared", "refused"};

situation situation_from(const std::string& name)
{
    for (int i = 0; i < situations; ++i)
        if (name == names[i]) return static_cast<situation>(i);
    throw input_error("no situation " + in_quotes(name));
}

}  // namespace

const char* to_string(situation s) { return names[static_cast<int>(s)]; }

std::int64_t median(samples values)
{
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

void cost_report::add(const cost_key& key, samples values)
{
    if (!values.empty()) median_ps[key] = std::max<std::int64_t>(median(std::move(values)), 0);
}

std::int64_t cost_report::at(const cost_key& key, std::int64_t otherwise) const
{
    const auto it = median_ps.find(key);
    return it == median_ps.end() ? otherwise : it->second;
}

json to_json(const cost_report& report)
{
    json j{{"points", json::array()}, {"facts", report.facts}, {"words", json::object()}, {"notes", json::array()}};
    for (const auto& [key, ps] : report.median_ps) j["points"].push_back({key.call, to_string(key.when), key.bytes, ps});
    for (const auto& [key, word] : report.words) j["words"][key] = json_text(word);
    for (const auto& note : report.notes) j["notes"].push_back(json_text(note));
    return j;
}

cost_report report_from(const json& j)
{
    cost_report r;
    for (const auto& p : j.at("points")) {
        const cost_key key{p.at(0).get<std::string>(), situation_from(p.at(1).get<std::string>()), count_from(p.at(2), "bytes")};
        const std::int64_t ps = whole_from(p.at(3), "picoseconds");
        if (ps < 0) throw input_error("a cost below nothing");
        if (!r.median_ps.emplace(key, ps).second) throw input_error("a cost is there twice");
    }
    for (const auto& [key, value] : j.at("facts").items()) r.facts[key] = count_from(value, key);
    for (const auto& [key, value] : j.at("words").items()) r.words[key] = value.get<std::string>();
    for (const auto& note : j.at("notes")) r.notes.push_back(note.get<std::string>());
    return r;
}

}  // namespace vrambench::costs
