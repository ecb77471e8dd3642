#pragma once
// Runs with known numbers, for the tests of everything that reads a run. No device and no allocator took part.

#include "bench/run_document.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace vrambench::testing {

/// A trace of which only the description matters.
std::shared_ptr<planned_workload> sample_workload(const std::string& spec, std::uint64_t steps, std::uint64_t tokens,
                                                  std::uint64_t max_live_bytes);

/// A cell on sim:h200 with no repetitions; its id is the title.
cell sample_cell(std::shared_ptr<const planned_workload> workload, const std::string& name, const std::string& title,
                 const std::string& spec, std::optional<std::uint64_t> limit);

/// `ideal` without a limit, marked as the reference.
cell sample_reference(std::shared_ptr<const planned_workload> workload);

/// A completed pass that took `time_ps`: one phase "prefill" with the workload's steps and tokens.
pass_measurement sample_pass(const planned_workload& workload, std::int64_t time_ps);

/// A timed repetition with that cold pass and no steady pass.
repetition sample_repetition(std::uint64_t index, pass_measurement cold);

/// A pass that ran out of memory at step 11.
pass_measurement sample_oom(const std::string& cause);

/// One group with a limit: completed, out of memory, unsupported, steady failure, not measured; and the reference.
run_document sample_run();

/// Every kind of failure, disturbed repetitions, text that is no UTF-8, integers beyond 2^53, a trace without tokens.
run_document awkward_run();

}  // namespace vrambench::testing
