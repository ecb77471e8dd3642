#include "bench/probe/finding.hpp"

#include "bench/json_numbers.hpp"
#include "bench/json_text.hpp"
#include "spec/errors.hpp"

namespace vrambench::probing {

namespace {

level level_named(const std::string& name)
{
    for (int i = 0; i < levels; ++i)
        if (name == to_string(static_cast<level>(i))) return static_cast<level>(i);
    throw input_error("a finding has the unknown level " + in_quotes(name));
}

}  // namespace

const char* to_string(level l)
{
    switch (l) {
    case level::fine: return "fine";
    case level::costly: return "costly";
    case level::open: return "open";
    case level::broken: return "broken";
    }
    return "?";
}

nlohmann::json to_json(const finding& f)
{
    nlohmann::json j{{"id", json_text(f.id)}, {"question", json_text(f.question)}, {"verdict", json_text(f.found.verdict)},
                     {"level", to_string(f.found.how)}, {"evidence", json_text(f.found.evidence)}};
    if (!f.found.numbers.empty()) j["numbers"] = f.found.numbers;
    return j;
}

finding finding_from(const nlohmann::json& j)
{
    finding f;
    j.at("id").get_to(f.id), j.at("question").get_to(f.question);
    j.at("verdict").get_to(f.found.verdict), j.at("evidence").get_to(f.found.evidence);
    f.found.how = level_named(j.at("level").get<std::string>());
    if (const auto numbers = j.find("numbers"); numbers != j.end())
        for (const auto& [key, value] : numbers->items()) f.found.numbers[key] = count_from(value, key);
    return f;
}

}  // namespace vrambench::probing
