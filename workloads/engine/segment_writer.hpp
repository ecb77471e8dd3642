#pragma once
// Writes the events of a stretch of a walk.

#include "workloads/engine/buffers.hpp"
#include "workloads/engine/launches.hpp"
#include "workloads/engine/roofline.hpp"
#include "workloads/engine/target.hpp"
#include "workloads/trace.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace vrambench::engine {

/// Operations that take buffers: the products with each weight, then attention.
inline constexpr std::size_t weights = static_cast<std::size_t>(weight::output) + 1;
enum class site : std::uint8_t { attention = weights, scores, values };
inline constexpr std::size_t sites = weights + 3;
constexpr site site_of(weight w) { return static_cast<site>(w); }
const char* to_string(site s);

/// Numbers of the names that a session's events can carry.
class tag_table {
public:
    tag_table();
    void add(site s, std::initializer_list<buffer_kind> buffers);
    std::uint16_t of(launch_kind k) const { return static_cast<std::uint16_t>(k); }
    std::uint16_t of(site s) const { return sites_[static_cast<std::size_t>(s)]; }
    std::uint16_t of(site s, buffer_kind b) const
    {
        return buffers_[static_cast<std::size_t>(s)][static_cast<std::size_t>(b)];
    }
    const std::vector<std::string>& names() const { return names_; }

private:
    std::vector<std::string> names_;
    std::array<std::uint16_t, sites> sites_{};
    std::array<std::array<std::uint16_t, buffer_kinds>, sites> buffers_{};
};

using operand_list = std::vector<std::uint32_t>;

class segment_writer {
public:
    segment_writer(const tag_table& tags, const target& t) : tags_(tags), target_(t) {}

    /// Takes a buffer; the id names it until it is freed.
    std::uint32_t alloc(site s, const buffer& b);
    /// Frees the last `n` buffers, last taken first.
    void free(std::size_t n = 1);
    void launch(launch_kind k, const op_cost& cost, const operand_list& reads = {}, const operand_list& writes = {});
    /// The kernel that the site is named after.
    void launch(site s, kernel_class c, const op_cost& cost, const operand_list& reads = {},
                const operand_list& writes = {});
    void synchronise();

    bool synchronises() const { return synchronises_; }
    event_batch take() { return std::exchange(out_, {}); }

private:
    void kernel(std::uint16_t tag, kernel_class c, const op_cost& cost, const operand_list& reads,
                const operand_list& writes);

    const tag_table& tags_;
    const target& target_;
    event_batch out_;
    std::uint32_t depth_ = 0;
    bool synchronises_ = false;
};

}  // namespace vrambench::engine
