#pragma once
// What measuring costs: one trace played by a bare loop and as it is measured, in turns.

namespace vrambench::micro {

/// `vrambench_micro --cost-of-measuring [--device D] [--workload W] [--allocator A] [--runs N]`: prints medians, their
/// difference in per cent and its interval. Returns the exit code.
int cost_of_measuring(int argc, char** argv);

}  // namespace vrambench::micro
