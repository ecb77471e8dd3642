#include "spec/json_reader.hpp"

#include "spec/errors.hpp"
#include "spec/spec.hpp"

#include <algorithm>
#include <utility>

namespace vrambench {

using json = nlohmann::json;

json parse_json(std::string_view text, const std::string& origin)
{
    json j = json::parse(text, nullptr, false);
    if (j.is_discarded()) throw input_error(origin + ": not valid JSON");
    if (!j.is_object()) throw input_error(origin + ": must be a JSON object");
    return j;
}

json_reader::json_reader(const json& j, std::string where) : j_(j), where_(std::move(where)) {}

void json_reader::fail(const std::string& key, const std::string& what) const
{
    throw input_error(where_ + ": \"" + key + "\" " + what);
}

bool json_reader::has(const std::string& key) const
{
    known_.push_back(key);
    return j_.contains(key);
}

const json& json_reader::at(const std::string& key) const
{
    if (!has(key)) fail(key, "is missing");
    return j_.at(key);
}

json_reader json_reader::in(const std::string& key) const
{
    if (!at(key).is_object()) fail(key, "must be an object");
    return json_reader(at(key), where_ + ": " + key);
}

std::string json_reader::text(const std::string& key) const
{
    if (!at(key).is_string() || at(key).get<std::string>().empty()) fail(key, "must be text, and not empty");
    return at(key).get<std::string>();
}

std::uint64_t json_reader::number(const std::string& key, std::uint64_t least, std::uint64_t most) const
{
    const json& v = at(key);
    if (!v.is_number_unsigned() || v.get<std::uint64_t>() < least || v.get<std::uint64_t>() > most)
        fail(key, "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return v.get<std::uint64_t>();
}

bool json_reader::flag(const std::string& key) const
{
    if (!at(key).is_boolean()) fail(key, "must be true or false");
    return at(key).get<bool>();
}

void json_reader::no_other_keys() const
{
    for (const auto& [key, value] : j_.items())
        if (std::find(known_.begin(), known_.end(), key) == known_.end())
            throw input_error(where_ + ": unknown key " + in_quotes(key) + did_you_mean(key, known_));
}

}  // namespace vrambench
