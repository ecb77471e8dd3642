#pragma once
// Which fields of an event mean something, by kind: what trace files hold of it.

#include "workloads/trace.hpp"

#include <array>

namespace vrambench {

enum event_field : unsigned {
    field_id = 1u << 0,
    field_stream = 1u << 1,
    field_tag = 1u << 2,
    field_bytes = 1u << 3,
    field_alignment = 1u << 4,
    field_operands = 1u << 5,
    field_nanoseconds = 1u << 6,
    field_flops = 1u << 7,
    field_phase = 1u << 8,
    field_tokens = 1u << 9,
};

constexpr unsigned fields_of(event_kind kind)
{
    switch (kind) {
    case event_kind::alloc: return field_id | field_stream | field_tag | field_bytes | field_alignment;
    case event_kind::kernel:
        return field_stream | field_tag | field_operands | field_nanoseconds | field_flops | field_bytes;
    case event_kind::free:
    case event_kind::record:
    case event_kind::wait:
    case event_kind::graph_begin:
    case event_kind::graph_launch: return field_id | field_stream;
    case event_kind::sync_stream: return field_stream;
    case event_kind::sync_device: return 0;
    case event_kind::external_alloc: return field_id | field_tag | field_bytes;
    case event_kind::external_free:
    case event_kind::graph_end: return field_id;
    case event_kind::step: return field_tag | field_phase | field_tokens;
    }
    return 0;
}

}  // namespace vrambench
