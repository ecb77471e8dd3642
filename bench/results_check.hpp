#pragma once
// Whether a result file can be believed and belongs where it lies: its form, that its cells follow from its repetitions and
// these from their traces, where it comes from, and that no figure is impossible.

#include "bench/check/recipes.hpp"
#include "bench/run_document.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace vrambench {

/// Judges files one after the other; a workload that several of them name is made once.
class results_checker {
public:
    struct verdict {
        std::vector<std::string> findings;   ///< one line each, none where all is well
        std::vector<std::string> notes;      ///< what could not be judged, and why
    };
    /// `document` is a whole result file of any kind; of a fit and of a probe's report only the head is judged.
    verdict judge(const nlohmann::json& document);

private:
    verdict judge_run(const nlohmann::json& document);
    void judge_cells(const run_document& run, verdict& v);
    checking::recipe* recipe_of(const cell& c, std::set<std::string>& missing, std::vector<std::string>& found);

    checking::recipe_shelf shelf_;
};

/// The first finding about a part that a merged file would not show any more: there its cells are derived anew, its repetitions
/// numbered on, and its command is one of several. None where all is well. `run` is what `document` holds; no workload is made.
std::optional<std::string> finding_before_merge(const nlohmann::json& document, const run_document& run);

/// Findings about the folder below the collection's root in which the file lies ("h200", empty for the root itself):
/// `simulated` holds what the simulator says and nothing else; any other folder's name is part of its cards' name.
std::vector<std::string> findings_of_place(const nlohmann::json& document, const std::string& folder);

}  // namespace vrambench
