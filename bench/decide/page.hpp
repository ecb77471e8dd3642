#pragma once
// A page of headings, sentences and tables, as plain text for a terminal or as Markdown for a pull request.

#include <cstdint>
#include <string>
#include <vector>

namespace vrambench::decide {

enum class page_style : std::uint8_t { text, markdown };

class page {
public:
    explicit page(page_style style) : style_(style) {}
    void heading(int level, const std::string& text);
    void sentence(const std::string& text);              ///< a paragraph of its own
    void item(const std::string& text);                  ///< of a list
    /// The first column is aligned to the left, numbers in the others to the right. Nothing for a table without rows.
    void table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows);
    /// A name that is to be read as code.
    std::string code(const std::string& text) const;
    std::string strong(const std::string& text) const;
    const std::string& text() const { return out_; }

private:
    bool markdown() const { return style_ == page_style::markdown; }
    void end_list();

    page_style style_;
    bool in_list_ = false;
    std::string out_;
};

}  // namespace vrambench::decide
