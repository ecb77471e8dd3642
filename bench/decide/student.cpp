#include "bench/decide/student.hpp"

#include <algorithm>
#include <cmath>
#include <math.h>      // lgamma_r is POSIX
#include <stdexcept>

namespace vrambench {

namespace {

/// The continued fraction of the incomplete beta function by Lentz's method (Press and others, Numerical Recipes, 6.4). Converges
/// fast for x < (a + 1) / (a + b + 2), in about the root of the larger parameter.
double beta_fraction(double a, double b, double x)
{
    constexpr double tiny = 1e-300;
    const auto away_from_zero = [](double v) { return std::abs(v) < tiny ? tiny : v; };
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), h = d;
    for (int m = 1; m <= 10'000; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        h *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        h *= d * c;
        if (std::abs(d * c - 1) < 1e-15) return h;
    }
    throw std::logic_error("the incomplete beta function did not converge");
}

/// std::lgamma writes a global variable, and pairs are compared on several threads.
double log_gamma(double x)
{
    int sign = 0;
    return ::lgamma_r(x, &sign);
}

/// x^a (1-x)^b / (a B(a, b)), by which the fraction is multiplied. `y` is 1 - x, given apart to keep its digits.
double beta_front(double a, double b, double x, double y)
{
    return std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log(y)) / a;
}

}  // namespace

double student_two_sided(double t, double freedom)
{
    freedom = std::min(freedom, 1e6);        // the normal distribution to six digits; logarithms of larger gammas cancel
    if (t == 0) return 1;
    if (std::isinf(t)) return 0;
    const double a = freedom / 2, b = 0.5, x = 1 / (1 + t / freedom * t), y = 1 / (1 + freedom / t / t);
    if (x < (a + 1) / (a + b + 2)) return beta_front(a, b, x, y) * beta_fraction(a, b, x);
    return 1 - beta_front(b, a, y, x) * beta_fraction(b, a, y);
}

double student_reach(double p, double freedom)
{
    if (!(p > 0 && p < 1)) throw std::logic_error("a quantile of no probability was asked for");
    double low = 0, high = 1;
    while (student_two_sided(high, freedom) > p) high *= 2;
    for (int i = 0; i < 60; ++i) {
        const double middle = low + (high - low) / 2;
        (student_two_sided(middle, freedom) > p ? low : high) = middle;
    }
    return high;
}

}  // namespace vrambench
