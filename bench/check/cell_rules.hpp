#pragma once
// What must hold of a cell and of the repetitions in it, beyond what each pass says alone.

#include "bench/check/expectations.hpp"
#include "bench/check/recipes.hpp"
#include "bench/run_document.hpp"

namespace vrambench::checking {

/// The first thing about the cell that cannot be. `known` is its trace, null where it cannot be made again.
std::optional<std::string> broken_rule(const run_document& run, const cell& c, recipe* known);

/// Marks the positions of the trace that broken_rule() will ask for, so that it is read once.
void want_positions(const cell& c, recipe& known);

/// Findings of the document: its seed beside its command, and that a simulated device is the same in all its cells.
std::vector<std::string> findings_of_plan(const run_document& run);

/// Findings of the document: the numbering of all its repetitions, and the processes that measured them.
std::vector<std::string> findings_of_numbering(const run_document& run);

/// The first thing about the cell that cannot be beside the document's own command and numbering, which a merged file does not
/// keep.
std::optional<std::string> broken_rule_of_one_run(const run_document& run, const cell& c);

}  // namespace vrambench::checking
