#pragma once
// The raw truth of a result file: repetitions to JSON and back without loss. Times are whole picoseconds, except the
// bins of histograms, whose unit stands in their name.

#include "bench/measurement.hpp"
#include "spec/errors.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace vrambench {

/// {"status":"completed"}, or the status with the place and the bytes of the failure.
nlohmann::json outcome_json(const outcome& o);
nlohmann::json driver_calls_json(const driver_call_counts& counts);
/// Only the kinds that occurred: refused calls are rare.
nlohmann::json sparse_calls_json(const driver_call_counts& counts);

/// One entry for the cold pass, and a second one for the steady pass where there is one.
std::vector<nlohmann::json> repetition_json(const repetition& r);

/// Reads the entries of one cell; a steady entry follows its cold one. Throws input_error that says which entry is not as
/// repetition_json writes it.
std::vector<repetition> repetitions_from(const nlohmann::json& entries);

/// The enumerator that to_string prints as `word`, out of the first `count`. Throws input_error.
template <typename Enum>
Enum from_word(std::string_view word, int count, std::string_view what)
{
    for (int i = 0; i < count; ++i)
        if (word == to_string(static_cast<Enum>(i))) return static_cast<Enum>(i);
    throw input_error("unknown " + std::string(what) + " " + in_quotes(word));
}

}  // namespace vrambench
