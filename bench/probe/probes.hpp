#pragma once
// The probes, one a file. docs/probe.md says what each asks and how the answers are to be taken.

#include "bench/probe/probe.hpp"

namespace vrambench::probing {

void probe_pools(session& s);
void probe_waits(session& s);
void probe_granularity(session& s);
void probe_release(session& s);
void probe_exit(session& s);
void probe_reuse(session& s);
void probe_vmm(session& s);
void probe_failure(session& s);
void probe_capture(session& s);
void probe_integrity(session& s);
void probe_peers(session& s);

/// Of probe_exit: whether what a process had left came back.
finding judge_exit(const std::vector<process_report>& reports);

}  // namespace vrambench::probing
