#pragma once
// What the kinds of result file have in common.

#include "bench/run_document.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace vrambench {

/// `schema`, `kind`, `finished`, `seed`, `command` and `environment`.
nlohmann::json head_json(const run_document& run, const char* kind);
nlohmann::json device_json(const device_choice& d);
nlohmann::json allocator_json(const allocator_choice& a);
nlohmann::json workload_json(const planned_workload& w);
/// A whole cell of a run; `reference` as derive() takes it.
nlohmann::json cell_json(const cell& c, const cell* reference);

/// The inverse of an `environment`. Throws input_error or a json exception.
std::vector<environment_fact> environment_from(const nlohmann::json& j);

/// Objects down to `depth` and arrays of objects are spread over lines, so that files can be read and compared by line; the
/// rest stays on one line.
void print_json(std::string& out, const nlohmann::json& j, int depth, int indent);

}  // namespace vrambench
