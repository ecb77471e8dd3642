#pragma once
// random: seeded traffic over the whole space that an allocator has to stand: sizes, orders, depths, streams, sharing.
// It resembles no engine; it is for properties, soaks and the simulator's speed.
//
// An operation is a kernel (probability `kernels`), else an allocation (probability `alloc`) or a free. Each block belongs
// to the stream that it was allocated on and is freed there. A kernel names one to three neighbouring blocks of its stream;
// a block's first kernel writes it, later ones read it or, one in four, write it again. With probability `share` a kernel
// also uses a block of another stream, with record/wait edges from that stream before and to it after: so the block's own
// stream is always ordered behind every use, and the trace has no races.

#include "spec/spec.hpp"
#include "workloads/trace.hpp"

#include <cstdint>
#include <memory>

namespace vrambench {

const entry& random_entry();

/// `settings` is resolved against random_entry(); `default_seed` stands in for `seed=run`. Throws input_error where
/// min exceeds max or max exceeds live.
std::unique_ptr<trace> make_random(config settings, std::uint64_t default_seed);

}  // namespace vrambench
