#pragma once
// Sizes and times as users write and read them. No floating point in parsing: "67.20MiB" is exact to the byte.

#include <cstdint>
#include <string>
#include <string_view>

namespace vrambench {

inline constexpr std::uint64_t KiB = std::uint64_t{1} << 10;
inline constexpr std::uint64_t MiB = std::uint64_t{1} << 20;
inline constexpr std::uint64_t GiB = std::uint64_t{1} << 30;
inline constexpr std::uint64_t TiB = std::uint64_t{1} << 40;

/// Rounds `value` up to a multiple of `step` (step > 0).
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t step) { return (value + step - 1) / step * step; }

/// Parses "512MiB", "67.20MiB" (rounded to the nearest byte), "4GiB", "1048576". At most 2^60 bytes.
/// Throws input_error naming `what` for anything else; decimal units (MB) are refused with the binary one suggested.
std::uint64_t parse_size(std::string_view text, std::string_view what);

/// Parses a whole number from `least` to `most`. Throws input_error naming `what`.
std::uint64_t parse_integer(std::string_view text, std::string_view what, std::uint64_t least, std::uint64_t most);

/// Parses a plain decimal number ("0.25") from `least` to `most`. Throws input_error naming `what`.
double parse_number(std::string_view text, std::string_view what, double least, double most);

/// Parses "1500ms", "120s", "2min", "90" (seconds) to milliseconds. Throws input_error naming `what`.
std::uint64_t parse_duration_ms(std::string_view text, std::string_view what);

/// "512MiB" where the size is whole in a unit, else plain bytes: parse_size of it gives the same number.
std::string exact_size(std::uint64_t bytes);

/// The shortest plain decimal ("0.25") that parse_number reads back as the same number.
std::string exact_number(double value);

/// For people: "1170.23 MiB", "31.0 KiB", "12 B".
std::string human_size(std::uint64_t bytes);

/// For people, from nanoseconds: "412 ns", "3.1 us", "27.4 ms", "1.25 s".
std::string human_time(double nanoseconds);

}  // namespace vrambench
