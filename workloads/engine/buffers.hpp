#pragma once
// The pool buffers of one operation, in the order in which it takes them; they are given back in reverse. Plain values
// without heap memory.

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace vrambench::engine {

enum class buffer_kind : std::uint8_t {
    y,               ///< activation in 8-bit blocks, for a quantised product
    y_scale,         ///< its scales, 4-bit floats on Blackwell
    fixup,           ///< FX: partial tiles of a stream-k product
    ids_source,      ///< experts: where each row comes from
    ids_target,      ///< experts: where each row goes
    bounds,          ///< experts: first row of each expert
    ids_host,        ///< experts, fallback: ids copied to the host
    sorted_source,   ///< experts, fallback: rows sorted by expert
    sorted_target,   ///< experts, fallback: results sorted by expert
    source0,         ///< BLAS: first operand converted
    source1,         ///< BLAS: second operand converted
    target,          ///< BLAS: result before its conversion to f32
    source_pointers, ///< BLAS: pointers to both operands of each product of a batch
    target_pointers, ///< BLAS: pointers to its results
    k_f16,           ///< attention: K of the cache as f16
    v_f16,           ///< attention: V of the cache as f16
    kv_max,          ///< attention: last cell that the mask lets each tile see
    partial,         ///< attention: dst_tmp, results of the splits
    partial_meta,    ///< attention: dst_tmp_meta, maxima and sums (and results, in the matrix kernel) of the splits
};
inline constexpr std::size_t buffer_kinds = 19;

/// Short names for tags: "Y", "FX", "K_f16", "dst_tmp_meta", ...
const char* to_string(buffer_kind kind);

struct buffer {
    buffer_kind kind = buffer_kind::y;
    std::uint64_t bytes = 0;    ///< as requested, above 0
    friend bool operator==(const buffer&, const buffer&) = default;
};

/// At most `most` buffers; the deepest operation of the engine holds 6.
class buffer_list {
public:
    static constexpr std::size_t most = 8;

    void add(buffer_kind kind, std::uint64_t bytes)
    {
        assert(size_ < most);
        items_[size_++] = {kind, bytes};
    }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    const buffer& operator[](std::size_t i) const { return items_[i]; }
    const buffer* begin() const { return items_.data(); }
    const buffer* end() const { return items_.data() + size_; }
    /// Sum of all, which is also the most that is alive: buffers nest.
    std::uint64_t bytes() const
    {
        std::uint64_t sum = 0;
        for (const buffer& b : *this) sum += b.bytes;
        return sum;
    }
    friend bool operator==(const buffer_list&, const buffer_list&) = default;

private:
    std::array<buffer, most> items_{};
    std::size_t size_ = 0;
};

}  // namespace vrambench::engine
