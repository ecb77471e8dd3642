#pragma once
// Whether a result file can be believed and belongs where it lies: its form, that its cells follow from its repetitions, where
// it comes from, and that no figure is impossible.

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace vrambench {

/// One line a finding, none where all is well. `document` is a whole result file of any kind; of a fit and of a
/// probe's report only the head is judged.
std::vector<std::string> findings_in(const nlohmann::json& document);

/// Findings about the folder below the collection's root in which the file lies ("h200", empty for the root itself):
/// `simulated` holds what the simulator says and nothing else; any other folder's name is part of its cards' name.
std::vector<std::string> findings_of_place(const nlohmann::json& document, const std::string& folder);

}  // namespace vrambench
