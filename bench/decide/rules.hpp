#pragma once
// Rules for where one default does not serve, and what would overturn a choice.

#include "bench/decide/recommendation.hpp"

#include <string>
#include <vector>

namespace vrambench::decide {

/// Situations whose own choice is without the recommended one.
std::vector<disagreement> disagreements(const recommendation& r, const margins& m);

/// "vmm if a probe finds virtual memory usable, else legacy-retry"; "kv=q8_0: vmm; kv=f16: async". Empty where the choice
/// needs none.
std::vector<std::string> rules_for(const platform& p, const recommendation& r, const question& q);

/// What the runner-up lacks: on which criterion it lost and by how much, and the smallest weight of the situations that
/// prefer it with which it would be chosen.
std::vector<std::string> what_it_would_take(const recommendation& r, const margins& m);

}  // namespace vrambench::decide
