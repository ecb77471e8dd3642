#include "bench/decide/thresholds.hpp"

#include "bench/benchmark_bridge.hpp"
#include "spec/errors.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace vrambench {

using nlohmann::json;

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& problem)
{
    throw input_error("--thresholds: " + in_quotes(path) + " " + problem);
}

json parsed(const std::string& path)
{
    std::error_code not_there;    // opening it tells that better
    if (std::filesystem::is_directory(path, not_there)) refuse(path, "is a folder: name a file");
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) refuse(path, "cannot be read");
    json j = json::parse(text, nullptr, false);
    if (j.is_discarded()) refuse(path, "is not valid JSON");
    if (!j.is_object() || j.value("schema", json()) != thresholds_schema)
        refuse(path, "is no threshold file: its \"schema\" is not \"" + std::string(thresholds_schema) + "\"");
    return j;
}

void check_keys(const std::string& path, const json& j, const std::vector<std::string>& known)
{
    if (!j.is_object()) refuse(path, "holds something that is no object where one belongs");
    for (const auto& [key, value] : j.items())
        if (std::find(known.begin(), known.end(), key) == known.end()) refuse(path, "has an unknown key " + in_quotes(key));
}

margin_table margins_from(const std::string& path, const json& holder)
{
    margin_table table;
    const auto found = holder.find("margins");
    if (found == holder.end()) return table;
    if (!found->is_object()) refuse(path, "has \"margins\" that are no object of metric and text");
    for (const auto& [metric, value] : found->items()) {
        check_judged_metric(metric, "--thresholds");
        if (!value.is_string()) refuse(path, "has a margin of " + metric + " that is no text like \"1%\" or \"200\"");
        table[metric] = parse_margin(value.get<std::string>(), metric);
    }
    return table;
}

}  // namespace

thresholds::thresholds() = default;
thresholds::thresholds(margin_table typed) : typed_(std::move(typed)) {}
thresholds::~thresholds() = default;
thresholds::thresholds(thresholds&&) noexcept = default;
thresholds& thresholds::operator=(thresholds&&) noexcept = default;

thresholds thresholds::read(const std::string& path, margin_table typed)
{
    const json j = parsed(path);
    check_keys(path, j, {"schema", "margins", "where"});
    thresholds t(std::move(typed));
    t.margins_ = margins_from(path, j);
    const auto where = j.find("where");
    if (where == j.end()) return t;
    if (!where->is_array()) refuse(path, "has a \"where\" that is no list");
    for (const json& one : *where) {
        check_keys(path, one, {"filter", "margins"});
        const auto filter = one.find("filter");
        if (filter == one.end() || !filter->is_string()) refuse(path, "has an entry of \"where\" without a \"filter\"");
        const std::string typed_filter = filter->get<std::string>();
        t.where_.push_back({typed_filter, std::make_unique<name_filter>(typed_filter), margins_from(path, one)});
    }
    return t;
}

margin_table thresholds::of(const cell& c) const
{
    margin_table table = margins_;
    for (const rule& r : where_)
        if (r.filter->matches(benchmark_name(c)))
            for (const auto& [metric, m] : r.margins) table[metric] = m;
    for (const auto& [metric, m] : typed_) table[metric] = m;
    return table;
}

std::vector<std::string> thresholds::without_cells(const std::vector<std::string>& names) const
{
    std::vector<std::string> notes;
    for (const rule& r : where_)
        if (std::none_of(names.begin(), names.end(), [&](const std::string& n) { return r.filter->matches(n); }))
            notes.push_back("--thresholds: the filter " + in_quotes(r.typed) + " matches no cell of the base: its margins count nowhere");
    return notes;
}

}  // namespace vrambench
