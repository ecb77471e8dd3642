#pragma once
// What the figures of one pass must be beside each other and beside its trace, by how the program counts them.

#include "bench/check/expectations.hpp"
#include "bench/check/recipes.hpp"
#include "bench/plan.hpp"

namespace vrambench::checking {

/// What the cell's allocator does after a request that failed: "none", "sync", "trim", "flush".
std::string retry_of(const cell& c);

/// A pass with what it is judged by.
struct judged_pass {
    const cell& of;
    const repetition& in;
    const pass_measurement& pass;
    recipe* known = nullptr;   ///< its trace; null where it cannot be made again

    bool completed() const { return pass.result.what == status::completed; }
    bool ran_out_of_memory() const { return vrambench::ran_out_of_memory(pass.result.what); }
    /// It ended where its events say, and its device could still be asked: `corrupted` and `crashed` promise neither.
    bool is_told() const { return completed() || ran_out_of_memory() || (pass.result.what == status::timeout && pass.events != 0); }
    const trace_position* end() const { return known ? &known->at(pass.events) : nullptr; }
};

void check_counts(const judged_pass& p, expectations& e);       ///< steps, tokens, failures
void check_outcome(const judged_pass& p, expectations& e);      ///< of one that ran out of memory: place, bytes, cause, message
void check_bytes(const judged_pass& p, expectations& e);
void check_calls(const judged_pass& p, expectations& e);        ///< of the driver
void check_times(const judged_pass& p, expectations& e);        ///< and histograms
void check_recoveries(const judged_pass& p, expectations& e);

/// All of these.
std::optional<std::string> broken_rule(const judged_pass& p);

}  // namespace vrambench::checking
