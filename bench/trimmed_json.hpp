#pragma once
// Large JSON without the parts that a reader does not need: parsing them costs more than everything else.

#include <span>
#include <string>
#include <string_view>

namespace vrambench {

/// A member to leave out: its name, and how deep the object that holds it stands (the document's own object is 1).
struct trimmed_member {
    std::string_view name;
    int depth;
};

/// `text` with the values of those members replaced by {}. What is not JSON stays so, unless it is inside a value that is left
/// out: of that only brackets and strings are looked at.
std::string without_members(std::string_view text, std::span<const trimmed_member> members);

}  // namespace vrambench
