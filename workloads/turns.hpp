#pragma once
// turns: one user's session of several prompts and answers with idle times between them.

#include "spec/spec.hpp"
#include "workloads/trace.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace vrambench {

const entry& turns_entry();

/// `settings` is resolved against turns_entry(). `target` is what target=auto stands for. Throws input_error.
std::unique_ptr<trace> make_turns(config settings, std::uint64_t default_seed, const std::string& target);

}  // namespace vrambench
