#pragma once
// What kinds of allocator stand on, and what a probe's findings say about that.

#include "bench/probe/summary.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vrambench::probing {

/// What allocators of one kind stand on: the findings whose ids begin so.
struct needed {
    std::vector<std::string> allocators;     ///< names, an alias aside
    const char* feature;                     ///< in words: "virtual memory"
    const char* claim;                       ///< what the driver has to state for it; null: nothing
    const char* first;                       ///< beginning of the ids without which nothing is known; null: there is none
    std::vector<std::string> prefixes;
};

const std::vector<needed>& needs();

/// Of an allocator's name, "legacy-retry" as "legacy"; null where nothing is known of what it stands on.
const needed* need_of(std::string_view allocator);

/// Key and value, as in a canonical spec.
using settings = std::vector<std::pair<std::string, std::string>>;

enum class usability : std::uint8_t {
    unknown,    ///< not asked, or not answered
    usable,     ///< it does what was asked of it
    unusable,   ///< something is broken, or the device lacks it
};
const char* to_string(usability u);

/// Findings are of the report that was judged, which has to live as long.
struct judgement {
    usability is = usability::unknown;
    std::size_t answered = 0;                ///< findings that concern it and are not open
    std::vector<const summed_finding*> bad;  ///< why it is unusable
    std::vector<const summed_finding*> costly;
    std::vector<std::string> not_asked;      ///< ids, or how the ids begin of which there is none
};

/// `of` tells the allocator's settings: with a threshold of max, what is wrong at 0 is not its business. None: all counts.
judgement judge(const std::vector<probe_summary>& probes, const needed& n, const settings& of = {});

}  // namespace vrambench::probing
