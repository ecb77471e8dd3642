#include "bench/decide/references.hpp"

#include "bench/derive.hpp"

#include <algorithm>

namespace vrambench {

references::references(const run_document& run)
{
    for (const cell& c : run.cells)
        if (may_be_reference(c)) by_workload_[c.workload->recipe->header().spec].push_back(&c);
}

const cell* references::of(const cell& c) const
{
    const auto candidates = by_workload_.find(c.workload->recipe->header().spec);
    if (candidates == by_workload_.end()) return nullptr;
    const auto found = std::find_if(candidates->second.begin(), candidates->second.end(), [&](const cell* r) { return same_conditions(*r, c); });
    return found == candidates->second.end() ? nullptr : *found;
}

}  // namespace vrambench
