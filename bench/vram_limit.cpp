#include "bench/vram_limit.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>

namespace vrambench {

namespace {

constexpr std::size_t most_decimals = 9;
constexpr std::uint64_t largest_ratio = 1'000'000;
constexpr std::uint64_t fewest_bytes = 1024;    // nobody means less: a unit was forgotten
constexpr std::uint64_t largest_limit = std::uint64_t{1} << 60;

/// A decimal number as an exact fraction.
struct ratio {
    std::uint64_t above = 0, below = 1;
};

[[noreturn]] void refuse(const std::string& typed, const std::string& problem)
{
    throw input_error("--vram-limit: " + in_quotes(typed) + " " + problem);
}

ratio parse_ratio(const std::string& typed)
{
    std::string digits = typed.substr(0, typed.size() - 1);
    ratio r;
    if (const auto point = digits.find('.'); point != std::string::npos) {
        const std::size_t decimals = digits.size() - point - 1;
        if (point == 0 || decimals == 0 || decimals > most_decimals) refuse(typed, "is not a share (write 1.25x or 80%)");
        for (std::size_t i = 0; i < decimals; ++i) r.below *= 10;
        digits.erase(point, 1);
    }
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const bool plain = !digits.empty() && digits.size() < 18 && std::all_of(digits.begin(), digits.end(), is_digit);
    if (!plain) refuse(typed, "is not a share (write 1.25x or 80%)");
    r.above = parse_integer(digits, "--vram-limit", 0, UINT64_MAX);
    if (r.above == 0) refuse(typed, "leaves nothing to allocate from");
    if (r.above / r.below > largest_ratio) refuse(typed, "is too large");
    return r;
}

std::uint64_t share_of(const std::string& typed, const trace_summary& summary)
{
    const ratio r = parse_ratio(typed);
    const bool times = typed.back() == 'x';
    using wide = unsigned __int128;
    const wide above = times ? wide{r.above} : wide{r.below} * 100;
    const wide below = times ? wide{r.below} : wide{r.above};
    const wide bytes = (above * summary.max_live_bytes + below - 1) / below + summary.max_external_bytes;
    if (bytes > largest_limit) refuse(typed, "of " + human_size(summary.max_live_bytes) + " is too large");
    if (bytes == 0) refuse(typed, "of a trace that allocates nothing leaves nothing to allocate from");
    return static_cast<std::uint64_t>(bytes);
}

}  // namespace

void refuse_decimal_comma(const std::string& typed)
{
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    for (std::size_t comma = typed.find(','); comma != std::string::npos; comma = typed.find(',', comma + 1)) {
        std::size_t begin = comma;
        while (begin > 0 && is_digit(typed[begin - 1])) --begin;
        // Nobody means a limit of some bytes: what stands before the comma is the whole part of a number.
        const bool whole_part = begin < comma && comma - begin <= 4 && (begin == 0 || typed[begin - 1] == ',');
        if (whole_part && comma + 1 < typed.size() && is_digit(typed[comma + 1]))
            refuse(typed, "has a comma between digits: write a point (1.25x), or a unit on each limit (1GiB,2GiB)");
    }
}

bool is_relative_limit(const std::string& typed)
{
    return typed.size() > 1 && (typed.back() == 'x' || typed.back() == '%');
}

std::optional<std::uint64_t> vram_limit(const std::string& typed, const trace_summary& summary)
{
    if (typed == "none") return std::nullopt;
    if (is_relative_limit(typed)) return share_of(typed, summary);
    const std::uint64_t bytes = parse_size(typed, "--vram-limit");
    if (bytes == 0) throw input_error("--vram-limit: 0 bytes leave nothing to allocate from (none means no limit)");
    if (bytes < fewest_bytes)
        throw input_error("--vram-limit: " + in_quotes(typed) + " is " + std::to_string(bytes) + " bytes, in which nothing fits (write " + typed +
                          "x for a multiple of max live, or a unit: " + typed + "GiB)");
    return bytes;
}

}  // namespace vrambench
