#pragma once
// Keys that all workloads of the engine share: which model on which GPU, with which cache, in batches of which size.

#include "spec/spec.hpp"
#include "workloads/engine/walk.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vrambench {

/// Cells that a cache can have, all sequences together.
inline constexpr std::uint64_t most_cells = std::uint64_t{1} << 31;

/// model, kv, era, fa, target, ubatch and batch.
std::vector<key_info> engine_keys(const std::string& default_model = "llama-3.1-8b");
key_info layers_key();
key_info graphs_key();
key_info weights_key();

/// What these keys say of a session; its cells and sequences are left to the workload. target=auto becomes `target`, also in
/// the config. `name` is the workload's in errors, `model_key` the key that names the model. Throws input_error.
engine::session parse_engine(const std::string& name, config& c, const std::string& target,
                             const std::string& model_key = "model");

/// A line for each session whose model was trained for less than `tokens`; none otherwise.
std::vector<std::string> context_notes(const std::string& name, std::uint64_t tokens,
                                       const std::vector<engine::session>& sessions);

}  // namespace vrambench
