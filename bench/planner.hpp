#pragma once
// From what a user asked for to the list of cells, and the order in which their repetitions run.

#include "bench/default_set.hpp"
#include "bench/launcher_rank.hpp"
#include "bench/run_document.hpp"
#include "bench/settled.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vrambench {

/// The options of `vrambench run`, as typed where they are specs, lists split. Empty lists mean the default set.
struct run_request {
    std::string device = "auto";
    std::vector<std::string> allocators;         ///< one spec each
    std::vector<std::string> workloads;
    std::vector<std::string> vram_limits;        ///< as vram_limit() reads them
    run_mode mode = run_mode::eager;
    std::vector<kernel_model> kernels;
    std::vector<std::string> kernel_scales;
    std::string resident;                        ///< external memory in front of every workload, as resident_bytes() reads it
    bool models_resident = false;                ///< the default set with its models' weights and caches in front
    std::string neighbour;                       ///< as parse_neighbour reads it; empty: none
    std::vector<std::string> injections;         ///< as parse_fault_rule reads them, or `none`; each makes cells of its own
    verify_level verify = verify_level::full;
    std::optional<std::uint64_t> repetitions;
    std::optional<std::uint64_t> budget_ms;
    std::optional<stop_rule> stop;               ///< as run_plan's
    std::optional<launcher_rank> rank;           ///< measure only this rank's share, on its card where the device is `auto`
    std::uint64_t seed = 1;
    bool reference = true;
    bool force = false;                          ///< run what fails the probe of the driver, too
    std::uint64_t timeout_ms = 0;
    run_size size = run_size::normal;
    std::string filter;                          ///< --benchmark_filter; empty: everything
};

/// Bytes that `typed` (--resident) stands for; 0 where it is empty. Throws input_error.
std::uint64_t resident_bytes(const std::string& typed);

struct run_plan {
    run_document document;                       ///< cells without repetitions; a rank may have none
    device_info device;                          ///< as it answered; a GPU's roofline has the rates that were measured
    std::string target;                          ///< what target=auto of a workload stands for on it
    std::uint64_t repetitions = 1;               ///< of every cell; with a rule the most
    std::optional<stop_rule> stop;               ///< cells that are settled by it are not measured again
    std::optional<std::uint64_t> budget_ms;
    std::string earlier_commits;                 ///< of the program, whose repetitions a resumed file holds too: "a, b"; empty: none
};

/// Throws input_error for anything that cannot be understood or is not there.
run_plan make_plan(const run_request& request);

/// One repetition to run: `round` is its index among those of its cell and role.
struct scheduled {
    std::size_t cell = 0;
    std::uint64_t round = 0;
    role what = role::timed;
};

/// Round by round, the cells of each round in an order drawn from the seed, so that allocators are interleaved. On a card
/// (`watched`) the first is followed by two in which nothing is timed, so that a run that is cut short has them: one that watches
/// memory, one that verifies every word.
std::vector<scheduled> schedule(std::size_t cells, std::uint64_t rounds, std::uint64_t seed, bool watched);

}  // namespace vrambench
