#pragma once
// Whether more repetitions of a cell would tell anything: the adaptive stop of `--precision`.

#include "bench/run_document.hpp"

namespace vrambench {

/// Whether the cell's primary metrics are known: all of its repetitions ended alike, and, where they completed, of both passes
/// the 95 % interval of added time (of the whole, and of each phase that counts in it) has a half width of at most `precision`
/// of `ideal`'s time; and that of device_bloat, where several repetitions give it, of at most `precision`. Six repetitions are
/// the fewest, since an interval needs them and equal endings prove little before; on the simulator, where all are the same,
/// one is enough. A reference is settled when all that it serves are, and none of their repetitions
/// lacks its pair. What cannot run is settled.
bool settled(const run_document& run, const cell& c, double precision);

}  // namespace vrambench
