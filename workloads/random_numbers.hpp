#pragma once
// Random numbers that are the same with every compiler and library: splitmix64 (Steele, Lea, Flood 2014) and integer
// distributions of our own. The standard's distributions differ between libraries, and libm between versions.

#include <algorithm>
#include <bit>
#include <cstdint>

namespace vrambench {

class random_numbers {
public:
    explicit random_numbers(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next()
    {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    /// Uniform in 0 ... n - 1 (n > 0), by the high half of a product; its bias is below n / 2^64.
    std::uint64_t below(std::uint64_t n)
    {
        __extension__ using wide = unsigned __int128;
        return static_cast<std::uint64_t>(wide{next()} * n >> 64);
    }

private:
    std::uint64_t state_;
};

/// True with a fixed probability, which is taken in steps of 2^-53: exact arithmetic on any machine.
class chance {
public:
    explicit chance(double probability) : limit_(static_cast<std::uint64_t>(probability * 9007199254740992.0)) {}
    bool operator()(random_numbers& r) const { return (r.next() >> 11) < limit_; }

private:
    std::uint64_t limit_;
};

/// Whole numbers from `least` to `most` (least >= 1): every octave is equally likely, uniform inside; an octave that the
/// range covers in part is taken in proportion. This is log-uniform with the logarithm replaced by its chords, which
/// needs no libm: a value's place is its exponent and the next 32 bits below its leading one.
class log_uniform {
public:
    log_uniform(std::uint64_t least, std::uint64_t most)
        : least_(least), most_(most), first_(place(least)), places_(place(most) - first_ + 1)
    {
    }

    std::uint64_t operator()(random_numbers& r) const
    {
        const std::uint64_t p = first_ + r.below(places_);
        const auto exponent = static_cast<unsigned>(p >> 32);
        const std::uint64_t fraction = p & 0xffffffffu;
        const std::uint64_t above = exponent >= 32 ? fraction << (exponent - 32) : fraction >> (32 - exponent);
        return std::clamp((std::uint64_t{1} << exponent) + above, least_, most_);
    }

private:
    static std::uint64_t place(std::uint64_t value)
    {
        const auto exponent = static_cast<unsigned>(std::bit_width(value) - 1);
        const std::uint64_t above = value - (std::uint64_t{1} << exponent);
        return (std::uint64_t{exponent} << 32) + (exponent >= 32 ? above >> (exponent - 32) : above << (32 - exponent));
    }

    std::uint64_t least_, most_, first_, places_;
};

/// Whole numbers with an exponential distribution of this mean, such as times between arrivals. The logarithm is taken bit
/// by bit in integers (squaring the mantissa), exact to 2^-32.
class exponential {
public:
    explicit exponential(std::uint64_t mean) : mean_(mean) {}

    std::uint64_t operator()(random_numbers& r) const
    {
        __extension__ using wide = unsigned __int128;
        constexpr std::uint64_t ln_2 = 0xb17217f7d1cf79abu;    // times 2^64
        const auto nats = static_cast<std::uint64_t>(wide{minus_log2(r.next() | 1)} * ln_2 >> 64);
        return static_cast<std::uint64_t>(wide{mean_} * nats >> 32);
    }

    /// -log2(x / 2^64) times 2^32, for x above 0.
    static std::uint64_t minus_log2(std::uint64_t x)
    {
        __extension__ using wide = unsigned __int128;
        const auto zeros = static_cast<unsigned>(std::countl_zero(x));
        std::uint64_t mantissa = x << zeros;    // 1 to 2, with 63 bits below the point
        std::uint64_t log2 = 0;
        for (int bit = 31; bit >= 0; --bit) {
            const wide square = wide{mantissa} * mantissa;
            const unsigned above_2 = static_cast<unsigned>(square >> 127);
            mantissa = static_cast<std::uint64_t>(square >> (63 + above_2));
            log2 |= std::uint64_t{above_2} << bit;
        }
        return (std::uint64_t{zeros + 1} << 32) - log2;
    }

private:
    std::uint64_t mean_;
};

}  // namespace vrambench
