#pragma once
// What is measured where nobody says what: the traffic that decides the question for llama.cpp's users on the card at hand.

#include "bench/plan.hpp"
#include "device/device.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vrambench {

enum class run_size : std::uint8_t { normal, quick, full };

struct default_group {
    std::string workload;
    std::string vram_limit;                      ///< as `--vram-limit` takes it, or "none"
    kernel_model kernels = kernel_model::hold;
};

/// Llama-3.1-8B with a q8_0 and an f16 cache, before and after the f16 copies of K and V left the pool; prompt and decode at
/// 4,096, at 32,768 and at the longest context whose weights, cache and copies fit into the card; the same with little memory;
/// with kernels that only last as long as their traffic; and one mix of requests on a server.
std::vector<default_group> default_set(run_size size, const device_info& info);

/// Where one workload must do to see how little memory is enough. Without graphs, so that every allocator can run it.
std::string default_tight_workload();

std::vector<std::string> default_allocators();

}  // namespace vrambench
