#pragma once
// What the processes of a probe answered, together.

#include "bench/probe/probe.hpp"

#include <map>
#include <string>
#include <vector>

namespace vrambench::probing {

/// One question over all processes. What is broken in any process is the verdict, since a defect that shows in some runs is
/// one; else what most of them said.
struct summed_finding {
    finding best;                            ///< of the first process with the verdict
    unsigned said = 0, asked = 0;            ///< processes with this verdict, and with any
    std::map<std::string, unsigned> verdicts = {};   ///< all that were given
};

struct probe_summary {
    std::string name;
    unsigned processes = 0;
    std::vector<summed_finding> findings;    ///< in the order of the first process that knew them
};

probe_summary summarise(const probe_entry& probe, const std::vector<process_report>& reports);

/// Evidence with the processes that gave it: "refused at step 3 (21 of 30 processes)".
std::string evidence_of(const summed_finding& f);

/// The first broken finding of the probe as one line, or empty: why an allocator that needs this cannot be used.
std::string first_defect(const std::vector<finding>& findings);

}  // namespace vrambench::probing
