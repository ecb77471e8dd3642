#pragma once
// The comparison table: what a run says, for people. One group a workload and limit, one row an allocator.

#include "bench/run_document.hpp"

#include <string>

namespace vrambench {

struct table_style {
    bool color = false;
    std::size_t width = 120;                 ///< columns; long specs are wrapped, long titles shortened
    std::string filter = {};                 ///< as of table_groups()
};

/// Colour only where `file_descriptor` is a terminal that knows it and NO_COLOR is not set.
table_style style_for(int file_descriptor);

/// Plain text, ending in a newline.
std::string comparison_table(const run_document& run, const table_style& style = {});

/// The same as Markdown, for documents.
std::string markdown_table(const run_document& run, const std::string& filter = {});

/// "0.42", "12.3", "1,234": digits that a reader can compare down a column.
std::string short_number(double value);
/// "123,456", "1,234k", "12.3M"; halves ("2.5", of a median) are shown below 100.
std::string short_count(double value);

}  // namespace vrambench
