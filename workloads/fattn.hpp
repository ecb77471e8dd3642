#pragma once
// fattn-prefill, fattn-decode and fattn-session: what llama.cpp asks of its temporary-buffer pool while it processes a prompt,
// generates tokens, or does one after the other.

#include "spec/spec.hpp"
#include "workloads/trace.hpp"

#include <memory>
#include <string>

namespace vrambench {

const entry& fattn_prefill_entry();
const entry& fattn_decode_entry();
const entry& fattn_session_entry();

/// `settings` is resolved against `e`, which is one of the three. `target` is what target=auto stands for: the name or text
/// form of a target. Throws input_error.
std::unique_ptr<trace> make_fattn(const entry& e, config settings, const std::string& target);

}  // namespace vrambench
