#pragma once
// Small result files with known times, bytes and outcomes: what tests of bench/decide decide from.

#include "bench/decide/evidence.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace vrambench::testing {

/// One cell to be: times over the reference's, one a process, or a failure.
struct planned_cell {
    std::string allocator;                       ///< name and spec
    std::vector<double> slowdowns;
    double bloat = 1;
    std::optional<outcome> failure = {};
};

/// A run on a real card (or, with `simulated`, on sim:h200), finished.
run_document some_run(bool simulated = false);

/// Adds a reference of 1 ms and these cells for the workload "w:a=NAME" at the limit. One phase "prefill" of 10 tokens; max live is
/// 1,000,000 bytes. Returns the added cells without the reference.
std::vector<cell*> add_situation(run_document& run, const std::string& workload, std::optional<std::uint64_t> limit,
                                 const std::vector<planned_cell>& cells);

outcome failed_with(status what, const std::string& cause = {});

/// Gathers one file; fails the test where it does not make one platform.
decide::platform platform_from(const run_document& run);

/// The place of an allocator of that spec.
std::size_t place_of(const decide::platform& p, const std::string& spec);

}  // namespace vrambench::testing
