#pragma once
// `vrambench probe`: the probes in child processes, one after another.

#include "bench/commands.hpp"
#include "device/registry.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace vrambench::probing {

struct probe_request {
    std::string device = "auto";
    bool quick = false;
    std::vector<std::string> only;                   ///< names of probes; empty: all (with --quick those of the quick set)
    std::optional<std::uint64_t> processes;          ///< of each probe; none: as each probe says, one on the simulator
    std::chrono::milliseconds timeout{60'000};       ///< of one process
    std::string out;                                 ///< file to write; empty: none
};

/// Asks, prints the table, writes the file anew after each process. Returns the exit code: 0 whatever the verdicts are, 130
/// interrupted. Throws input_error.
int run_probes(const probe_request& request, const command_line& line);

/// What a run has to know before it is planned: whether pools and virtual memory do what their allocators need. Two processes,
/// about a second each on a card.
failed_features quick_check(const device_choice& on);

}  // namespace vrambench::probing
