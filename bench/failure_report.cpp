#include "bench/failure_report.hpp"

#include "bench/benchmark_bridge.hpp"
#include "bench/derive.hpp"
#include "bench/json_text.hpp"
#include "bench/table.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace vrambench {

namespace {

std::string shown(const std::string& s) { return printable(json_text(s).get<std::string>()); }

struct cause_words {
    std::string_view cause, meaning;
};

constexpr std::array meanings{
    cause_words{"live", "what is alive and what was wanted exceed the limit: nobody could have served it"},
    cause_words{"retained", "it would succeed if all that the allocator holds unused went back to the driver"},
    cause_words{"fragmented", "there are enough bytes, but not where or in the size that the allocator needs them"},
    cause_words{"pending", "there are enough bytes, but some were freed on a stream that has not come that far"},
    cause_words{"external", "memory outside the allocator was asked for, and the allocator held nothing that would have served it"},
    cause_words{"address-space", "addresses ran out, not memory"},
    cause_words{"injected", "a fault made on purpose (--inject), with no want of memory"},
};

std::string meaning_of(const outcome& o)
{
    if (o.what == status::starved)
        return "memory outside the allocator was asked for, and what the allocator held unused would have served it";
    const auto found = std::find_if(meanings.begin(), meanings.end(), [&](const auto& m) { return m.cause == o.cause; });
    return found == meanings.end() ? "" : std::string(found->meaning);
}

void line(std::string& out, std::string label, const std::string& text)
{
    label.resize(16, ' ');
    out += "  " + label + text + "\n";
}

std::string unused_words(const outcome& o, const std::vector<std::uint64_t>& blocks)
{
    std::string words = human_size(o.cached_bytes);
    if (blocks.empty()) return words;
    return words + " in " + std::to_string(blocks.size()) + (blocks.size() == 1 ? " block" : " blocks, the largest ") +
           (blocks.size() == 1 ? "" : human_size(*std::max_element(blocks.begin(), blocks.end())));
}

void report_cell(std::string& out, const cell& c)
{
    line(out, "workload", shown(c.workload->recipe->header().spec));
    line(out, "device", shown((c.on.simulated ? "simulated " : c.on.kind + " ") + c.on.name) +
                            (c.vram_limit_bytes ? ", limit " + exact_size(*c.vram_limit_bytes) : ", no limit"));
}

std::string times_word(std::uint64_t n) { return n == 1 ? "once" : short_count(static_cast<double>(n)) + " times"; }

std::string duration(std::int64_t picoseconds) { return human_time(static_cast<double>(picoseconds) / 1000.0); }

std::string mean_step(std::uint64_t steps, std::int64_t picoseconds)
{
    return steps ? duration(picoseconds / static_cast<std::int64_t>(steps)) : "-";
}

using recovery_row = std::array<std::string, 10>;

recovery_row row_of(const recovery_record& r)
{
    const recovery_times& t = r.times;
    const auto known = [&](std::int64_t picoseconds) { return r.has_times() ? duration(picoseconds) : "-"; };
    return {std::to_string(r.event), std::to_string(r.step), to_string(r.by), known(t.drain_sync + t.drain_free + t.drain_allocate),
            known(t.idle_sync + t.idle_free + t.idle_allocate), human_size(t.bytes_given_back),
            std::to_string(r.misses_after) + " of " + std::to_string(r.calls_after), known(r.misses_ps),
            mean_step(r.steps_before, r.steps_before_ps), mean_step(r.steps_after, r.steps_after_ps)};
}

/// One row a recovery: what it cost, and what came of it.
void report_recoveries(std::string& out, const pass_metrics& m)
{
    if (m.first_recoveries.empty()) return;
    std::vector<recovery_row> rows{{"event", "step", "by", "drain", "idle", "given back", "misses", "they took", "step before", "after"}};
    for (const recovery_record& r : m.first_recoveries) rows.push_back(row_of(r));
    recovery_row widest = rows.front();
    for (const auto& row : rows)
        for (std::size_t k = 0; k < row.size(); ++k)
            if (row[k].size() > widest[k].size()) widest[k] = row[k];
    out += m.first_recoveries.size() < m.recovered ? "  recoveries, the first " + std::to_string(rows.size() - 1) + "\n" : "  recoveries\n";
    for (const auto& row : rows) {
        out += "  ";
        for (std::size_t k = 0; k < row.size(); ++k) out += "  " + std::string(widest[k].size() - row[k].size(), ' ') + row[k];
        out += "\n";
    }
}

void report(std::string& out, const cell& c, const pass_metrics& m)
{
    const outcome& o = *m.result;
    out += shown(c.allocator.title) + ": " + to_string(o.what) + (o.cause.empty() ? "" : ", " + o.cause) + "\n";
    report_cell(out, c);
    line(out, "where",
         "event " + std::to_string(o.event) + ", step " + std::to_string(o.step) + (o.phase.empty() ? "" : " of " + shown(o.phase)));
    line(out, "wanted", human_size(o.wanted_bytes) + (o.tag.empty() ? "" : " for " + shown(o.tag)));
    line(out, "live", human_size(o.live_bytes));
    line(out, "unused", unused_words(o, m.cached_blocks));
    line(out, "driver free", human_size(o.driver_free_bytes));
    if (o.largest_cached_block_bytes && o.largest_driver_block_bytes)
        line(out, "largest block", human_size(*o.largest_cached_block_bytes) + " of what was unused, " +
                                       human_size(*o.largest_driver_block_bytes) + " of the driver");
    if (m.reached) {
        const recovery_metrics& r = m.reached->recovery;
        const auto given_back = static_cast<std::uint64_t>(as_double(r.bytes_given_back));
        line(out, "before it", short_count(as_double(r.recoveries)) + " recoveries, " + human_size(given_back) + " given back");
        line(out, "peak reserved", human_size(m.reached->peak_reserved_bytes));
    }
    line(out, "which means", meaning_of(o));
    if (o.next_served_bytes)
        line(out, "after it", *o.next_served_bytes ? "a request of " + human_size(*o.next_served_bytes) + " was served"
                                                   : std::string("no smaller request was served"));
    if (o.kept_by_driver_bytes.value_or(0))
        line(out, "", human_size(*o.kept_by_driver_bytes) + " did not come back when the allocator was gone: the driver keeps them, or "
                      "another process took them");
    report_recoveries(out, m);
}

void report_recovered(std::string& out, const cell& c, const pass_metrics& m)
{
    out += shown(c.allocator.title) + ": completed, recovered " + times_word(m.recovered) + "\n";
    report_cell(out, c);
    report_recoveries(out, m);
}

}  // namespace

std::string failure_report(const run_document& run, const std::string& filter)
{
    std::string out;
    const name_filter wanted(filter.empty() ? "." : filter);
    for (const cell& c : run.cells) {
        if (!wanted.matches(benchmark_name(c))) continue;
        const cell_metrics m = derive(c, nullptr);
        if (!m.cold.result) continue;
        const bool failed = ran_out_of_memory(m.cold.result->what);
        if (!failed && m.cold.first_recoveries.empty()) continue;
        if (!out.empty()) out += "\n";
        failed ? report(out, c, m.cold) : report_recovered(out, c, m.cold);
    }
    return out.empty() ? filter.empty() ? "Nothing ran out of memory.\n" : "Nothing that the filter matches ran out of memory.\n" : out;
}

}  // namespace vrambench
