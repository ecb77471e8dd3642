#pragma once
// reference_of() for files of many cells: a look-up instead of a search.

#include "bench/run_document.hpp"

#include <map>
#include <string>
#include <vector>

namespace vrambench {

/// Points into the run, which must outlive it unchanged.
class references {
public:
    explicit references(const run_document& run);
    /// What reference_of() finds; null where the run has none.
    const cell* of(const cell& c) const;

private:
    std::map<std::string, std::vector<const cell*>> by_workload_;
};

}  // namespace vrambench
