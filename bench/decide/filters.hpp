#pragma once
// Who may be recommended at all: what is asked of a candidate before anything is compared.

#include "bench/decide/choice.hpp"
#include "bench/decide/probes.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vrambench::decide {

/// `--require`.
struct requirements {
    bool completes = false;                      ///< wherever another allocator of the files completed
    bool safe = false;                           ///< checked in full in every situation, without a hazard
    std::optional<std::uint64_t> limit_bytes;    ///< its memory fits into this
};

/// Reads "completes", "safe" and "limit=SIZE", which may be there once and is above 0. Throws input_error that names --require.
requirements parse_requirements(const std::vector<std::string>& words);

struct rejected {
    std::size_t allocator = 0;
    std::string reason;                          ///< "corrupted: ...", "unsupported: ...", one line
    std::vector<std::string> cells;              ///< ids that show it
    std::optional<defect> probed = {};           ///< of a probe, where that shows it
};

struct selection {
    std::vector<std::size_t> candidates;
    std::vector<rejected> out;
};

/// In this order: corrupted, crashed, timed out or with hazards anywhere; a probe found what it stands on broken or
/// missing; measured in less than half of the situations; not supported in one of them; a requirement not met.
selection select(const platform& p, const std::vector<std::size_t>& situations, const requirements& r);

}  // namespace vrambench::decide
