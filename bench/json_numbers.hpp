#pragma once
// Whole numbers out of a JSON document that may not be ours: the library itself wraps -1, cuts 1.5 and reads true as 1.

#include "spec/errors.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace vrambench {

/// A whole number that is not negative. `what` is what the message calls it. Throws input_error.
inline std::uint64_t count_from(const nlohmann::json& j, const std::string& what)
{
    const bool whole = j.is_number_unsigned() || (j.is_number_integer() && j.get<std::int64_t>() >= 0);
    if (!whole) throw input_error(in_quotes(what) + " is not a whole number from 0 up");
    return j.get<std::uint64_t>();
}

/// A whole number; times are signed, negative where a device could not tell.
inline std::int64_t whole_from(const nlohmann::json& j, const std::string& what)
{
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    if (!j.is_number_integer() || (j.is_number_unsigned() && j.get<std::uint64_t>() > most))
        throw input_error(in_quotes(what) + " is not a whole number of 64 bits");
    return j.get<std::int64_t>();
}

/// Member `key` of an object. Throws input_error, or the library's exception where it is missing.
inline void read(const nlohmann::json& j, const char* key, std::uint64_t& to) { to = count_from(j.at(key), key); }
inline void read(const nlohmann::json& j, const char* key, std::int64_t& to) { to = whole_from(j.at(key), key); }
inline void read(const nlohmann::json& j, const char* key, std::uint32_t& to)
{
    const std::uint64_t n = count_from(j.at(key), key);
    if (n > std::numeric_limits<std::uint32_t>::max()) throw input_error(in_quotes(key) + " is too large");
    to = static_cast<std::uint32_t>(n);
}
inline void read(const nlohmann::json& j, const char* key, std::vector<std::uint64_t>& to)
{
    to.clear();
    for (const auto& n : j.at(key)) to.push_back(count_from(n, key));
}

/// Leaves `to` as it is where the member is missing: files of earlier versions lack it.
template <class T> void read_if_there(const nlohmann::json& j, const char* key, T& to)
{
    if (j.contains(key)) read(j, key, to);
}

}  // namespace vrambench
