#pragma once
// The contents of the comparison table, before any layout: groups of cells and their rows as words.

#include "bench/run_document.hpp"

#include <array>
#include <string>
#include <vector>

namespace vrambench {

inline constexpr std::size_t value_columns = 8;

/// Headings of the value columns, on two lines.
struct column_heading {
    const char* upper;
    const char* lower;
};
/// The first two read across: "added ns/token" over "cold, steady".
std::array<column_heading, value_columns> column_headings(bool per_token);

struct table_row {
    std::string title;
    std::string outcome;                     ///< "completed", or why there is nothing to compare
    bool finished = false;                   ///< false: `values` are empty
    std::array<std::string, value_columns> values;
    std::vector<std::string> by_kind;        ///< "cold / steady" added time for each of the group's kinds
    std::string floors;                      ///< MiB reserved after each idle phase of the cold pass; empty: there is none
};

struct table_group {
    std::string title;                       ///< the workload's name and what not every table shows; empty where there is one table
    std::string workload;                    ///< canonical spec
    std::string facts;                       ///< "simulated h200, limit 512 MiB, 8,192 tokens, ..."
    bool per_token = true;
    std::vector<std::string> traits;         ///< "key=value" of the workload, "limit 512MiB", "kernels hold": what tells tables apart
    std::vector<std::string> kinds;          ///< of phases, where tokens are of more than one: prefill, decode, replay
    std::vector<table_row> rows;
};

/// Cells of one device, workload, limit, mode and kernels form a group, in the order in which they were planned. Their
/// reference is the last row. With a filter (a regular expression) only groups of which a cell's benchmark name matches.
/// Throws input_error where it is none.
std::vector<table_group> table_groups(const run_document& run, const std::string& filter = {});

/// One line for each simulated device of which something is not known: its times, or whether its pool decides so. Of the
/// groups that the filter leaves.
std::vector<std::string> device_notes(const run_document& run, const std::string& filter = {});

/// How to read the table.
inline constexpr const char* table_legend =
    "added: time beyond `ideal`, cold: empty allocator, steady: used; bloat: driver's peak over max live. Medians.";

}  // namespace vrambench
