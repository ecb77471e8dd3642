#pragma once
// file: a trace that was written to a file, read in constant memory. trace_json.hpp and trace_packed.hpp describe the two
// forms; which one a file has is seen from its first bytes.

#include "spec/spec.hpp"
#include "workloads/trace.hpp"

#include <memory>
#include <string>

namespace vrambench {

enum class trace_format { json_lines, packed };

const entry& trace_file_entry();

/// Opens a trace file and reads its header; the events are read, and checked, as they are asked for. Name, parameters and
/// seed are those of the trace that was written; the canonical spec is file:PATH. Throws input_error with one line that
/// names the file and the line or offset.
std::unique_ptr<trace> open_trace_file(const std::string& path);

/// Writes a trace that open_trace_file reads back equal. The file appears whole or not at all. Throws input_error where it
/// cannot be written, and what the trace throws.
void write_trace(const trace& t, const std::string& path, trace_format format);

}  // namespace vrambench
