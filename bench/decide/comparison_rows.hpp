#pragma once
// A comparison in words, before any layout.

#include "bench/decide/comparison.hpp"

#include <array>
#include <string>
#include <vector>

namespace vrambench {

inline constexpr std::size_t comparison_columns = 8;

struct comparison_row {
    std::string what;                        ///< "added ns/token, decode, cold"
    /// base, other, difference, its 95 % interval, ratio, margin, resolution, processes
    std::array<std::string, comparison_columns> values;
    std::string verdict;
    bool bad = false;                        ///< to be painted
};

/// One pair of cells.
struct comparison_block {
    std::string allocator;                   ///< title of the other's
    std::vector<comparison_row> rows;
    std::vector<std::string> described;      ///< what else changed: "slowdown, cold 1.002 -> 1.031 (large)"
};

struct comparison_group {
    std::string workload;                    ///< canonical spec
    std::string facts;                       ///< "cuda NVIDIA H200, no limit, kernels hold; base: a.json, other: b.json"
    std::vector<comparison_block> blocks;
};

inline constexpr std::array<const char*, comparison_columns> comparison_headings{"base",  "other",  "difference", "95 % interval",
                                                                                 "ratio", "margin", "resolution", "n"};

/// Pairs of the same workload, limit and mode are a group. With `changes` only those whose verdict is not "same".
std::vector<comparison_group> comparison_groups(const comparison& c, bool changes);

/// "12 verdicts: 3 worse, 1 better, 8 same".
std::string counts_words(const verdict_counts& n);

/// How to read it.
inline constexpr const char* comparison_legend =
    "difference: other less base, means over processes; resolution: the smallest one that would be found with this many processes;\n"
    "n: rounds (6r), else processes of base and other (6+6); =: exact. Verdicts: docs/comparing.md.";

/// "; 240 differences were judged together, ...", behind counts_words; empty of fewer than two.
std::string family_words(const comparison& c);

}  // namespace vrambench
