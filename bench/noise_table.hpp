#pragma once
// How much of a card's noise lies between processes and how much within one: whether more processes or longer traces would
// help, and what a reference in another process would cost. The third table of `vrambench show`.

#include "bench/run_document.hpp"

#include <string>

namespace vrambench {

/// One line a cell of `ideal` and kind of phase, plain text. Its passes (cold, steady, and the reference's of the same process)
/// do the same work, so that what they differ by is noise: standard deviations in ns a token.
std::string noise_table(const run_document& run);

}  // namespace vrambench
