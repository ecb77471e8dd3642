#pragma once
// Strict JSON from data that may not be: no NaN, no broken UTF-8.

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace vrambench {

/// Text with invalid UTF-8 replaced by U+FFFD (paths and driver messages may hold anything).
inline nlohmann::json json_text(const std::string& s)
{
    using nlohmann::json;
    if (std::all_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return s;
    return json::parse(json(s).dump(-1, ' ', false, json::error_handler_t::replace));
}

/// Member `key` where the value is an object that has it and it is text; empty otherwise.
inline std::string text_at(const nlohmann::json& j, const char* key)
{
    const auto found = j.is_object() ? j.find(key) : j.end();
    return found != j.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// Null where the value is not finite.
inline nlohmann::json json_number(double v) { return std::isfinite(v) ? nlohmann::json(v) : nlohmann::json(nullptr); }

}  // namespace vrambench
