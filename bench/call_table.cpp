#include "bench/call_table.hpp"

#include "bench/derive.hpp"
#include "bench/json_text.hpp"
#include "bench/table.hpp"
#include "bench/text_columns.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace vrambench {

namespace {

using row = std::array<std::string, 11>;

const row heading{"allocator", "pass", "call", "path", "calls", "p50", "p99", "max", "drain/pass", "idle/pass", "idle max"};

std::string shown(const std::string& s) { return printable(json_text(s).get<std::string>()); }

row row_of(const std::string& call, int path_index, const quantiles& q, const call_split& split)
{
    row r;
    r[2] = call;
    r[3] = to_string(static_cast<path>(path_index));
    r[4] = short_count(static_cast<double>(q.count));
    r[5] = human_time(q.p50), r[6] = human_time(q.p99), r[7] = human_time(q.max);
    const bool long_ones = split.idle.each.count != 0;
    r[8] = long_ones ? human_time(split.drain.total) : "-";
    r[9] = long_ones ? human_time(split.idle.total) : "-";
    r[10] = long_ones ? human_time(split.idle.each.max) : "-";
    return r;
}

void add_pass(std::vector<row>& to, const std::string& title, const char* pass, const pass_metrics& m)
{
    if (!m.numbers) return;
    const pass_numbers& n = *m.numbers;
    for (int k = 0; k < path_kinds; ++k)
        if (n.alloc[k].count != 0) to.push_back(row_of("alloc", k, n.alloc[k], n.alloc_split[k]));
    for (int k = 0; k < path_kinds; ++k)
        if (n.free[k].count != 0) to.push_back(row_of("free", k, n.free[k], n.free_split[k]));
    for (row& r : to)
        if (r[0].empty()) r[0] = title, r[1] = pass;
}

std::string lines_of(const std::vector<row>& rows)
{
    std::array<std::size_t, heading.size()> widths{};
    for (const row& r : rows)
        for (std::size_t k = 0; k < r.size(); ++k) widths[k] = std::max(widths[k], columns(r[k]));
    std::string out;
    for (const row& r : rows) {
        std::string line;
        for (std::size_t k = 0; k < r.size(); ++k)
            line += (k ? "  " : "") + (k < 4 ? left : right)(r[k], widths[k]);    // words to the left, numbers to the right
        out += without_end_spaces(line) + "\n";
    }
    return out;
}

std::string condition_of(const cell& c)
{
    return shown(c.workload->recipe->header().spec) + (c.vram_limit_bytes ? ", limit " + exact_size(*c.vram_limit_bytes) : ", no limit") +
           ", kernels " + to_string(c.kernels) + (c.kernel_scale != "1" ? " x" + c.kernel_scale : "");
}

}  // namespace

std::string call_table(const run_document& run)
{
    std::string out, condition;
    std::vector<row> rows;
    const auto flush = [&] {
        if (!rows.empty()) out += condition + "\n" + lines_of(rows) + "\n";
        rows.clear();
    };
    for (const cell& c : run.cells) {
        if (condition_of(c) != condition) flush();
        condition = condition_of(c);
        if (rows.empty()) rows.push_back(heading);
        const cell_metrics m = derive(c, reference_of(run, c));
        const std::string title = shown(c.allocator.title.empty() ? c.allocator.spec : c.allocator.title);
        add_pass(rows, title, "cold", m.cold);
        if (m.steady) add_pass(rows, title, "steady", *m.steady);
    }
    flush();
    return out + "drain and idle: of calls above 5 us, the time in which the device was busy with work that had to run anyway, and the rest.\n";
}

}  // namespace vrambench
