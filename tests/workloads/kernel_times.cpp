// Prints docs/workloads/kernel-times.md: what the roofline says of kernels and walks that were measured on an H200, rows
// that its constants were fitted to apart from rows that judge it. With a file it only compares: exit code 1 where they
// differ.
// usage: vrambench_kernel_times [FILE]

#include "workloads/engine/attention.hpp"
#include "workloads/engine/matmul.hpp"
#include "workloads/engine/walk.hpp"

#include <array>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace vrambench::engine {
namespace {

const std::string llama = "llama-3.1-8b", qwen = "qwen3-30b-a3b";

struct row {
    std::string what;
    std::int64_t modelled_ns, measured_ns;
    bool fitted = false;
};

/// Sum of the kernels of a walk.
std::int64_t walk_ns(session s, const walk_shape& shape)
{
    s.cells = shape.n_kv;
    const walk w = walk_maker(s).make(shape);
    std::int64_t sum = 0;
    for (const std::uint32_t i : w.order)
        for (const event& ev : w.segments[i].events)
            if (ev.kind == event_kind::kernel) sum += ev.nanoseconds;
    return sum;
}

/// The same with `layers` layers on the H200.
std::int64_t walk_ns(const std::string& name, std::uint64_t layers, tensor_type cache, era e, const walk_shape& shape)
{
    session s;
    s.model = find_model(name);
    s.model.layers = layers;
    s.target = find_target("h200");
    s.era = e;
    s.cache = cache;
    return walk_ns(std::move(s), shape);
}

/// Four micro-batches of 512 tokens behind `depth` cached ones, the last with an output row.
std::int64_t batch_ns(const std::string& name, std::uint64_t layers, tensor_type cache, era e, std::uint64_t depth)
{
    std::int64_t sum = 0;
    for (std::uint64_t i = 1; i <= 4; ++i)
        sum += walk_ns(name, layers, cache, e, {.tokens = 512, .n_kv = depth + 512 * i, .rows = i == 4 ? 1u : 0u});
    return sum;
}

std::int64_t attention_ns(std::uint64_t heads, std::uint64_t head, std::uint64_t tokens, std::uint64_t n_kv)
{
    const target h200 = find_target("h200");
    const attention_plan p = plan_attention(h200, era::reserved_fa, {.heads = heads, .kv_heads = 8, .key_head = head,
                                                                     .value_head = head, .tokens = tokens, .n_kv = n_kv});
    return nanoseconds(h200, p.timed_as, p.cost);
}

std::int64_t product_ns(std::uint64_t columns, std::uint64_t rows)
{
    const target h200 = find_target("h200");
    const matmul_plan p =
        plan_matmul(h200, era::reserved_fa, {.columns = columns, .rows = rows, .type = tensor_type::f16}, 512);
    return nanoseconds(h200, p.timed_as, p.cost);
}

std::vector<row> walk_rows()
{
    constexpr auto f16 = tensor_type::f16, q8_0 = tensor_type::q8_0;
    constexpr auto april = era::pool_fa_early, snapshot = era::reserved_fa;
    // The median walk of a prefill of 16,384 tokens; a token decoded behind it.
    const walk_shape prefill{.tokens = 512, .n_kv = 8448}, decode{.tokens = 1, .n_kv = 16640, .rows = 1};
    return {
        {"prefill walk, f16 cache, August", walk_ns(llama, 32, f16, snapshot, prefill), 56'600'000, true},
        {"prefill walk, q8_0, August", walk_ns(llama, 32, q8_0, snapshot, prefill), 58'200'000},
        {"prefill walk, f16, April", walk_ns(llama, 32, f16, april, prefill), 57'700'000},
        {"prefill walk, q8_0, April", walk_ns(llama, 32, q8_0, april, prefill), 60'200'000},
        {"decode walk, f16, August, replayed", walk_ns(llama, 32, f16, snapshot, decode), 4'170'000, true},
        {"decode walk, f16, August, launched", walk_ns(llama, 32, f16, snapshot, decode), 4'500'000},
        {"decode walk, q8_0, August, launched", walk_ns(llama, 32, q8_0, snapshot, decode), 5'900'000, true},
        {"decode walk, f16, April, launched", walk_ns(llama, 32, f16, april, decode), 5'100'000},
        {"decode walk, q8_0, April, launched", walk_ns(llama, 32, q8_0, april, decode), 7'000'000},
    };
}

void add_batches(std::vector<row>& out, const std::string& what, const std::string& model_name, std::uint64_t layers,
                 tensor_type cache, era e, const std::vector<std::pair<std::uint64_t, std::int64_t>>& measured,
                 std::uint64_t fitted_depth = 0)
{
    for (const auto& [depth, microseconds] : measured)
        out.push_back({what + ", at " + std::to_string(depth), batch_ns(model_name, layers, cache, e, depth),
                       microseconds * 1000, depth == fitted_depth});
}

std::vector<row> batch_rows()
{
    constexpr auto q8_0 = tensor_type::q8_0;
    constexpr auto april = era::pool_fa_early, snapshot = era::reserved_fa;
    std::vector<row> out;
    add_batches(out, "8B, q8_0, April, 32 layers", llama, 32, q8_0, april, {{6144, 233846}, {14336, 271891}}, 14336);
    add_batches(out, "8B, f16, August, 32 layers", llama, 32, tensor_type::f16, snapshot,
                {{6144, 220997}, {14336, 254854}});
    add_batches(out, "8B, q8_0, April, 4 layers", llama, 4, q8_0, april,
                {{6144, 29002}, {22528, 39104}, {55296, 66147}, {88064, 91853}, {129024, 135152}}, 55296);
    add_batches(out, "8B, q8_0, August, 4 layers", llama, 4, q8_0, snapshot,
                {{6144, 30469}, {22528, 48588}, {55296, 80698}, {88064, 110352}, {129024, 178119}});
    add_batches(out, "Qwen3-30B-A3B, q8_0, April, 4 layers", qwen, 4, q8_0, april,
                {{4096, 25767}, {8192, 28669}, {14336, 33100}});
    add_batches(out, "Qwen3-30B-A3B, q8_0, August, 4 layers", qwen, 4, q8_0, snapshot,
                {{4096, 44789}, {8192, 41026}, {14336, 54102}});
    return out;
}

std::vector<row> other_card_rows()
{
    session s;
    s.model = find_model(llama);
    s.model.types = {.attention = tensor_type::q5_0, .ffn = tensor_type::q5_0, .output = tensor_type::q5_0};
    s.target = find_target("rtx-3090");
    // 512 tokens at 3,654.78 a second.
    return {{"RTX 3090, 8B, Q5_0, prefill of 512 tokens", walk_ns(s, {.tokens = 512, .n_kv = 512, .rows = 1}), 140'090'511, true}};
}

std::vector<row> kernel_rows()
{
    struct attention_row {
        std::uint64_t heads, head, tokens;
        std::array<std::int64_t, 3> microseconds;    ///< 4,096, 32,768 and 131,072 cells
    };
    const std::array<attention_row, 5> measured{{{32, 128, 512, {142, 1000, 3821}},
                                                 {32, 128, 1, {57, 77, 190}},
                                                 {64, 128, 512, {230, 1606, 6219}},
                                                 {64, 128, 1, {56, 79, 185}},
                                                 {64, 64, 512, {137, 947, 3627}}}};
    const std::array<std::uint64_t, 3> cells{4096, 32768, 131072};
    std::vector<row> out;
    for (const attention_row& r : measured)
        for (std::size_t i = 0; i < cells.size(); ++i)
            out.push_back({"attention " + std::to_string(r.heads) + " / 8 x " + std::to_string(r.head) + ", " +
                               std::to_string(r.tokens) + (r.tokens == 1 ? " query, " : " queries, ") +
                               std::to_string(cells[i]) + " cells",
                           attention_ns(r.heads, r.head, r.tokens, cells[i]), r.microseconds[i] * 1000,
                           r.heads == 64 && r.tokens == 1 && cells[i] == 131072});
    out.push_back({"f16 product 4096 x 4096, 512 tokens", product_ns(4096, 4096), 38'600, true});
    out.push_back({"f16 product 14336 x 4096, 512 tokens", product_ns(4096, 14336), 104'000, true});
    out.push_back({"f16 product 4096 x 14336, 512 tokens", product_ns(14336, 4096), 93'000});
    return out;
}

/// Microseconds with one decimal, in integers: the same text with every compiler.
std::string microseconds(std::int64_t ns)
{
    const std::int64_t tenths = (ns + 50) / 100;
    return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

/// "+12 %", to the nearest per cent.
std::string miss(const row& r)
{
    const std::int64_t difference = r.modelled_ns - r.measured_ns, magnitude = difference < 0 ? -difference : difference;
    const std::int64_t percent = (200 * magnitude + r.measured_ns) / (2 * r.measured_ns);
    return (percent == 0 ? "" : difference < 0 ? "-" : "+") + std::to_string(percent) + " %";
}

void print_rows(std::ostream& out, const char* title, const char* text, const std::vector<row>& rows)
{
    out << "\n## " << title << "\n"
        << text << "\n\n| what | measured, us | modelled, us | miss | used |\n|---|---|---|---|---|\n";
    for (const row& r : rows)
        out << "| " << r.what << " | " << microseconds(r.measured_ns) << " | " << microseconds(r.modelled_ns) << " | "
            << miss(r) << " | " << (r.fitted ? "fitted" : "judged") << " |\n";
}

void print_constants(std::ostream& out)
{
    out << "\n## The constants\n\n"
           "| class of kernels | matrix rate, 1/1000 | bandwidth, 1/1000 | fixed, ns |\n|---|---|---|---|\n";
    for (std::size_t i = 0; i < kernel_classes; ++i) {
        const attained& a = attained_by(static_cast<kernel_class>(i));
        out << "| " << to_string(static_cast<kernel_class>(i)) << " | " << a.flops_share << " | " << a.bytes_share
            << " | " << a.fixed_ns << " |\n";
    }
}

constexpr const char* introduction = R"(# Kernel times: the roofline and what it misses

Made by `scripts/kernel-time-table`; a test compares this page with what the program says.

A kernel's time is a fixed part and the larger of flops over a share of the target's matrix rate and bytes over a share
of its bandwidth (workloads/engine/roofline.hpp). All rows are from one NVIDIA H200 (790 TFLOP/s and 4.3 TB/s measured,
2026-11-30) but one. The shares were fitted to the rows marked *fitted* and are judged on the others. On other targets
the rates differ, and the share of quantised products on some: nothing was measured there.
)";

constexpr const char* about_walks = R"(
Llama-3.1-8B, Q4_K, 32 layers: device time around a graph walk, medians, behind up to 16,384 tokens. Modelled: the sum
of the walk's kernels. Walks that were launched one kernel at a time hold gaps that a replay does not; April's decode
walks take longer than August's with as many launches. The model knows neither.)";

constexpr const char* about_batches = R"(
Four micro-batches of 512 tokens behind so many cached ones, from the recorded runs (with tracing on; the host's part
of a walk was well under the device's). The engine's attention loses speed with depth: by these rows a cell more costs a
layer 36 ns between 6,144 and 14,336 and 66 ns between 88,064 and 129,024, where one share stands for all. The August
runs of 4 layers are slower than April's for a reason that was not found, the mixture of experts most.)";

constexpr const char* about_kernels = R"(
PyTorch 2.11, f16, no mask. Its attention over 512 queries is faster than the engine's, whose own rows stand above;
where the two disagree, the engine's decide. So these rows say more of the engine than of the model.)";

constexpr const char* about_other_cards = R"(
llama.cpp pull request #7676 (2024): its quantised products attain more than an RTX 3090's f16 rate, since that card's
8-bit matrix units are fast beside it, and a quarter of an H200's. So a target can have its own share; the RTX 4090 and
5090 take the RTX 3090's, which is a guess, and AMD's cards the H200's, which is another.)";

void print_document(std::ostream& out)
{
    out << introduction;
    print_constants(out);
    print_rows(out, "Walks of the engine", about_walks, walk_rows());
    print_rows(out, "Batches by depth", about_batches, batch_rows());
    print_rows(out, "Another card", about_other_cards, other_card_rows());
    print_rows(out, "Kernels of another library", about_kernels, kernel_rows());
}

int run(int argc, char** argv)
{
    std::ostringstream document;
    print_document(document);
    if (argc < 2) {
        std::cout << document.str();
        return 0;
    }
    std::ifstream file(argv[1], std::ios::binary);
    const std::string old{std::istreambuf_iterator<char>(file), {}};
    if (old == document.str()) return 0;
    std::cerr << argv[1] << " is not what the program says: run scripts/kernel-time-table\n";
    return 1;
}

}  // namespace
}  // namespace vrambench::engine

int main(int argc, char** argv) { return vrambench::engine::run(argc, argv); }
