#pragma once
// Derived metrics as the result file shows them: each with its unit and direction from the table of metrics.

#include "bench/derive.hpp"

#include <nlohmann/json.hpp>

namespace vrambench {

/// `attempted`, `completed`, `outcome`, `metrics` (empty unless completed), `reached` (null if completed),
/// `cached_blocks_bytes` and `hazard_count` of one pass.
nlohmann::json pass_metrics_json(const pass_metrics& m);

}  // namespace vrambench
