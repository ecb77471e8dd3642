#pragma once
// kv-pair: the growing pair of f16 K and V buffers that llama.cpp's flash attention took from the pool in every layer of
// every micro-batch, and nothing else. It is the smallest traffic that makes a caching list pool hoard.

#include "spec/spec.hpp"
#include "workloads/trace.hpp"

#include <memory>

namespace vrambench {

const entry& kv_pair_entry();

/// `settings` is resolved against kv_pair_entry(). Throws input_error for sizes that no machine has and a malformed `warm`.
std::unique_ptr<trace> make_kv_pair(config settings);

}  // namespace vrambench
