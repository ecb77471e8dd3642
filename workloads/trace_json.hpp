#pragma once
// Traces as JSON lines: a header, one event a line, an end line. Written to be read by people and by other programs.
//
//   {"vrambench_trace":1,"name":"kv-pair","spec":"kv-pair:heads=8,...","params":{"heads":"8",...},"seed":0,"streams":1,
//    "tags":["step","K",...],"phases":["prefill",...]}                                                      (one line)
//   {"op":"step","label":"step","phase":"prefill","tokens":512}
//   {"op":"alloc","block":0,"bytes":1048576,"align":256,"stream":1,"tag":"K"}
//   {"op":"kernel","stream":1,"reads":[0],"writes":[1],"ns":1500,"flops":8388608,"bytes":4194304,"tag":"attend"}
//   {"op":"free","block":0,"stream":1}
//   {"op":"record","event":0,"stream":1}        {"op":"wait","event":0,"stream":0}
//   {"op":"sync_stream","stream":1}             {"op":"sync_device"}
//   {"op":"external_alloc","external":0,"bytes":1073741824,"tag":"weights"}      {"op":"external_free","external":0}
//   {"op":"graph_begin","graph":0,"stream":1}   {"op":"graph_end","graph":0}     {"op":"graph_launch","graph":0,"stream":1}
//   {"op":"end","events":1537}
//
// Left out where it has its default: stream 0, align 128, no reads or writes, ns (then from flops and bytes), flops, bytes
// of a kernel, tokens 0. Tags and phases are named; the header lists them, each once. Empty lines are skipped, unknown keys
// are errors. Without its end line a file is cut off. Long traces are better packed: text reads at well under a million
// events a second.

#include "workloads/file_io.hpp"
#include "workloads/trace.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace vrambench {

inline constexpr std::uint64_t trace_version = 1;
inline constexpr std::size_t longest_header = std::size_t{16} << 20;

/// The header as one line of JSON, and back. `where` begins the message of an input_error ("a.jsonl:1").
std::string header_to_json(const trace_header& header);
trace_header header_from_json(std::string_view text, const std::string& where);

void write_json_lines(const trace& t, output_file& out);

/// The header of a file at its start.
trace_header read_json_header(input_file& in);
/// The events of a file from behind its header on; takes the file over.
std::unique_ptr<trace_source> read_json_events(input_file in, const trace_header& header);

}  // namespace vrambench
