#pragma once
// A comparison for people and for documents.

#include "bench/decide/comparison.hpp"
#include "bench/table.hpp"

#include <string>

namespace vrambench {

/// Plain text, ending in a newline. `style.filter` is not used: the comparison is filtered already.
std::string comparison_text(const comparison& c, const table_style& style, bool changes);

/// The same as Markdown.
std::string comparison_markdown(const comparison& c, bool changes);

}  // namespace vrambench
