#pragma once
// Traces packed: about 10 bytes an event, a fifth of the JSON lines, and read some forty times as fast. All fixed-width
// numbers are little endian.
//
//   file   = "VRTP", u32 version (1), chunk holding the header as JSON (events = 0), chunks of events, end
//   chunk  = u32 payload bytes (> 0), u32 events, u64 FNV-1a of the payload, payload
//   end    = u32 0, u32 0, u64 number of events in the file; nothing follows
//   event  = u8 kind, then its fields in this order, each a base-128 number (low groups first, top bit: more follow):
//            id, stream, tag, bytes, alignment, reads, writes, the ids read and written, ns + 1 (0: from flops and bytes),
//            flops, phase, tokens; only those that the kind has (event_fields.hpp)
//
// The checksum is checked before a chunk's events are handed out. Without its end a file is cut off.

#include "workloads/file_io.hpp"
#include "workloads/trace.hpp"

#include <memory>
#include <string_view>

namespace vrambench {

inline constexpr std::string_view packed_magic = "VRTP";

void write_packed(const trace& t, output_file& out);

/// The header of a file at its start.
trace_header read_packed_header(input_file& in);
/// The events of a file from behind its header on; takes the file over.
std::unique_ptr<trace_source> read_packed_events(input_file in);

}  // namespace vrambench
