#include "bench/derive.hpp"
#include "bench/fit/document.hpp"
#include "bench/json_text.hpp"
#include "bench/text_columns.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace vrambench::fit {

namespace {

constexpr std::size_t columns = 5;
using row = std::array<std::string, columns>;

struct group {
    std::string title, facts;
    row heading;
    std::vector<row> rows;
};

std::string shown(const std::string& s) { return printable(json_text(s).get<std::string>()); }

std::string value_text(const fitted& f, std::uint64_t value) { return f.vary ? std::to_string(value) : exact_size(value); }

std::string times(std::uint64_t bytes, std::uint64_t live)
{
    if (live == 0) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%.2fx", static_cast<double>(bytes) / static_cast<double>(live));
    return text;
}

/// What is tried was found to complete in these ranges only.
std::string islands_text(const fitted& f)
{
    constexpr std::size_t most = 4;
    const auto& islands = f.found->islands;
    std::string text = "not monotonic: completes at ";
    for (std::size_t i = 0; i < std::min(islands.size(), most); ++i) {
        if (i > 0) text += ", ";
        text += value_text(f, islands[i].from);
        if (islands[i].to != islands[i].from) text += " to " + value_text(f, islands[i].to);
    }
    if (islands.size() > most) text += " and " + std::to_string(islands.size() - most) + " more";
    return text;
}

std::string beyond_text(const fitted& f)
{
    if (!f.found->beyond) return f.found->best ? "(end of the range)" : "";
    return shown(in_words(*f.found->beyond));
}

row row_of(const fitted& f)
{
    const std::string title = shown(f.what.allocator.title);
    if (!f.found) return {title, "not searched", "", "", ""};
    const result& r = *f.found;
    const std::string notes = r.monotonic ? "" : islands_text(f);
    if (!r.best) return {title, "none", "-", beyond_text(f), notes};
    const std::string relation = f.vary ? human_size(r.max_live_bytes) : times(*r.best, r.max_live_bytes);
    return {title, value_text(f, *r.best), relation, beyond_text(f), notes};
}

std::string facts_of(const fitted& f)
{
    const cell& c = f.what;
    std::string facts = (c.on.simulated ? "simulated " : c.on.kind + " ") + c.on.name;
    if (f.vary) facts += c.vram_limit_bytes ? ", limit " + exact_size(*c.vram_limit_bytes) : ", no limit";
    if (c.resident_bytes) facts += ", resident " + exact_size(c.resident_bytes);
    if (!f.vary) facts += ", max live " + human_size(c.workload->summary.max_live_bytes);
    if (f.vary)
        facts += ", " + f.vary->key + " " + std::to_string(f.vary->from) + " to " + std::to_string(f.vary->to) + " by " +
                 std::to_string(f.vary->step);
    if (c.mode != run_mode::eager) facts += std::string(", mode ") + to_string(c.mode);
    return shown(facts);
}

row heading_of(const fitted& f)
{
    if (f.vary) return {"allocator", "largest " + f.vary->key, "max live there", "one more", ""};
    return {"allocator", "smallest limit", "over max live", "one less", ""};
}

std::vector<group> groups_of(const document& d)
{
    std::vector<group> groups;
    for (const auto& f : d.cells) {
        const std::string title = shown(f.vary ? f.workload : f.what.workload->recipe->header().spec), facts = facts_of(f);
        auto found = std::find_if(groups.begin(), groups.end(), [&](const group& g) { return g.title == title && g.facts == facts; });
        if (found == groups.end()) found = groups.insert(groups.end(), {title, facts, heading_of(f), {}});
        found->rows.push_back(row_of(f));
    }
    return groups;
}

std::string line_of(const row& r, const std::array<std::size_t, columns>& widths)
{
    std::string line;
    for (std::size_t k = 0; k < columns; ++k) line += (k == 1 || k == 2 ? right : left)(r[k], widths[k]) + "  ";
    return without_end_spaces(line) + "\n";
}

std::string legend(const document& d)
{
    const bool varied = !d.cells.empty() && d.cells.front().vary;
    return varied ? "largest value that completes at the limit, and how one step more ends.\n"
                  : "smallest limit at which the cold pass completes, and how one step less ends.\n";
}

}  // namespace

std::string table(const document& d, const table_style& style)
{
    const auto groups = groups_of(d);
    std::array<std::size_t, columns> widths{};
    for (const auto& g : groups) {
        for (std::size_t k = 0; k < columns; ++k) widths[k] = std::max(widths[k], g.heading[k].size());
        for (const auto& r : g.rows)
            for (std::size_t k = 0; k < columns; ++k) widths[k] = std::max(widths[k], r[k].size());
    }
    std::string out;
    for (const auto& g : groups) {
        out += g.title + "\n  on " + g.facts + "\n";
        const std::string heading = line_of(g.heading, widths);
        out += style.color ? "\033[1m" + heading.substr(0, heading.size() - 1) + "\033[0m\n" : heading;
        for (const auto& r : g.rows) out += line_of(r, widths);
        out += "\n";
    }
    return out + legend(d);
}

std::string markdown(const document& d)
{
    std::string out;
    for (const auto& g : groups_of(d)) {
        out += "`" + g.title + "` on " + g.facts + "\n\n|";
        for (const auto& h : g.heading) out += " " + h + " |";
        out += "\n|---|--:|--:|---|---|\n";
        for (const auto& r : g.rows) {
            out += "|";
            for (const auto& text : r) out += " " + text + " |";
            out += "\n";
        }
        out += "\n";
    }
    return out + legend(d);
}

}  // namespace vrambench::fit
