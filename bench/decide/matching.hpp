#pragma once
// Which cells are compared with which.

#include "bench/run_document.hpp"

#include <string>
#include <vector>

namespace vrambench {

struct cell_pair {
    const cell* base = nullptr;
    const cell* other = nullptr;
};

struct matched_cells {
    std::vector<cell_pair> pairs;            ///< in the order of the base; references are not among them
    std::size_t only_in_base = 0, only_in_other = 0;
};

/// Cells of two runs that measured the same: device, allocator, workload with its seed, limit, mode, kernels, verification,
/// resident memory, neighbour and faults; `ideal` is left out. Devices are the same by kind and name ("cuda:0" and "cuda:1" are, if both are an H200),
/// simulated ones by their spec. Of several such cells of a run the first counts. Merged documents of several machines are matched
/// machine by machine, by host and cards. Throws input_error where such a document has a cell twice for one of the other.
matched_cells match_files(const run_document& base, const run_document& other);

/// Cells of one run that differ in their allocator alone: of the first allocator named, beside each of the others. Names are
/// specs ("async:retry=sync"), or names or titles as the run has them; none: all of the run but `ideal`, in its order. Throws input_error for a
/// name that the run lacks, and where fewer than two are left.
matched_cells match_allocators(const run_document& run, const std::vector<std::string>& names);

/// Whether `c` is of an allocator that `name` means.
bool is_named(const cell& c, const std::string& name);

/// Whether two cells hold the same measurements: a file against itself, or against what it was before more was added.
bool same_measurements(const cell& a, const cell& b);

}  // namespace vrambench
