#pragma once
// Lengths of prompts and answers: drawn from seeded distributions in which every octave is equally likely.

#include "spec/spec.hpp"
#include "workloads/random_numbers.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace vrambench {

struct length_range {
    std::uint64_t least = 1, most = 1;    ///< tokens
    log_uniform distribution() const { return {least, most}; }
};
struct length_ranges {
    length_range prompt, answer;
};

/// prompt-min, prompt-max, answer-min, answer-max.
std::vector<key_info> length_keys(const length_ranges& defaults);
/// Throws input_error that begins with `name`.
length_ranges parse_lengths(const std::string& name, const config& c);

/// `seed`; its word `run` is replaced in the config by `default_seed`.
key_info seed_key();
std::uint64_t parse_seed(config& c, std::uint64_t default_seed);

}  // namespace vrambench
