#pragma once
// Repetitions and questions that are answered by a child process: the parent's side and the child's.

#include "bench/costs/cost_report.hpp"
#include "bench/plan.hpp"
#include "bench/probe/probe.hpp"
#include "bench/runner.hpp"
#include "device/device.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace vrambench {

/// A program that answers instead of this one's child processes (VRAMBENCH_CHILD_PROGRAM), for tests of the protocol.
std::optional<std::string> stand_in_program();

/// What a GPU says of itself, asked in a child. Throws input_error with the child's one line where there is none.
device_info ask_device(const device_choice& choice);

/// The same, without an error.
std::optional<device_info> try_device(const device_choice& choice);

/// The same and what the GPU reaches, which takes some seconds. No rates where they cannot be measured. Throws input_error.
std::pair<device_info, std::optional<card_rates>> ask_device_and_rates(const device_choice& choice);

/// The device as chosen, or for `auto` a GPU that answers, else the simulator. A GPU is named as it calls itself. Of several GPUs
/// `auto` takes number `local_rank`, counted round where there are fewer: a launcher may show each process only its own.
/// Throws input_error where a GPU that was named is not there.
device_choice answering_device(const std::string& typed, std::uint64_t local_rank = 0);

/// One repetition in a child. A child that dies is `crashed`, one that outlasts the timeout `timeout`, one whose answer
/// makes no sense `crashed`: all are repetitions. Throws run_interrupted.
repetition run_in_child(const cell& c, role what, const run_controls& controls);

/// What one process measured of the driver's costs, or why there is nothing.
struct cost_answer {
    std::optional<costs::cost_report> report;
    std::string failure;                     ///< one line; empty where there is a report
};
/// Throws run_interrupted. `timeout` 0: none.
cost_answer measure_costs_in_child(const device_choice& choice, bool quick, std::chrono::milliseconds timeout,
                                   const std::atomic<bool>* stop);

/// One process of a probe. One that dies has told what it found before, and the question that it died with is a finding:
/// `crashed` or `hung`. Throws run_interrupted. `timeout` 0: none.
probing::process_report probe_in_child(const device_choice& choice, const probing::probe_entry& probe, bool quick,
                                       std::chrono::milliseconds timeout, const std::atomic<bool>* stop);

/// What a child puts around the allocator that it measures: tests plant differences there.
using allocator_adaptor = std::function<std::unique_ptr<allocator>(std::unique_ptr<allocator>, const cell&)>;

/// The child: reads the request from standard input, writes the answer to descriptor 3. Returns the exit code.
int child_main(const std::string& what, const allocator_adaptor& adapt = {});

}  // namespace vrambench
