#include "bench/table.hpp"

#include "bench/table_rows.hpp"
#include "bench/text_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

namespace vrambench {

namespace {

constexpr std::size_t gap = 2;
constexpr const char* bold = "\033[1m";
constexpr const char* red = "\033[31m";

std::string spaces(std::size_t n) { return std::string(n, ' '); }

std::string printf_text(const char* format, double value)
{
    char text[400];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

std::string with_commas(double value)
{
    std::string digits = printf_text("%.0f", std::abs(value));
    for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
    return (value < 0 && digits != "0" ? "-" : "") + digits;
}

std::string painted(const std::string& s, const char* how, const table_style& style)
{
    return style.color ? how + s + "\033[0m" : s;
}

std::string without_newline(std::string s)
{
    s.erase(s.find_last_not_of('\n') + 1);
    return s;
}

/// Lines of at most `width` columns, broken after commas; further lines are indented. A piece that is longer stays whole.
std::string wrapped(const std::string& text, std::size_t width, std::size_t indent)
{
    std::string out, line;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t comma = text.find(',', from);
        std::string piece = text.substr(from, comma == std::string::npos ? std::string::npos : comma + 1 - from);
        from += piece.size();
        if (!line.empty() && columns(line) + columns(piece) > width) {
            out += without_end_spaces(line) + "\n";
            line = spaces(indent);
            piece.erase(0, piece.find_first_not_of(' '));
        }
        line += piece;
    }
    return out + without_end_spaces(line) + "\n";
}

/// Widths that fit every group, so that the columns of a run stand under each other.
struct layout {
    std::size_t title = 9, outcome = 7;
    std::array<std::size_t, value_columns> values{};
};

layout layout_of(const std::vector<table_group>& groups, std::size_t width)
{
    layout l;
    std::size_t longest_title = l.title;
    for (const table_group& g : groups) {
        const auto headings = column_headings(g.per_token);
        for (std::size_t k = 0; k < value_columns; ++k)
            l.values[k] = std::max({l.values[k], std::strlen(headings[k].upper), std::strlen(headings[k].lower)});
        for (const table_row& r : g.rows) {
            longest_title = std::max(longest_title, columns(r.title));
            if (!r.finished) continue;   // its words run on into the value columns
            l.outcome = std::max(l.outcome, columns(r.outcome));
            for (std::size_t k = 0; k < value_columns; ++k) l.values[k] = std::max(l.values[k], columns(r.values[k]));
        }
    }
    std::size_t taken = gap + l.outcome;
    for (const std::size_t w : l.values) taken += gap + w;
    l.title = std::clamp(longest_title, l.title, std::max(l.title, width - std::min(width, taken)));
    return l;
}

std::string heading_lines(const table_group& g, const layout& l, const table_style& style)
{
    std::string upper = left("allocator", l.title) + spaces(gap) + left("outcome", l.outcome);
    std::string lower = spaces(l.title + gap + l.outcome);
    const auto headings = column_headings(g.per_token);
    for (std::size_t k = 0; k < value_columns; ++k) {
        upper += spaces(gap) + right(headings[k].upper, l.values[k]);
        lower += spaces(gap) + right(headings[k].lower, l.values[k]);
    }
    return painted(upper, bold, style) + "\n" + painted(lower, bold, style) + "\n";
}

/// What did not fit into a row stands whole under the table.
std::string row_lines(const table_row& r, const layout& l, const table_style& style, std::vector<std::string>& notes)
{
    std::string out, title = r.title;
    if (columns(title) > l.title) {   // a line of its own rather than a cut: the cut part may be the difference
        out = title + "\n";
        title.clear();
    }
    out += left(title, l.title) + spaces(gap);
    if (!r.finished) {
        const std::size_t room = style.width - std::min(style.width - 12, l.title + gap);
        if (columns(r.outcome) <= room) return out + painted(r.outcome, red, style) + "\n";
        notes.push_back(r.outcome);
        const std::string mark = " [" + std::to_string(notes.size()) + "]";
        return out + painted(r.outcome.substr(0, r.outcome.find_first_of(":,")) + mark, red, style) + "\n";
    }
    out += left(r.outcome, l.outcome);
    for (std::size_t k = 0; k < value_columns; ++k) out += spaces(gap) + right(r.values[k], l.values[k]);
    return out + "\n";
}

std::string note_lines(const std::vector<std::string>& notes, const table_style& style)
{
    std::string out;
    for (std::size_t i = 0; i < notes.size(); ++i) {
        const std::string mark = "[" + std::to_string(i + 1) + "] ";
        out += wrapped(mark + notes[i], style.width, mark.size());
    }
    return out;
}

/// A limited `ideal` beside the reference looks like the same row twice.
std::string ideal_line(const table_group& g)
{
    const auto has = [&](const char* title) {
        return std::any_of(g.rows.begin(), g.rows.end(), [&](const table_row& r) { return r.title == title; });
    };
    if (!has("ideal") || !has("ideal (reference)")) return "";
    return "ideal keeps to the limit, ideal (reference) has none: added time is against that one.\n";
}

std::string title_lines(const table_group& g, const table_style& style)
{
    const std::string facts = wrapped("  on " + g.facts, style.width, 4);
    if (g.title.empty()) return wrapped(g.workload, style.width, 4) + facts;
    const std::string title = painted(without_newline(wrapped(g.title, style.width, 4)), bold, style);
    return title + "\n" + facts + wrapped("  " + g.workload, style.width, 4);
}

const char* const kind_title = "added ns/token, cold / steady";

/// What a token of each kind costs: a prompt's and a decoded one have nothing in common.
std::string kind_lines(const table_group& g, const layout& l, const table_style& style)
{
    if (g.kinds.empty()) return "";
    const std::size_t title = std::max(l.title, columns(kind_title));
    std::vector<std::size_t> widths;
    for (std::size_t k = 0; k < g.kinds.size(); ++k) {
        widths.push_back(columns(g.kinds[k]));
        for (const table_row& r : g.rows)
            if (r.finished) widths[k] = std::max(widths[k], columns(r.by_kind[k]));
    }
    std::string heading = left(kind_title, title), out;
    for (std::size_t k = 0; k < g.kinds.size(); ++k) heading += spaces(gap) + right(g.kinds[k], widths[k]);
    for (const table_row& r : g.rows) {
        if (!r.finished) continue;
        out += left(r.title, title);
        for (std::size_t k = 0; k < g.kinds.size(); ++k) out += spaces(gap) + right(r.by_kind[k], widths[k]);
        out += "\n";
    }
    return painted(heading, bold, style) + "\n" + out;
}

const char* const floor_title = "MiB reserved after each idle phase, cold";

std::string floor_lines(const table_group& g, const layout& l, const table_style& style)
{
    std::string out;
    for (const table_row& r : g.rows)
        if (!r.floors.empty()) out += wrapped(left(r.title, l.title) + spaces(gap) + r.floors, style.width, l.title + gap);
    return out.empty() ? out : painted(floor_title, bold, style) + "\n" + out;
}

std::string markdown_floors(const table_group& g)
{
    std::string out;
    for (const table_row& r : g.rows)
        if (!r.floors.empty()) out += "- " + r.title + ": " + r.floors + "\n";
    return out.empty() ? out : std::string("\n") + floor_title + ":\n\n" + out;
}

/// A `|` would end a Markdown cell.
std::string escaped(const std::string& s)
{
    std::string out;
    for (const char c : s) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string markdown_heading(const table_group& g)
{
    std::string names = "| allocator | outcome |", rule = "|---|---|";
    const auto headings = column_headings(g.per_token);
    const std::string unit = headings[1].upper;
    const std::array<std::string, value_columns> merged{"added " + unit + ", cold", "added " + unit + ", steady", "peak reserved",
                                                        "device bloat", "driver calls", "flushes/recoveries", "alloc p99",
                                                        "worst alloc"};
    for (const std::string& m : merged) {
        names += " " + m + " |";
        rule += "--:|";
    }
    return names + "\n" + rule + "\n";
}

std::string markdown_row(const table_row& r)
{
    std::string line = "| " + escaped(r.title) + " | " + (r.finished ? escaped(r.outcome) : "**" + escaped(r.outcome) + "**") + " |";
    for (const std::string& v : r.values) line += r.finished ? " " + escaped(v) + " |" : " |";
    return line + "\n";
}

std::string markdown_kinds(const table_group& g)
{
    if (g.kinds.empty()) return "";
    std::string out = std::string("\n| ") + kind_title + " |", rule = "|---|";
    for (const std::string& k : g.kinds) {
        out += " " + escaped(k) + " |";
        rule += "--:|";
    }
    out += "\n" + rule + "\n";
    for (const table_row& r : g.rows) {
        if (!r.finished) continue;
        out += "| " + escaped(r.title) + " |";
        for (const std::string& v : r.by_kind) out += " " + escaped(v) + " |";
        out += "\n";
    }
    return out;
}

const char* const nothing = "Nothing to show: the run has no cells, or none that matches the filter.\n";
const char* const unfinished = "This run is not finished: the table shows what was measured so far.\n";

}  // namespace

table_style style_for(int file_descriptor)
{
    const char* const no_color = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    table_style style;
    style.color = ::isatty(file_descriptor) == 1 && (!no_color || !*no_color) && terminal && std::strcmp(terminal, "dumb") != 0;
    return style;
}

std::string comparison_table(const run_document& run, const table_style& style)
{
    const std::vector<table_group> groups = table_groups(run, style.filter);
    if (groups.empty()) return nothing;
    const layout l = layout_of(groups, style.width);
    std::string out = run.finished ? "" : unfinished;
    for (const table_group& g : groups) {
        if (!out.empty()) out += "\n";
        out += title_lines(g, style) + heading_lines(g, l, style);
        std::vector<std::string> notes;
        for (const table_row& r : g.rows) out += row_lines(r, l, style, notes);
        out += note_lines(notes, style) + ideal_line(g) + kind_lines(g, l, style) + floor_lines(g, l, style);
    }
    out += std::string("\n") + table_legend + "\n";
    for (const std::string& note : device_notes(run, style.filter)) out += wrapped(note, style.width, 4);
    return out;
}

std::string markdown_table(const run_document& run, const std::string& filter)
{
    const std::vector<table_group> groups = table_groups(run, filter);
    if (groups.empty()) return nothing;
    std::string out = run.finished ? "" : unfinished;
    for (const table_group& g : groups) {
        if (!out.empty()) out += "\n";
        if (!g.title.empty()) out += "**" + g.title + "**: ";
        out += "`" + g.workload + "` on " + g.facts + "\n\n" + markdown_heading(g);
        for (const table_row& r : g.rows) out += markdown_row(r);
        out += markdown_kinds(g) + markdown_floors(g);
    }
    out += std::string("\n") + table_legend + "\n";
    for (const std::string& note : device_notes(run, filter)) out += "\n" + note + "\n";
    return out;
}

std::string short_number(double value)
{
    if (!std::isfinite(value)) return "-";
    const double size = std::abs(value);
    if (size == 0) return "0";
    if (size < 0.005) return value < 0 ? "> -0.01" : "< 0.01";
    if (size < 9.995) return printf_text("%.2f", value);
    if (size < 99.95) return printf_text("%.1f", value);
    return with_commas(value);
}

std::string short_count(double value)
{
    if (value != std::floor(value) && value < 100) return printf_text("%.1f", value);
    if (value < 999.5e3) return with_commas(value);
    if (value < 9.9995e6) return with_commas(value / 1e3) + "k";
    if (value < 999.95e6) return printf_text("%.1fM", value / 1e6);
    return printf_text("%.1fG", value / 1e9);
}

}  // namespace vrambench
