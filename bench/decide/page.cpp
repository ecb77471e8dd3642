#include "bench/decide/page.hpp"

#include "bench/text_columns.hpp"
#include "spec/errors.hpp"

#include <algorithm>

namespace vrambench::decide {

namespace {

constexpr std::size_t page_width = 120;

/// Wraps at spaces; lines after the first are indented.
std::string wrapped(const std::string& text, std::size_t indent)
{
    std::string out;
    std::size_t column = 0, at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::size_t length = end - at;
        if (column != 0 && column + 1 + length > page_width) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column != 0) {
            out += ' ';
            ++column;
        }
        out.append(text, at, length);
        column += length;
        at = end + 1;
    }
    return out + "\n";
}

std::string escaped(std::string text)
{
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return text;
}

}  // namespace

void page::end_list()
{
    if (in_list_) out_ += '\n';
    in_list_ = false;
}

void page::heading(int level, const std::string& text)
{
    end_list();
    out_ += markdown() ? std::string(static_cast<std::size_t>(level), '#') + " " + printable(text) + "\n\n"
                       : printable(text) + "\n";
    if (!markdown()) out_ += std::string(std::min(text.size(), page_width), level == 1 ? '=' : '-') + "\n";
}

void page::sentence(const std::string& text)
{
    end_list();
    out_ += (markdown() ? printable(text) + "\n" : wrapped(printable(text), 0)) + "\n";
}

void page::item(const std::string& text)
{
    in_list_ = true;
    out_ += markdown() ? "- " + printable(text) + "\n" : wrapped("- " + printable(text), 2);
}

void page::table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows)
{
    end_list();
    if (rows.empty()) return;
    std::vector<std::size_t> width;
    for (const auto& h : head) width.push_back(columns(h));
    for (const auto& row : rows)
        for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], columns(row[i]));
    const auto line = [&](const std::vector<std::string>& row) {
        std::string text = markdown() ? "|" : "";
        for (std::size_t i = 0; i < row.size(); ++i)
            text += markdown() ? " " + escaped(printable(row[i])) + " |"
                               : (i ? "  " : "") + (i == 0 ? left : right)(printable(row[i]), width[i]);
        return without_end_spaces(text) + "\n";
    };
    out_ += line(head);
    if (markdown()) {
        out_ += "|---|";
        for (std::size_t i = 1; i < head.size(); ++i) out_ += "--:|";
        out_ += '\n';
    }
    for (const auto& row : rows) out_ += line(row);
    out_ += '\n';
}

std::string page::code(const std::string& text) const { return markdown() ? "`" + text + "`" : text; }
std::string page::strong(const std::string& text) const { return markdown() ? "**" + text + "**" : text; }

}  // namespace vrambench::decide
