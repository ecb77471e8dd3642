#pragma once
// The kernels that a trace's launches become on a real GPU: they write the blocks named as written with a pattern, hold
// the stream until the stated time has passed since they began, and verify the blocks named as read last of all, so that
// the longest window is watched.
//
// The pattern of a 64-bit word says whose it is: block (24 bits), generation (16 bits, counts writes of the block), and a
// hash of seed and offset (24 bits). A wrong word therefore names the other owner.

#include <cstdint>

namespace vrambench::gpu {

/// One block of a launch. `key` holds block and generation in the upper 40 bits.
struct touched_block {
    std::uint64_t* words = nullptr;
    std::uint64_t count = 0;         ///< 64-bit words
    std::uint64_t key = 0;
    bool write = false;
    bool verify = false;
};

inline constexpr int most_blocks = 24;

/// Start and end of a launch by the device's own timer, nanoseconds; the end is stored inverted so that one atomicMin
/// serves both, and both begin as all ones.
struct launch_stamp {
    unsigned long long start;
    unsigned long long inverted_end;
};

/// The first wrong word, and how many there were.
struct mismatch_report {
    unsigned long long count;
    unsigned long long launch;       ///< index of the launch that saw the first one
    unsigned long long expected;
    unsigned long long found;
    unsigned long long offset;       ///< in words
    unsigned long long overruns;     ///< launches whose writing outlasted their stated time, ever
};

struct launch_arguments {
    touched_block blocks[most_blocks];
    int n_blocks = 0;
    unsigned stride = 1;             ///< verify every stride-th group of 64 words: 1 is every word
    unsigned long long hold_ns = 0;
    unsigned long long verify_at_ns = 0;    ///< since the start: verifying is part of the stated time, and the last part of it
    unsigned long long seed = 0;
    unsigned tick_ns = 1;            ///< nanoseconds of one step of the device's timer
    unsigned long long launch = 0;   ///< index, for reports
    launch_stamp* stamp = nullptr;   ///< null: the launch is not stamped
    mismatch_report* report = nullptr;
};

/// Which form of the multiplying kernel ran: which one there is depends on what was compiled for the card.
enum class multiply_how : unsigned { none, tensor, packed };

struct multiply_report {
    multiply_how how;
    unsigned flops_of_a_block;       ///< of threads, in one round: no warp size is assumed
    float sink;                      ///< keeps the compiler from leaving the work out
};

constexpr std::uint64_t pattern_key(std::uint32_t block, std::uint32_t generation)
{
    return (static_cast<std::uint64_t>(block & 0xffffffu) << 40) | (static_cast<std::uint64_t>(generation & 0xffffu) << 24);
}
constexpr std::uint32_t block_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 40); }
constexpr std::uint32_t generation_of(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 24) & 0xffffu; }

}  // namespace vrambench::gpu
