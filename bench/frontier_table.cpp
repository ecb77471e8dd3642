#include "bench/frontier_table.hpp"

#include "bench/derive.hpp"
#include "bench/json_text.hpp"
#include "bench/text_columns.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

namespace vrambench {

namespace {

constexpr std::size_t gap = 2;
constexpr std::uint64_t no_limit = UINT64_MAX;    // the largest of all

std::string shown(const std::string& s) { return printable(json_text(s).get<std::string>()); }

/// A row: the allocator, then its text at each limit, in the order of the group's limits.
struct frontier {
    const cell* first = nullptr;
    std::vector<std::uint64_t> limits = {};                         ///< descending: pressure rises
    std::vector<std::string> titles = {};
    std::map<std::pair<std::string, std::uint64_t>, std::string> texts = {};   ///< by title and limit
};

std::string text_of(const run_document& run, const cell& c)
{
    const cell_metrics m = derive(c, reference_of(run, c));
    if (!m.cold.result) return "-";
    if (m.cold.result->what == status::completed)
        return m.cold.numbers && m.cold.numbers->added_ns ? short_number(as_double(m.cold.numbers->added_ns->median)) : "done";
    std::string text = to_string(m.cold.result->what);
    if (m.cold.attempted > 1) text += " " + std::to_string(m.cold.completed) + "/" + std::to_string(m.cold.attempted);
    return text;
}

/// "95%", by what is left for the allocator beside the trace's external memory.
std::string pressure(const cell& c, std::uint64_t limit)
{
    const trace_summary& s = c.workload->summary;
    if (limit == no_limit || limit <= s.max_external_bytes) return "-";
    char text[32];
    const double left = static_cast<double>(limit - s.max_external_bytes);
    std::snprintf(text, sizeof text, "%.4g%%", 100.0 * static_cast<double>(s.max_live_bytes) / left);
    return text;
}

/// "8GiB" where it is a round number, else to the hundredth.
std::string size_text(std::uint64_t bytes)
{
    if (bytes == no_limit) return "none";
    return bytes % MiB == 0 ? exact_size(bytes) : human_size(bytes);
}

std::vector<frontier> frontiers_of(const run_document& run)
{
    std::vector<frontier> all;
    for (const cell& c : run.cells) {
        if (c.reference) continue;
        const std::uint64_t limit = c.vram_limit_bytes.value_or(no_limit);
        const auto holds = [&](const frontier& f) { return same_conditions(*f.first, c) && f.first->inject == c.inject; };
        auto found = std::find_if(all.begin(), all.end(), holds);
        if (found == all.end()) found = all.insert(all.end(), {&c});
        const std::string title = shown(c.allocator.title);
        if (std::find(found->titles.begin(), found->titles.end(), title) == found->titles.end()) found->titles.push_back(title);
        if (std::find(found->limits.begin(), found->limits.end(), limit) == found->limits.end()) found->limits.push_back(limit);
        found->texts[{title, limit}] = text_of(run, c);
    }
    for (auto& f : all) std::sort(f.limits.rbegin(), f.limits.rend());
    return all;
}

constexpr const char* legend =
    "pressure: max live as a share of the limit less the memory outside the allocator (resident, and the trace's own).\n"
    "limit: what is free before anything is resident: a size stands for a card of that size.\n"
    "A word where not every repetition completed, with how many did.\n";

std::string facts_of(const frontier& f)
{
    const cell& c = *f.first;
    std::string facts = (c.on.simulated ? "simulated " : c.on.kind + " ") + c.on.name + ", max live " +
                        human_size(c.workload->summary.max_live_bytes);
    if (c.resident_bytes) facts += ", resident " + exact_size(c.resident_bytes);
    if (!c.neighbour.empty()) facts += ", neighbour " + c.neighbour;
    if (!c.inject.empty()) facts += ", inject " + c.inject;
    return shown(facts + ", kernels " + to_string(c.kernels));
}

/// As many columns as fit into the width stand beside each other; the others follow below.
std::string lines_of(const frontier& f, const table_style& style)
{
    std::size_t title_width = 9, width = 6;
    for (const auto& t : f.titles) title_width = std::max(title_width, t.size());
    for (const auto& [key, text] : f.texts) width = std::max(width, text.size());
    for (const auto limit : f.limits) width = std::max(width, size_text(limit).size());
    const std::size_t room = style.width - std::min(style.width, title_width);
    const std::size_t columns = std::max<std::size_t>(1, room / (width + gap));
    std::string out;
    for (std::size_t begin = 0; begin < f.limits.size(); begin += columns) {
        const std::size_t end = std::min(f.limits.size(), begin + columns);
        std::string heading = left("pressure", title_width);
        for (std::size_t k = begin; k < end; ++k) heading += std::string(gap, ' ') + right(pressure(*f.first, f.limits[k]), width);
        std::string limits = left("limit", title_width);
        for (std::size_t k = begin; k < end; ++k) limits += std::string(gap, ' ') + right(size_text(f.limits[k]), width);
        out += style.color ? "\033[1m" + heading + "\n" + limits + "\033[0m\n" : heading + "\n" + limits + "\n";
        for (const auto& title : f.titles) {
            std::string line = left(title, title_width);
            for (std::size_t k = begin; k < end; ++k) {
                const auto text = f.texts.find({title, f.limits[k]});
                line += std::string(gap, ' ') + right(text == f.texts.end() ? "-" : text->second, width);
            }
            out += line + "\n";
        }
    }
    return out;
}

}  // namespace

std::string frontier_table(const run_document& run, const table_style& style)
{
    std::string out = run.finished ? "" : "This run is not finished: the table shows what was measured so far.\n\n";
    for (const auto& f : frontiers_of(run)) {
        const char* const per = f.first->workload->summary.tokens > 0 ? "token" : "step";
        out += shown(f.first->workload->recipe->header().spec) + "\n  on " + facts_of(f) + "\n  added ns/" + per + ", cold\n";
        out += lines_of(f, style) + "\n";
    }
    return out + legend;
}

}  // namespace vrambench
