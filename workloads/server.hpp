#pragma once
// server: continuous batching of many requests that share one cache.

#include "spec/spec.hpp"
#include "workloads/trace.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace vrambench {

const entry& server_entry();

/// `settings` is resolved against server_entry(). `target` is what target=auto stands for. Throws input_error.
std::unique_ptr<trace> make_server(config settings, std::uint64_t default_seed, const std::string& target);

}  // namespace vrambench
