#include "bench/failure_report.hpp"

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

void report(std::string& out, const cell& c, const pass_metrics& m)
{
    const outcome& o = *m.result;
    out += shown(c.allocator.title) + ": " + to_string(o.what) + (o.cause.empty() ? "" : ", " + o.cause) + "\n";
    line(out, "workload", shown(c.workload->recipe->header().spec));
    line(out, "device", shown((c.on.simulated ? "simulated " : c.on.kind + " ") + c.on.name) +
                            (c.vram_limit_bytes ? ", limit " + exact_size(*c.vram_limit_bytes) : ", no limit"));
    line(out, "where",
         "event " + std::to_string(o.event) + ", step " + std::to_string(o.step) + (o.phase.empty() ? "" : " of " + shown(o.phase)));
    line(out, "wanted", human_size(o.wanted_bytes) + (o.tag.empty() ? "" : " for " + shown(o.tag)));
    line(out, "live", human_size(o.live_bytes));
    line(out, "unused", unused_words(o, m.cached_blocks));
    line(out, "driver free", human_size(o.driver_free_bytes));
    if (m.reached) {
        const recovery_metrics& r = m.reached->recovery;
        const auto given_back = static_cast<std::uint64_t>(as_double(r.bytes_given_back));
        line(out, "before it", short_count(as_double(r.recoveries)) + " recoveries, " + human_size(given_back) + " given back");
        line(out, "peak reserved", human_size(m.reached->peak_reserved_bytes));
    }
    line(out, "which means", meaning_of(o));
}

}  // namespace

std::string failure_report(const run_document& run)
{
    std::string out;
    for (const cell& c : run.cells) {
        const cell_metrics m = derive(c, nullptr);
        if (!m.cold.result || (m.cold.result->what != status::oom && m.cold.result->what != status::starved)) continue;
        if (!out.empty()) out += "\n";
        report(out, c, m.cold);
    }
    return out.empty() ? "Nothing ran out of memory.\n" : out;
}

}  // namespace vrambench
