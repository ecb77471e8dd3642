#include "workloads/engine/blas.hpp"

namespace vrambench::engine {
namespace {

bool has_fast_f16(const target& t)
{
    return is_amd(t.family) || t.family != family::pascal || t.compute_capability == 60;
}

/// The result of a 16-bit product is taken as 16 bit and converted after it, except where the library returns f32.
bool converts_target(const target& t, tensor_type compute)
{
    if (compute == tensor_type::f32) return false;
    if (compute == tensor_type::bf16) return t.family == family::rdna3 || is_cdna(t.family);
    return t.family != family::volta && t.family != family::rdna4 && !is_cdna(t.family);
}

}  // namespace

matmul_plan blas_plan(const target& t, const blas_operands& o)
{
    matmul_plan p{.path = matmul_path::blas, .timed_as = kernel_class::float_product};
    const std::uint64_t value_bytes = layout_of(o.compute).bytes;
    if (o.type0 != o.compute) p.buffers.add(buffer_kind::source0, o.source0 * value_bytes);
    if (o.compute != tensor_type::f32) p.buffers.add(buffer_kind::source1, o.source1 * value_bytes);
    if (converts_target(t, o.compute)) p.buffers.add(buffer_kind::target, o.target * value_bytes);
    if (o.pointers != 0) {
        p.buffers.add(buffer_kind::source_pointers, 16 * o.pointers);
        p.buffers.add(buffer_kind::target_pointers, 8 * o.pointers);
    }
    if (p.buffers.empty()) p.path = matmul_path::float_kernel;
    return p;
}

matmul_plan blas_plan(const target& t, const weight_matrix& w, std::uint64_t tokens)
{
    blas_operands o{.source0 = w.columns * w.rows * w.channels,
                    .source1 = w.columns * tokens * w.channels,
                    .target = w.rows * tokens * w.channels,
                    .type0 = w.type,
                    .compute = w.type};
    if (is_quantised(w.type)) o.compute = has_fast_f16(t) ? tensor_type::f16 : tensor_type::f32;
    return blas_plan(t, o);
}

}  // namespace vrambench::engine
