#pragma once
// speculative: a target and a draft model on one device, each with its own stream and its own pool.

#include "spec/spec.hpp"
#include "workloads/trace.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace vrambench {

const entry& speculative_entry();

/// `settings` is resolved against speculative_entry(). `target` is what target=auto stands for. Throws input_error.
std::unique_ptr<trace> make_speculative(config settings, std::uint64_t default_seed, const std::string& target);

}  // namespace vrambench
