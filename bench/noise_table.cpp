#include "bench/noise_table.hpp"

#include "bench/decide/variance_split.hpp"
#include "bench/derive.hpp"
#include "bench/json_text.hpp"
#include "bench/table.hpp"
#include "bench/text_columns.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace vrambench {

namespace {

using values_by_process = std::vector<std::vector<double>>;

std::vector<std::string> kinds_of(const pass_measurement& p)
{
    std::vector<std::string> kinds;
    for (const phase_measurement& f : p.phases)
        if (const std::string kind(kind_of(f.name)); f.tokens != 0 && std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
            kinds.push_back(kind);
    return kinds;
}

/// ns a token of each pass over `ideal` that a process made.
std::vector<double> passes_of(const repetition& r, const std::string& kind)
{
    std::vector<double> values;
    const auto add = [&](const std::vector<phase_measurement>& phases) {
        const token_time t = token_time_of(phases, kind);
        if (t.tokens != 0) values.push_back(static_cast<double>(t.ps) / 1000.0 / static_cast<double>(t.tokens));
    };
    add(r.cold.phases);
    if (r.steady) add(r.steady->phases);
    if (r.reference) add(r.reference->phases);
    return values;
}

bool is_used(const repetition& r)
{
    return r.what == role::timed && !r.disturbed && r.cold.has_times() && r.cold.result.what == status::completed &&
           (!r.steady || r.steady->result.what == status::completed);
}

std::string row_of(const std::string& kind, const values_by_process& processes)
{
    const auto split = split_variance(processes);
    if (!split) return "";
    double sum = 0;
    std::size_t n = 0;
    for (const auto& p : processes)
        for (const double v : p) sum += v, ++n;
    std::string line = "  " + column(kind, 10);
    line += right(std::to_string(processes.size()), 9) + right(short_count(sum / static_cast<double>(n)), 14) +
            right(short_count(std::sqrt(split->between)), 14) + right(short_count(std::sqrt(split->within)), 14) +
            right(std::to_string(std::lround(split->between_share() * 100)) + " %", 8);
    return line + "\n";
}

std::string table_of(const cell& c)
{
    std::vector<const repetition*> used;
    for (const repetition& r : c.repetitions)
        if (is_used(r)) used.push_back(&r);
    if (used.empty()) return "";
    std::string rows;
    for (const std::string& kind : kinds_of(used.front()->cold)) {
        values_by_process processes;
        for (const repetition* r : used) processes.push_back(passes_of(*r, kind));
        rows += row_of(kind, processes);
    }
    if (rows.empty()) return "";
    return printable(json_text(c.workload->recipe->header().spec).get<std::string>()) + ", " +
           (c.vram_limit_bytes ? "limit " + exact_size(*c.vram_limit_bytes) : "no limit") + ", kernels " + to_string(c.kernels) + "\n" +
           "  phase     processes      ns/token   sd between     sd within   share\n" + rows + "\n";
}

}  // namespace

std::string noise_table(const run_document& run)
{
    std::string out;
    for (const cell& c : run.cells)
        if (c.allocator.name == "ideal" && !c.on.simulated) out += table_of(c);
    if (out.empty()) return "no noise to show: it needs `ideal` in two processes or more on a card\n";
    return out + "sd between: of the processes' own means; sd within: of a pass inside its process, which is what added time hangs on; share: of\n"
                 "the variance that lies between processes and cancels where the reference runs in the allocator's process.\n";
}

}  // namespace vrambench
