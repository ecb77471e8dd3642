#include "workloads/engine/buffers.hpp"

namespace vrambench::engine {

const char* to_string(buffer_kind kind)
{
    static constexpr std::array<const char*, buffer_kinds> names{
        "Y", "Y_scale", "FX", "ids_src1", "ids_dst", "bounds", "ids_host", "sorted_src1", "sorted_dst", "src0_conv",
        "src1_conv", "dst_conv", "ptrs_src", "ptrs_dst", "K_f16", "V_f16", "KV_max", "dst_tmp", "dst_tmp_meta"};
    return names[static_cast<std::size_t>(kind)];
}

}  // namespace vrambench::engine
