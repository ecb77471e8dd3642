#pragma once
// Whether more repetitions of a cell would tell anything: the adaptive stop of `--precision` and `--drop-losers`.

#include "bench/run_document.hpp"

#include <optional>
#include <string>

namespace vrambench {

struct stop_rule {
    double precision = 0;                    ///< a share of `ideal`'s time, and of max live
    bool drop_losers = false;
};

/// Why the cell needs no more repetitions; none where it does.
///
/// `precision`: its primary metrics are known. All of its repetitions ended alike, and, where they completed, of both passes the
/// 95 % interval of added time (of the whole, and of each phase that counts in it) has a half width of at most the precision, and
/// that of device_bloat, where several repetitions give it, too. Six repetitions are the fewest, since an interval needs them and
/// equal endings prove little before; on the simulator, where all are the same, one is enough, and so it is of what cannot run.
///
/// `dominated`, where losers are dropped: another allocator of the same table is better in all of that: in both passes its
/// intervals lie wholly below, and its device_bloat is not higher.
///
/// What serves others as their reference goes on until they need no more and none of their repetitions lacks its pair.
std::optional<std::string> settled(const run_document& run, const cell& c, const stop_rule& rule);

}  // namespace vrambench
