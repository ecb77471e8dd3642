#include "workloads/engine/tensor_type.hpp"

#include "spec/errors.hpp"
#include "spec/spec.hpp"

#include <array>
#include <cstddef>

namespace vrambench::engine {
namespace {

constexpr std::array<tensor_layout, 15> layouts{{
    {"f32", 1, 4}, {"f16", 1, 2}, {"bf16", 1, 2},
    {"q4_0", 32, 18}, {"q4_1", 32, 20}, {"q5_0", 32, 22}, {"q5_1", 32, 24}, {"q8_0", 32, 34},
    {"q2_k", 256, 84}, {"q3_k", 256, 110}, {"q4_k", 256, 144}, {"q5_k", 256, 176}, {"q6_k", 256, 210},
    {"mxfp4", 32, 17}, {"nvfp4", 64, 36},
}};

}  // namespace

const tensor_layout& layout_of(tensor_type type) { return layouts[static_cast<std::size_t>(type)]; }

bool is_quantised(tensor_type type) { return layout_of(type).values > 1; }

bool is_k_quant(tensor_type type) { return layout_of(type).values == 256; }

std::uint64_t tensor_bytes(tensor_type type, std::uint64_t columns, std::uint64_t rows)
{
    const tensor_layout& l = layout_of(type);
    return (columns + l.values - 1) / l.values * l.bytes * rows;
}

const std::vector<std::string>& tensor_type_names()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> out;
        for (const tensor_layout& l : layouts) out.emplace_back(l.name);
        return out;
    }();
    return names;
}

tensor_type parse_tensor_type(std::string_view name, std::string_view what)
{
    for (std::size_t i = 0; i < layouts.size(); ++i)
        if (layouts[i].name == name) return static_cast<tensor_type>(i);
    throw input_error(std::string(what) + ": unknown type " + in_quotes(name) + did_you_mean(name, tensor_type_names()));
}

}  // namespace vrambench::engine
