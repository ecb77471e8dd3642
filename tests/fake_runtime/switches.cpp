#include "tests/fake_runtime/switches.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

namespace vrambench::fake {

namespace {

[[noreturn]] void refuse(std::string_view text)
{
    std::fprintf(stderr, "fake runtime: does not know '%.*s' (tests/fake_runtime/switches.hpp)\n", static_cast<int>(text.size()), text.data());
    std::exit(3);
}

std::vector<std::string> split(std::string_view text, char at)
{
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(at, begin), text.size());
        parts.emplace_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

fault parse_fault(const std::string& text)
{
    if (text.empty()) return {};
    const auto parts = split(text, ':');
    if (parts.size() != 3) refuse(text);
    return {parts[0], std::stoull(parts[1]), parts[1].ends_with('+'), std::stoi(parts[2])};
}

std::set<std::string, std::less<>> parse_defects(const std::string& text)
{
    std::set<std::string, std::less<>> chosen;
    if (text.empty()) return chosen;
    for (const auto& name : split(text, '+')) {
        if (std::none_of(std::begin(defects), std::end(defects), [&](const defect& d) { return d.name == name; })) refuse(name);
        chosen.insert(name);
    }
    return chosen;
}

}  // namespace

void switches::apply(std::string_view text)
{
    for (const auto& part : split(text, ';')) {
        if (part.empty()) continue;
        const std::size_t at = part.find('=');
        if (at == std::string::npos) refuse(part);
        const std::string key = part.substr(0, at), value = part.substr(at + 1);
        if (key == "device") device = value;
        else if (key == "devices") devices = std::stoi(value);
        else if (key == "driver") driver = std::stoi(value);
        else if (key == "pace") pace = value != "0";
        else if (key == "fail") fail = parse_fault(value);
        else if (key == "defects") defects = parse_defects(value);
        else refuse(part);
    }
}

}  // namespace vrambench::fake
