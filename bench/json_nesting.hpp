#pragma once
// How deep JSON is nested, known before it is parsed: what walks a document afterwards calls itself once a level.

#include <string_view>

namespace vrambench {

/// Whether arrays and objects stand in each other more than `most` levels deep. One pass over the text, which may be anything.
bool is_nested_deeper(std::string_view text, int most);

}  // namespace vrambench
