#include "bench/decide/environments.hpp"

#include "spec/errors.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace vrambench {

namespace {

// Measured rates are left out: they are never equal, and the workload's target holds those that its kernels were made for.
constexpr std::array<std::string_view, 2> of_any{"version", "commit"};
constexpr std::array<std::string_view, 7> of_a_host{"build_type", "compiler", "cpu", "host", "kernel", "os", "timer"};
constexpr std::array<std::string_view, 10> of_a_card{"architecture",   "driver",      "driver_version",  "runtime_version", "ecc", "multiprocessors",
                                                     "physical_block", "total_bytes", "vmm_granularity", "pools"};

std::string shown(const environment_fact& f) { return f.is_number ? std::to_string(f.number) : printable(f.text, 60); }

const environment_fact* find(const run_document& run, std::string_view key)
{
    const auto found = std::find_if(run.environment.begin(), run.environment.end(), [&](const auto& f) { return f.key == key; });
    return found == run.environment.end() ? nullptr : &*found;
}

/// "device.cuda:0.driver_version" of the first device that has it.
const environment_fact* find_of_card(const run_document& run, std::string_view key)
{
    const auto found = std::find_if(run.environment.begin(), run.environment.end(), [&](const auto& f) {
        return f.key.starts_with("device.") && f.key.substr(f.key.rfind('.') + 1) == key;
    });
    return found == run.environment.end() ? nullptr : &*found;
}

void add_difference(std::vector<std::string>& to, std::string_view key, const environment_fact* a, const std::string& base_name,
                    const environment_fact* b, const std::string& other_name)
{
    const std::string left = a ? shown(*a) : "not known", right = b ? shown(*b) : "not known";
    if (left != right) to.push_back(std::string(key) + " differs: " + left + " (" + base_name + "), " + right + " (" + other_name + ")");
}

std::set<std::string> devices_of(const run_document& run)
{
    std::set<std::string> all;
    for (const cell& c : run.cells) all.insert(c.on.simulated ? "simulated " + c.on.spec : c.on.kind + " " + c.on.name);
    return all;
}

std::string listed(const std::set<std::string>& words)
{
    std::string text;
    for (const std::string& w : words) text += (text.empty() ? "" : ", ") + printable(w, 60);
    return text.empty() ? "no device" : text;
}

bool has_a_card(const run_document& run)
{
    return std::any_of(run.cells.begin(), run.cells.end(), [](const cell& c) { return !c.on.simulated; });
}

void check_devices(const run_document& base, const std::string& base_name, const run_document& other, const std::string& other_name)
{
    const auto a = devices_of(base), b = devices_of(other);
    if (std::any_of(a.begin(), a.end(), [&](const std::string& d) { return b.contains(d); })) return;
    throw input_error("nothing to compare: " + base_name + " is of " + listed(a) + ", " + other_name + " of " + listed(b) +
                      " (only runs of the same device are compared)");
}

}  // namespace

std::vector<std::string> differences(const run_document& base, const std::string& base_name, const run_document& other,
                                     const std::string& other_name)
{
    check_devices(base, base_name, other, other_name);
    std::vector<std::string> lines;
    for (const auto key : of_any) add_difference(lines, key, find(base, key), base_name, find(other, key), other_name);
    if (!has_a_card(base) || !has_a_card(other)) return lines;
    for (const auto key : of_a_host) add_difference(lines, key, find(base, key), base_name, find(other, key), other_name);
    for (const auto key : of_a_card) add_difference(lines, key, find_of_card(base, key), base_name, find_of_card(other, key), other_name);
    return lines;
}

}  // namespace vrambench
