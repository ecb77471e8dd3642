#pragma once
// The GPU that the traffic is calculated for: block counts, and with them several buffers, follow from its multiprocessors
// and architecture. The shipped ones are built in (workloads/targets); any other is written as text.

#include "workloads/engine/era.hpp"
#include "workloads/engine/tensor_type.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace vrambench::engine {

/// Architectures whose kernel tables differ.
enum class family : std::uint8_t {
    pascal, volta, turing, ampere, ada, hopper, blackwell,    // NVIDIA
    gcn, cdna1, cdna2, cdna3, rdna1, rdna2, rdna3, rdna4,     // AMD
};
constexpr bool is_amd(family f) { return f >= family::gcn; }
constexpr bool is_cdna(family f) { return f >= family::cdna1 && f <= family::cdna3; }
constexpr bool is_rdna(family f) { return f >= family::rdna1; }
/// "hopper", "rdna3", ...
const char* to_string(family f);

enum class attention_kernel : std::uint8_t { vector, tile, matrix };
/// "vec", "tile", "mma"
const char* to_string(attention_kernel k);

/// Blocks of a kernel that were found to be resident on one multiprocessor, where the launch bound says less.
struct measured_occupancy {
    attention_kernel kernel = attention_kernel::vector;
    std::uint64_t key_head = 0;
    std::uint64_t columns = 0, groups = 0;    ///< tile c1 x c2; 0 x 0: any
    bool quantised_cache = false, any_cache = true;
    bool early_only = false;                  ///< the kernel of era::pool_fa_early
    std::uint32_t blocks = 0;
};

struct target {
    std::string name;                    ///< of a shipped target, else its text form
    std::string source;                  ///< where the figures are from, and which of them are unsure
    std::string vendor;                  ///< "nvidia" or "amd"
    std::string architecture;            ///< "9.0", "gfx942"
    engine::family family = engine::family::hopper;
    std::uint32_t compute_capability = 0;    ///< 90 for 9.0; 0 on AMD
    std::uint64_t multiprocessors = 0;
    std::uint64_t memory_bytes = 0;      ///< 0: not known
    std::uint64_t flops_per_second = 0;  ///< f16 matrix rate
    std::uint64_t bytes_per_second = 0;  ///< read plus written
    /// Share of flops_per_second that quantised products attain, in thousandths; 0: as on the H200. Cards whose 8-bit
    /// matrix units are fast beside their f16 rate attain far more of it.
    std::uint64_t quantised_share = 0;
    std::uint64_t vector_tokens_k_quants = 8;    ///< most tokens that the vector kernels take with a dense k-quant weight
    std::vector<measured_occupancy> occupancies;    ///< the first that fits counts
};

/// Parses a target document; `origin` names it in errors. Throws input_error.
target parse_target(std::string_view json, const std::string& origin);

/// A shipped target by name, or a text form (VENDOR/ARCHITECTURE/MULTIPROCESSORS/FLOPS/BYTES). Throws input_error.
target find_target(std::string_view name_or_text);

/// For `target=auto`: the name of the shipped target with this architecture ("9.0", "gfx942"; features after a colon are
/// dropped) and number of multiprocessors, else the text form "nvidia/9.0/114/790e12/4300e9" of the figures (flops and
/// bytes a second), which holds no comma and which find_target reads back. Throws input_error for an architecture that is
/// not known.
std::string target_text(std::string_view vendor, std::string_view architecture, std::uint64_t multiprocessors,
                        std::uint64_t flops_per_second, std::uint64_t bytes_per_second);

/// The built-in targets: name and JSON text.
const std::vector<std::pair<std::string, std::string_view>>& built_in_targets();

}  // namespace vrambench::engine
