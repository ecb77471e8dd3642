#include "workloads/engine/roofline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace vrambench::engine {
namespace {

/// Shares of the target's rates in thousandths, and the part of a kernel's time that does not follow its size.
struct calibration {
    std::uint64_t flops_share;
    std::uint64_t bytes_share;
    std::uint64_t fixed_ns;
};

constexpr std::array<calibration, kernel_classes> calibrations{{
    {250, 700, 3000},     // quantised_product
    {830, 700, 12000},    // float_product
    {500, 700, 3000},     // vector_product
    {370, 830, 25000},    // attention
    {370, 830, 10000},    // attention_vector
    {100, 700, 3000},     // elementwise
}};

/// amount / (rate * share / 1000) in nanoseconds, rounded up.
std::uint64_t nanoseconds_for(std::uint64_t amount, std::uint64_t rate, std::uint64_t share)
{
    const auto attained = static_cast<unsigned __int128>(rate) * share;
    const auto scaled = static_cast<unsigned __int128>(amount) * 1'000'000'000'000;
    return static_cast<std::uint64_t>((scaled + attained - 1) / attained);
}

}  // namespace

const char* to_string(kernel_class c)
{
    static constexpr std::array<const char*, kernel_classes> names{
        "quantised product", "float product", "vector product", "attention", "attention of few rows", "elementwise"};
    return names[static_cast<std::size_t>(c)];
}

std::int64_t nanoseconds(const target& t, kernel_class c, const op_cost& cost)
{
    const calibration& k = calibrations[static_cast<std::size_t>(c)];
    const std::uint64_t compute = nanoseconds_for(cost.flops, t.flops_per_second, k.flops_share);
    const std::uint64_t traffic = nanoseconds_for(cost.bytes, t.bytes_per_second, k.bytes_share);
    return static_cast<std::int64_t>(k.fixed_ns + std::max(compute, traffic));
}

}  // namespace vrambench::engine
