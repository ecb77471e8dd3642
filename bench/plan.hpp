#pragma once
// What is to be measured: cells, in an order. A cell is device x allocator x workload x VRAM limit x mode (x kernels,
// kernel scale); a repetition is one run of a cell.

#include "allocators/registry.hpp"
#include "bench/measurement.hpp"
#include "bench/reading.hpp"
#include "device/registry.hpp"
#include "workloads/registry.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace vrambench {

enum class run_mode : std::uint8_t { eager, graph };
enum class kernel_model : std::uint8_t { hold, traffic };
enum class verify_level : std::uint8_t { off, sample, full };
const char* to_string(run_mode m);
const char* to_string(kernel_model k);
const char* to_string(verify_level v);

/// A workload with its trace and what follows from it, shared by all cells that run it.
struct planned_workload {
    std::shared_ptr<const trace> recipe;
    trace_summary summary;
};

/// Makes the workload that `spec` names, with `resident_bytes` of external memory in front (0: none) and a neighbour in it
/// (as parse_neighbour reads it; empty: none), whose bytes do not count in max_external_bytes: they are not the trace's. Throws
/// input_error, for a trace without events, one with too few steps for the neighbour, and one with more than `most_events`, too,
/// which is not read to its end. `target` is what target=auto stands for.
std::shared_ptr<const planned_workload> plan_workload(const std::string& spec, std::uint64_t seed, std::uint64_t resident_bytes,
                                                      const std::string& neighbour = {},
                                                      const std::string& target = default_target,
                                                      std::uint64_t most_events = any_number_of_events);

struct cell {
    std::string id;                          ///< 16 hexadecimal digits of the canonical spec's FNV-1a hash
    device_choice on;
    allocator_choice allocator;
    std::shared_ptr<const planned_workload> workload;
    std::optional<std::uint64_t> vram_limit_bytes;
    run_mode mode = run_mode::eager;
    kernel_model kernels = kernel_model::hold;
    std::string kernel_scale = "1";          ///< canonical decimal
    verify_level verify = verify_level::full;
    std::uint64_t resident_bytes = 0;        ///< external memory in front of the workload, part of `workload` already
    std::string neighbour;                   ///< neighbour_plan as text, part of `workload` already; empty: none
    std::string inject;                      ///< fault_rule as text, its seed included; empty: none
    std::optional<std::uint64_t> environment;   ///< of a merged document: index of what it was measured in; none otherwise
    std::string stopped;                     ///< with a precision: precision, dominated, repetitions, budget or interrupted; empty otherwise
    bool reference = false;                  ///< `ideal` without a limit, run for comparison; not counted in exit codes
    std::vector<repetition> repetitions;
};

/// The text whose hash is the cell's id: everything that decides its deterministic results.
std::string canonical(const cell& c);
std::string cell_id(const cell& c);

/// Whether the cells differ in nothing but allocator, limit, verification and faults, so that one may be the other's
/// reference. Cells of different machines in a merged document do differ.
bool same_conditions(const cell& a, const cell& b);

/// Whether the cells stand in one table: allocators under the same conditions, limit and faults.
bool are_compared(const cell& a, const cell& b);

}  // namespace vrambench
