#include "allocators/registry.hpp"
#include "bench/commands.hpp"
#include "bench/metrics.hpp"
#include "device/registry.hpp"
#include "device/sim/profile.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/engine/model.hpp"
#include "workloads/engine/target.hpp"
#include "workloads/registry.hpp"

#include <algorithm>
#include <iostream>
#include <sstream>

namespace vrambench {

namespace {

constexpr std::size_t page_width = 110;

/// Prints `text` wrapped behind `first`, later lines indented to `indent`.
void wrapped(const std::string& first, std::size_t indent, const std::string& text)
{
    std::string line = first;
    line.resize(std::max(indent, first.size() + 1), ' ');
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (line.size() + word.size() > page_width && line.size() > indent) {
            std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
            line.assign(indent, ' ');
        }
        line += word + ' ';
    }
    std::cout << line.substr(0, line.find_last_not_of(' ') + 1) << '\n';
}

std::string accepted(const key_info& k)
{
    std::string words;
    for (const auto& c : k.choices) words += (words.empty() ? "" : "|") + c;
    switch (k.type) {
    case key_type::size: return words.empty() ? "SIZE" : "SIZE|" + words;
    case key_type::integer: return words.empty() ? "N" : "N|" + words;
    case key_type::number: return "X";
    case key_type::choice: return words;
    case key_type::text: return words.empty() ? "TEXT" : words;
    }
    return "";
}

void print_key(const key_info& k)
{
    std::string what = accepted(k);
    if (!k.unit.empty()) what += " " + k.unit;
    what += k.default_value.empty() ? ", must be given" : ", default " + k.default_value;
    wrapped("    " + k.name + "=", 22, "(" + what + ") " + k.help);
}

void print_entries(const std::string& title, const std::vector<const entry*>& entries)
{
    std::cout << title << "\n\n";
    for (const auto* e : entries) {
        const std::string name = "  " + e->name + (e->positional_help.empty() ? "" : ":...");
        wrapped(name, 18, e->help);
        if (!e->positional_help.empty()) wrapped("", 18, e->name + ":" + e->positional_help);
        if (!e->origin.empty()) wrapped("", 18, "from: " + e->origin);
        for (const auto& k : e->keys) print_key(k);
        std::cout << '\n';
    }
}

void print_devices()
{
    print_entries("devices (--device NAME[:...])", device_entries());
    std::cout << "  profiles of sim:\n";
    for (const auto& [name, text] : sim::built_in_profiles()) {
        const sim::profile p = sim::parse_profile(text, name);
        wrapped("    " + name, 18, human_size(p.free_bytes) + " free, blocks of " + human_size(p.physical_block) + ". " + p.source);
    }
    std::cout << '\n';
}

void print_metrics()
{
    std::cout << "metrics (docs/metrics.md)\n\n";
    for (const auto& m : metrics())
        wrapped("  " + std::string(m.name), 26,
                "(" + std::string(m.unit) + ", better: " + to_string(m.direction) + ") " + std::string(m.help));
    std::cout << '\n';
}

void print_allocators() { print_entries("allocators (--allocator NAME[:key=value,...])", allocator_entries()); }
void print_workloads() { print_entries("workloads (--workload NAME[:key=value,...])", workload_entries()); }

void print_models()
{
    std::cout << "models (model=NAME of the fattn workloads, or model=@FILE.json)\n\n";
    for (const auto& [name, text] : engine::built_in_models()) wrapped("  " + name, 20, engine::parse_model(text, name).source);
    std::cout << '\n';
}

void print_targets()
{
    std::cout << "targets (target=NAME of the fattn workloads, or target=@FILE.json; auto: the device's own)\n\n";
    for (const auto& [name, text] : engine::built_in_targets()) wrapped("  " + name, 20, engine::parse_target(text, name).source);
    std::cout << '\n';
}

struct topic {
    const char* name;
    void (*print)();
};
constexpr topic topics[] = {
    {"devices", print_devices}, {"allocators", print_allocators}, {"workloads", print_workloads},
    {"models", print_models}, {"targets", print_targets}, {"metrics", print_metrics}};

int list(const std::string& what)
{
    std::vector<std::string> names;
    for (const auto& t : topics) names.emplace_back(t.name);
    if (!what.empty() && std::find(names.begin(), names.end(), what) == names.end())
        throw input_error("nothing to list under " + in_quotes(what) + ": one of " + joined(names) + did_you_mean(what, names));
    for (const auto& t : topics)
        if (what.empty() || what == t.name) t.print();
    return 0;
}

}  // namespace

void add_list(CLI::App& app, command& chosen)
{
    auto* sub = app.add_subcommand("list", "explain every name, key, default and unit");
    auto what = std::make_shared<std::string>();
    sub->add_option("what", *what, "devices, allocators, workloads, models, targets or metrics (default: all)");
    sub->footer("Exit codes: 0 listed; 2 bad usage.\n\nExamples:\n  vrambench list\n  vrambench list allocators");
    sub->callback([what, &chosen] { chosen = [what] { return list(*what); }; });
}

}  // namespace vrambench
