#pragma once
// What the keys of the fattn workloads mean.

#include "spec/spec.hpp"
#include "workloads/engine/schedule.hpp"
#include "workloads/engine/walk.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vrambench {

enum class fattn_family : std::uint8_t { prefill, decode, session };

std::vector<key_info> fattn_keys(fattn_family family);

struct fattn_settings {
    engine::session session;
    engine::schedule_settings schedule;
    bool weights = false;              ///< weights and KV cache are external allocations
    std::vector<std::string> notes;    ///< for the user, a line each
};

/// Reads the keys and writes back what they were resolved to (target=auto becomes `target`; depth, prompt and to agree).
/// `name` is the workload's in errors. Throws input_error.
fattn_settings parse_fattn(const std::string& name, fattn_family family, config& c, const std::string& target);

}  // namespace vrambench
