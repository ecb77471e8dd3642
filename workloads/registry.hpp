#pragma once
// The workloads that a user can name.

#include "spec/spec.hpp"
#include "workloads/trace.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace vrambench {

/// All workloads, in the order that `vrambench list workloads` shows.
const std::vector<const entry*>& workload_entries();

/// What target=auto of the engine's workloads stands for where no device is known.
inline constexpr const char* default_target = "h200";

/// Makes the trace that the spec describes (`kv-pair:heads=8,...`, `random:...`, `file:PATH`). `default_seed` is used by
/// seeded generators whose spec names no seed, and becomes part of the canonical spec. PATH is all that follows `file:`,
/// commas and all. `target` is what target=auto of the engine's workloads stands for (the name or text form of a GPU) and
/// becomes part of the canonical spec. Throws input_error.
std::unique_ptr<trace> make_trace(std::string_view spec_text, std::uint64_t default_seed, const std::string& target = default_target);

}  // namespace vrambench
