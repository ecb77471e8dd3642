#include "bench/decide/comparison_text.hpp"

#include "bench/decide/comparison_rows.hpp"
#include "bench/text_columns.hpp"

#include <algorithm>

namespace vrambench {

namespace {

constexpr std::size_t gap = 2;

struct layout {
    std::size_t what = 4;
    std::array<std::size_t, comparison_columns> values{};
};

bool has_values(const comparison_row& r) { return !r.values[0].empty(); }

/// Widths that fit every group, so that columns stand under each other.
layout layout_of(const std::vector<comparison_group>& groups)
{
    layout l;
    for (std::size_t k = 0; k < comparison_columns; ++k) l.values[k] = std::string(comparison_headings[k]).size();
    for (const comparison_group& g : groups)
        for (const comparison_block& b : g.blocks)
            for (const comparison_row& r : b.rows) {
                l.what = std::max(l.what, r.what.size());
                for (std::size_t k = 0; k < comparison_columns; ++k) l.values[k] = std::max(l.values[k], r.values[k].size());
            }
    return l;
}

std::string heading(const layout& l, const table_style& style)
{
    std::string line = std::string(gap, ' ') + left("what", l.what);
    for (std::size_t k = 0; k < comparison_columns; ++k) line += std::string(gap, ' ') + right(comparison_headings[k], l.values[k]);
    line += std::string(gap, ' ') + "verdict";
    return style.color ? "\033[1m" + line + "\033[0m\n" : line + "\n";
}

std::string line_of(const comparison_row& r, const layout& l, const table_style& style)
{
    std::string line = std::string(gap, ' ') + left(r.what, l.what) + std::string(gap, ' ');
    if (has_values(r))
        for (std::size_t k = 0; k < comparison_columns; ++k) line += right(r.values[k], l.values[k]) + std::string(gap, ' ');
    return line + (style.color && r.bad ? "\033[31m" + r.verdict + "\033[0m" : r.verdict) + "\n";
}

/// "also: one; two; three" in lines of at most `width`.
std::string also_lines(const std::vector<std::string>& described, std::size_t width)
{
    std::string out, line = "  also: ";
    for (std::size_t i = 0; i < described.size(); ++i) {
        const std::string piece = described[i] + (i + 1 < described.size() ? "; " : "");
        if (line.size() > 8 && line.size() + piece.size() > width) {
            out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
            line = std::string(8, ' ');
        }
        line += piece;
    }
    return described.empty() ? "" : out + line + "\n";
}

/// A `|` would end a Markdown cell.
std::string escaped(const std::string& s)
{
    std::string out;
    for (const char c : s) out += c == '|' ? std::string("\\|") : std::string(1, c);
    return out;
}

std::string markdown_row(const std::string& allocator, const comparison_row& r)
{
    std::string line = "| " + escaped(allocator) + " | " + escaped(r.what) + " |";
    for (const std::string& v : r.values) line += v.empty() ? " |" : " " + escaped(v) + " |";
    return line + (r.bad ? " **" + escaped(r.verdict) + "** |\n" : " " + escaped(r.verdict) + " |\n");
}

std::string markdown_heading()
{
    std::string names = "| allocator | what |", rule = "|---|---|";
    for (const char* const name : comparison_headings) {
        names += std::string(" ") + name + " |";
        rule += "--:|";
    }
    return names + " verdict |\n" + rule + "---|\n";
}

const char* const no_changes = "Nothing changed: every pair is the same.\n";

}  // namespace

std::string comparison_text(const comparison& c, const table_style& style, bool changes)
{
    const auto groups = comparison_groups(c, changes);
    const layout l = layout_of(groups);
    std::string out;
    for (const std::string& w : c.warnings) out += "note: " + w + "\n";
    if (!c.warnings.empty()) out += "\n";
    if (groups.empty()) out += no_changes;
    for (const comparison_group& g : groups) {
        out += g.workload + "\n  on " + g.facts + "\n" + heading(l, style);
        for (const comparison_block& b : g.blocks) {
            out += b.allocator + "\n";
            for (const comparison_row& r : b.rows) out += line_of(r, l, style);
            out += also_lines(b.described, style.width);
        }
        out += "\n";
    }
    return out + (groups.empty() ? "" : std::string(comparison_legend) + "\n") + counts_words(c.counts) + family_words(c) + "\n";
}

std::string comparison_markdown(const comparison& c, bool changes)
{
    const auto groups = comparison_groups(c, changes);
    std::string out;
    for (const std::string& w : c.warnings) out += "- " + w + "\n";
    if (!c.warnings.empty()) out += "\n";
    if (groups.empty()) out += no_changes;
    for (const comparison_group& g : groups) {
        out += "`" + g.workload + "` on " + g.facts + "\n\n" + markdown_heading();
        for (const comparison_block& b : g.blocks)
            for (const comparison_row& r : b.rows) out += markdown_row(b.allocator, r);
        out += "\n";
        for (const comparison_block& b : g.blocks)
            if (!b.described.empty()) out += "- " + b.allocator + " " + also_lines(b.described, std::string::npos).substr(2);
        out += "\n";
    }
    return out + (groups.empty() ? "" : std::string(comparison_legend) + "\n\n") + counts_words(c.counts) + family_words(c) + "\n";
}

}  // namespace vrambench
