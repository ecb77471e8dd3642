#pragma once
// What reports of `vrambench probe` say about the allocators of a platform.

#include "bench/decide/evidence.hpp"
#include "bench/probe/needs.hpp"

#include <optional>
#include <string>
#include <vector>

namespace vrambench::decide {

/// Gives each report to the platform of its vendor, card and driver. Returns a line for each that has none.
std::vector<std::string> give_reports(std::vector<platform>& to, std::vector<probe_file> reports);

/// Why an allocator cannot be a default: a finding about what it stands on, under its own settings.
struct defect {
    const probe_file* in = nullptr;
    const probing::summed_finding* finding = nullptr;
    const char* feature = nullptr;               ///< "virtual memory"
};

/// The first report's first one. None: nothing was found, or nothing was asked.
std::optional<defect> defect_of(const platform& p, const candidate& a);

/// "this card's probe finds virtual memory unusable: QUESTION: VERDICT: EVIDENCE (vmm.one-reservation in FILE)".
std::string in_words(const platform& p, const defect& d);

/// What the reports say of the allocator's feature, to be put behind a rule: " (this card's probe of ... finds it usable)";
/// empty where there is no report.
std::string answer_of_probes(const platform& p, const candidate& a);

/// One line for each feature that findings are about: "virtual memory: usable; costly: ...; not asked: ...".
std::vector<std::string> conclusions_of(const probe_file& f);

}  // namespace vrambench::decide
