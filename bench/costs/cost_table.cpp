#include "bench/costs/cost_table.hpp"

#include "bench/text_columns.hpp"
#include "spec/units.hpp"

#include <set>

namespace vrambench::costs {

namespace {

std::string microseconds(std::int64_t ps)
{
    const double us = static_cast<double>(ps) * 1e-6;
    char text[32];
    std::snprintf(text, sizeof text, us < 10 ? "%.2f" : us < 1000 ? "%.1f" : "%.0f", us);
    return text;
}

std::string cell(const spread* t)
{
    if (!t) return "-";
    return microseconds(t->median) + " (" + microseconds(t->p10) + "-" + microseconds(t->p90) + ")";
}

std::string picoseconds(const spread& t)
{
    return std::to_string(t.median) + " ps (" + std::to_string(t.p10) + "-" + std::to_string(t.p90) + ")";
}

std::string size_text(std::uint64_t bytes)
{
    const std::string exact = exact_size(bytes);
    return exact.find('B') == std::string::npos ? exact + " B" : exact;
}

void print_call(const cost_summary& s, const std::string& call, std::string& out)
{
    std::set<std::uint64_t> sizes;
    for (int i = 0; i < situations; ++i)
        for (const auto bytes : s.sizes(call, static_cast<situation>(i))) sizes.insert(bytes);
    for (const auto bytes : sizes) {
        std::string line = column(call, 12) + column(size_text(bytes), 10);
        for (int i = 0; i < situations; ++i) line += column(cell(s.find({call, static_cast<situation>(i), bytes})), 24);
        out += without_end_spaces(line) + "\n";
    }
}

}  // namespace

std::string cost_table(const cost_summary& s)
{
    const auto simulated = s.words.find("simulated");
    std::string out = simulated != s.words.end() && simulated->second == "yes" ? "SIMULATED, the profile's own prices: " : "";
    out += "driver calls, us: median over " + std::to_string(s.processes) +
                      (s.processes == 1 ? " process" : " processes") + " (p10-p90); refused: by free bytes\n\n";
    std::string head = column("call", 12) + column("size", 10);
    for (int i = 0; i < situations; ++i) head += column(to_string(static_cast<situation>(i)), 24);
    out += without_end_spaces(head) + "\n";
    for (const char* call : {"malloc", "free", "create", "map", "set_access", "unmap", "release"}) print_call(s, call, out);
    out += "\nother costs, us\n\n";
    for (const auto& [key, t] : s.ps)
        if (key.when == situation::idle && key.bytes == 0)
            out += column(key.call, 28) + (key.call == "work_unit" ? picoseconds(t) : cell(&t)) + "\n";
    for (const char* key : {"launch_queue", "raw_margin", "handle_margin", "clean_bytes_per_second"})
        if (const auto it = s.facts.find(key); it != s.facts.end()) out += column(key, 28) + std::to_string(it->second) + "\n";
    for (const auto& note : s.notes) out += "note: " + note + "\n";
    return out;
}

}  // namespace vrambench::costs
