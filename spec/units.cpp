#include "spec/units.hpp"

#include "spec/errors.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>

namespace vrambench {
namespace {

constexpr std::uint64_t largest_size = std::uint64_t{1} << 60;

struct binary_unit {
    std::string_view name;
    unsigned shift;
};
constexpr std::array<binary_unit, 4> binary_units{{{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t count_digits(std::string_view text)
{
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    return n;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// "12", "12.50", and what follows them.
struct decimal {
    std::string_view whole, fraction, rest;
    bool valid = false;
};

decimal split_decimal(std::string_view text)
{
    decimal d;
    d.whole = text.substr(0, count_digits(text));
    d.rest = text.substr(d.whole.size());
    d.valid = !d.whole.empty();
    if (!d.rest.starts_with('.')) return d;
    d.fraction = d.rest.substr(1, count_digits(d.rest.substr(1)));
    d.rest.remove_prefix(1 + d.fraction.size());
    d.valid = d.valid && !d.fraction.empty();
    return d;
}

/// False where it does not fit.
bool to_u64(std::string_view digits, std::uint64_t& value)
{
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && end == digits.data() + digits.size();
}

/// 0.DIGITS times 2^shift, to the nearest whole number, halves up. Doubling the decimal digits by hand is exact for any
/// number of them; what is carried out of the first digit are the bits of the result.
std::uint64_t scale_fraction(std::string_view fraction, unsigned shift)
{
    std::string digits(fraction);
    std::uint64_t bits = 0;
    for (unsigned i = 0; i < shift; ++i) {
        int carry = 0;
        for (auto d = digits.rbegin(); d != digits.rend(); ++d) {
            const int twice = 2 * (*d - '0') + carry;
            *d = static_cast<char>('0' + twice % 10);
            carry = twice / 10;
        }
        bits = 2 * bits + static_cast<std::uint64_t>(carry);
    }
    return bits + (!digits.empty() && digits.front() >= '5' ? 1 : 0);
}

std::string message(std::string_view what, std::string_view text, std::string_view problem)
{
    return std::string(what) + ": " + in_quotes(text) + " " + std::string(problem);
}

/// What to write instead of a unit that is none of ours, or empty.
std::string unit_hint(std::string_view number, std::string_view unit)
{
    if (unit.empty() || unit.size() > 3) return {};
    for (const auto& u : binary_units) {
        if (lower(unit.front()) != lower(u.name.front())) continue;
        const std::string instead = "write " + std::string(number) + std::string(u.name);
        if (unit.size() == 2 && lower(unit[1]) == 'b') return "uses a decimal unit: " + instead;
        return "has an unknown unit: " + instead;
    }
    return unit == "B" || unit == "b" ? "has a unit that is not needed: plain numbers are bytes" : std::string{};
}

[[noreturn]] void refuse_size(std::string_view text, const decimal& d, std::string_view what)
{
    const std::string hint = d.valid ? unit_hint(text.substr(0, text.size() - d.rest.size()), d.rest) : std::string{};
    throw input_error(message(what, text, hint.empty() ? "is not a size (write 512MiB, 67.20MiB or plain bytes)" : hint));
}

/// `value` with `decimals` digits after the point; independent of the locale, unlike printf.
std::string fixed(double value, int decimals)
{
    std::array<char, 400> buffer{};
    const auto r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
    return {buffer.data(), r.ptr};
}

}  // namespace

std::uint64_t parse_size(std::string_view text, std::string_view what)
{
    const decimal d = split_decimal(text);
    unsigned shift = 0;
    if (d.valid && !d.rest.empty())
        for (const auto& u : binary_units)
            if (d.rest == u.name) shift = u.shift;
    if (!d.valid || (shift == 0 && !d.rest.empty())) refuse_size(text, d, what);
    if (shift == 0 && !d.fraction.empty()) throw input_error(message(what, text, "is not a whole number of bytes"));

    std::uint64_t whole = 0;
    if (!to_u64(d.whole, whole) || whole > largest_size >> shift)
        throw input_error(message(what, text, "is too large (at most 1048576TiB)"));
    const std::uint64_t bytes = (whole << shift) + scale_fraction(d.fraction, shift);
    if (bytes > largest_size) throw input_error(message(what, text, "is too large (at most 1048576TiB)"));
    return bytes;
}

std::uint64_t parse_integer(std::string_view text, std::string_view what, std::uint64_t least, std::uint64_t most)
{
    if (text.empty() || count_digits(text) != text.size()) throw input_error(message(what, text, "is not a whole number"));
    std::uint64_t value = 0;
    if (!to_u64(text, value) || value > most)
        throw input_error(message(what, text, "is too large (at most " + std::to_string(most) + ")"));
    if (value < least) throw input_error(message(what, text, "is too small (at least " + std::to_string(least) + ")"));
    return value;
}

double parse_number(std::string_view text, std::string_view what, double least, double most)
{
    const decimal d = split_decimal(text.starts_with('-') ? text.substr(1) : text);
    if (!d.valid || !d.rest.empty()) throw input_error(message(what, text, "is not a plain decimal number"));
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    const bool tiny = error == std::errc::result_out_of_range && std::abs(value) < 1;
    if ((error != std::errc{} && !tiny) || end != text.data() + text.size() || value > most || value < least)
        throw input_error(message(what, text, "is not within " + exact_number(least) + " to " + exact_number(most)));
    return value + 0.0;   // no negative zero
}

std::uint64_t parse_duration_ms(std::string_view text, std::string_view what)
{
    constexpr std::uint64_t longest = std::uint64_t{1} << 53;
    const std::string_view number = text.substr(0, count_digits(text)), unit = text.substr(number.size());
    std::uint64_t factor = 0;
    if (unit.empty() || unit == "s") factor = 1000;
    if (unit == "ms") factor = 1;
    if (unit == "min") factor = 60'000;
    if (number.empty() || factor == 0)
        throw input_error(message(what, text, "is not a time (write 1500ms, 120s, 2min, or seconds: 90)"));
    std::uint64_t value = 0;
    if (!to_u64(number, value) || value > longest / factor) throw input_error(message(what, text, "is too long a time"));
    return value * factor;
}

std::string exact_size(std::uint64_t bytes)
{
    if (bytes != 0)
        for (auto u = binary_units.rbegin(); u != binary_units.rend(); ++u)
            if (bytes % (std::uint64_t{1} << u->shift) == 0)
                return std::to_string(bytes >> u->shift) + std::string(u->name);
    return std::to_string(bytes);
}

std::string exact_number(double value)
{
    std::array<char, 1200> buffer{};
    const auto r = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed);
    return {buffer.data(), r.ptr};
}

std::string human_size(std::uint64_t bytes)
{
    // Pools are compared in MiB, so that unit lasts up to 10 GiB.
    const auto in = [&](std::uint64_t unit) { return static_cast<double>(bytes) / static_cast<double>(unit); };
    if (bytes < KiB) return std::to_string(bytes) + " B";
    if (bytes < MiB) return fixed(in(KiB), 1) + " KiB";
    if (bytes < 10 * GiB) return fixed(in(MiB), 2) + " MiB";
    if (bytes < 10 * TiB) return fixed(in(GiB), 2) + " GiB";
    return fixed(in(TiB), 2) + " TiB";
}

std::string human_time(double nanoseconds)
{
    const double ns = std::abs(nanoseconds);
    const std::string sign = nanoseconds < 0 ? "-" : "";
    // The limits are where rounding would print "1000".
    if (ns < 9.95 && ns != std::floor(ns)) return sign + fixed(ns, 1) + " ns";
    if (ns < 999.5) return sign + fixed(ns, 0) + " ns";
    if (ns < 999.95e3) return sign + fixed(ns / 1e3, 1) + " us";
    if (ns < 999.95e6) return sign + fixed(ns / 1e6, 1) + " ms";
    return sign + fixed(ns / 1e9, 2) + " s";
}

}  // namespace vrambench
