#include "workloads/engine/roofline.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace vrambench::engine {
namespace {

// Fitted on an H200 (790 TFLOP/s and 4.3 TB/s measured), to the rows that docs/workloads/kernel-times.md marks:
// - float_product: two f16 products of 512 tokens, which give the share and the fixed part;
// - quantised_product: the prefill walk of Llama-3.1-8B with an f16 cache, after everything else;
// - attention: batches of 2,048 tokens at two depths; for the bytes a decode kernel of 64 heads at 131,072 cells; its
//   fixed part is an assumption;
// - vector_product, attention_vector and elementwise: the replayed decode walk with an f16 cache, one row for the two
//   fixed parts (taken as equal) and the share of the cache's bytes;
// - attention_vector_quantised: the decode walk with a q8_0 cache.
// The 700 and 500 thousandths and the 4,000 ns are assumptions that no row decides.
constexpr std::array<attained, kernel_classes> classes{{
    {231, 700, 2000},     // quantised_product
    {830, 700, 12000},    // float_product
    {500, 700, 2000},     // vector_product
    {230, 650, 10000},    // attention
    {500, 345, 4000},     // attention_vector
    {500, 95, 4000},      // attention_vector_quantised
    {500, 700, 2000},     // elementwise
}};

constexpr std::uint64_t longest_ns = 1'000'000'000'000'000;

/// amount / (rate * share / 1000) in nanoseconds, rounded up, at most longest_ns.
std::uint64_t nanoseconds_for(std::uint64_t amount, std::uint64_t rate, std::uint64_t share)
{
    const auto attained_rate = static_cast<unsigned __int128>(rate) * share;
    const auto scaled = static_cast<unsigned __int128>(amount) * 1'000'000'000'000;
    const auto ns = (scaled + attained_rate - 1) / attained_rate;
    return ns < longest_ns ? static_cast<std::uint64_t>(ns) : longest_ns;
}

}  // namespace

const char* to_string(kernel_class c)
{
    static constexpr std::array<const char*, kernel_classes> names{
        "quantised product", "float product", "vector product", "attention", "attention, one row",
        "attention, one row, quantised cache", "elementwise"};
    return names[static_cast<std::size_t>(c)];
}

const attained& attained_by(kernel_class c) { return classes[static_cast<std::size_t>(c)]; }

std::int64_t nanoseconds(const target& t, kernel_class c, const op_cost& cost)
{
    const attained& k = attained_by(c);
    const bool own_share = c == kernel_class::quantised_product && t.quantised_share != 0;
    const std::uint64_t share = own_share ? t.quantised_share : k.flops_share;
    const std::uint64_t compute = nanoseconds_for(cost.flops, t.flops_per_second, share);
    const std::uint64_t traffic = nanoseconds_for(cost.bytes, t.bytes_per_second, k.bytes_share);
    return static_cast<std::int64_t>(k.fixed_ns + std::max(compute, traffic));
}

}  // namespace vrambench::engine
