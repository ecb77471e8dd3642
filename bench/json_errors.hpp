#pragma once
// What is wrong with a JSON document that is read as one of ours: the library's messages name its own types.

#include "spec/errors.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace vrambench {

/// JSON's types, with their article.
inline std::string kind_of_json(std::string_view name)
{
    if (name == "string") return "text";
    return (name == "array" || name == "object" ? "an " : name == "null" ? "" : "a ") + std::string(name);
}

/// "'seed' is missing", "text stands where a number belongs", "a number is too large to be read: '1e999'".
inline std::string in_our_words(const nlohmann::json::exception& e)
{
    constexpr int wrong_type = 302, no_members = 304, no_such_member = 403, number_overflow = 406;
    const std::string_view text = e.what();    // "[json.exception.type_error.302] type must be number, but is string"
    const std::string_view said = text.substr(text.find("] ") == text.npos ? 0 : text.find("] ") + 2);
    const std::string last(said.substr(said.rfind(' ') + 1));
    if (e.id == no_such_member) return printable(said.substr(said.find('\''), said.rfind('\'') - said.find('\'') + 1)) + " is missing";
    if (e.id == number_overflow) return "a number is too large to be read: " + printable(last, 60);
    if (e.id == no_members) return kind_of_json(last) + " stands where an object belongs";
    constexpr std::string_view must_be = "type must be ";
    if (e.id != wrong_type || !said.starts_with(must_be)) return printable(said);
    return kind_of_json(last) + " stands where " + kind_of_json(said.substr(must_be.size(), said.find(',') - must_be.size())) + " belongs";
}

/// What `read` gives; what it throws about a document says where: "cells/3: repetitions/1: 'order' is missing". Throws input_error.
template <class Read> auto read_at(const std::string& place, Read read)
{
    try {
        return read();
    } catch (const nlohmann::json::exception& e) {
        throw input_error(place + ": " + in_our_words(e));
    } catch (const input_error& e) {
        throw input_error(place + ": " + e.what());
    }
}

}  // namespace vrambench
