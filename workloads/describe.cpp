#include "workloads/describe.hpp"

#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <string_view>

namespace vrambench {
namespace {

/// "1,234,567"
std::string grouped(std::uint64_t n)
{
    const std::string digits = std::to_string(n);
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) out += ',';
        out += digits[i];
    }
    return out;
}

std::string count(std::uint64_t n, const std::string& noun)
{
    return grouped(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string size(std::uint64_t bytes)
{
    return bytes < KiB ? count(bytes, "byte") : human_size(bytes) + " (" + count(bytes, "byte") + ")";
}

void line(std::string& out, std::string label, const std::string& text)
{
    constexpr std::size_t width = 14;
    label.resize(width, ' ');
    out += label + text + "\n";
}

std::string order(const trace_summary& s)
{
    return s.lifo ? "last in, first out on each stream"
                  : "not last in, first out (first broken by event " + grouped(s.first_non_lifo_event) + ")";
}

}  // namespace

std::string describe(const trace_header& header, const trace_summary& s)
{
    std::string out;
    line(out, "trace", printable(header.spec));
    if (header.seed != 0) line(out, "seed", std::to_string(header.seed));
    line(out, "phases", printable(joined(header.phases)));
    line(out, "events", grouped(s.events) + " on " + count(s.streams, "stream"));
    line(out, "calls", count(s.alloc_calls, "allocation") + ", " + count(s.free_calls, "free"));
    line(out, "launches", count(s.launches, "kernel") + (!s.graphs                 ? ""
                                                                : s.first_replay_of_freed ? ", with graphs whose replays use freed blocks"
                                                                                          : ", with graphs"));
    line(out, "kernel time", s.stated_kernel_ns == 0 ? "not stated: the device's own, from flops and bytes"
                                                     : human_time(static_cast<double>(s.stated_kernel_ns)) + " stated");
    line(out, "steps", grouped(s.steps) + " with " + count(s.tokens, "token"));
    line(out, "max live", size(s.max_live_bytes));
    line(out, "depth", count(s.max_live_blocks, "block") + " alive at most");
    line(out, "largest block", size(s.max_block_bytes) + ", alignment " + size(s.max_alignment) + " at most");
    if (s.external_ids != 0) line(out, "external", size(s.max_external_bytes) + " beside the allocator");
    if (s.end_live_blocks != 0) line(out, "at the end", count(s.end_live_blocks, "block") + " never freed");
    line(out, "free order", order(s));
    return out;
}

}  // namespace vrambench
