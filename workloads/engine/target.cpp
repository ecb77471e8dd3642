#include "workloads/engine/target.hpp"

#include "spec/errors.hpp"
#include "spec/json_reader.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>

namespace vrambench::engine {
namespace {

constexpr std::uint64_t most_multiprocessors = 4096, most_rate = 1'000'000'000'000'000'000,
                        most_memory = std::uint64_t{1} << 50;
constexpr std::uint64_t most_share = 10'000, most_blocks = 32, most_vector_tokens = 64;

/// "9.0" to 90; empty where it is none.
std::optional<std::uint32_t> parse_compute_capability(std::string_view text)
{
    std::uint32_t major = 0, minor = 0;
    const char* const end = text.data() + text.size();
    const auto whole = std::from_chars(text.data(), end, major);
    if (whole.ec != std::errc{} || whole.ptr == end || *whole.ptr != '.') return std::nullopt;
    const auto rest = std::from_chars(whole.ptr + 1, end, minor);
    if (rest.ec != std::errc{} || rest.ptr != end || major > 99 || minor > 9) return std::nullopt;
    return major * 10 + minor;
}

std::optional<family> nvidia_family(std::uint32_t compute_capability)
{
    if (compute_capability < 60) return std::nullopt;
    if (compute_capability < 70) return family::pascal;
    if (compute_capability < 75) return family::volta;
    if (compute_capability < 80) return family::turing;
    if (compute_capability < 89) return family::ampere;
    if (compute_capability < 90) return family::ada;
    if (compute_capability < 100) return family::hopper;
    return family::blackwell;
}

std::optional<family> amd_family(std::string_view architecture)
{
    static constexpr std::array<std::pair<std::string_view, family>, 11> prefixes{{
        {"gfx908", family::cdna1}, {"gfx90a", family::cdna2}, {"gfx94", family::cdna3}, {"gfx95", family::cdna3},
        {"gfx8", family::gcn}, {"gfx90", family::gcn},
        {"gfx101", family::rdna1}, {"gfx103", family::rdna2}, {"gfx11", family::rdna3}, {"gfx120", family::rdna4},
        {"gfx125", family::rdna4},
    }};
    for (const auto& [prefix, f] : prefixes)
        if (architecture.starts_with(prefix)) return f;
    return std::nullopt;
}

void set_architecture(target& t, std::string_view vendor, std::string_view architecture, const std::string& where)
{
    t.vendor = vendor;
    t.architecture = architecture;
    std::optional<family> found;
    if (vendor == "nvidia") {
        const auto cc = parse_compute_capability(architecture);
        if (cc) found = nvidia_family(*cc);
        t.compute_capability = cc.value_or(0);
    } else if (vendor == "amd") {
        found = amd_family(architecture);
    } else {
        throw input_error(where + ": unknown vendor " + in_quotes(vendor) + " (nvidia or amd)");
    }
    if (!found)
        throw input_error(
            where + ": unknown architecture " + in_quotes(architecture) +
            (vendor == "nvidia" ? " (a compute capability from 6.0 on, such as 9.0)" : " (such as gfx1100)"));
    t.family = *found;
}

attention_kernel parse_kernel(const json_reader& r)
{
    const std::string text = r.text("kernel");
    for (const auto k : {attention_kernel::vector, attention_kernel::tile, attention_kernel::matrix})
        if (text == to_string(k)) return k;
    r.fail("kernel", "must be vec, tile or mma");
}

/// "4x16"
void parse_tile(const json_reader& r, measured_occupancy& o)
{
    const std::string text = r.text("tile");
    const auto x = text.find('x');
    if (x == std::string::npos) r.fail("tile", "must be COLUMNSxGROUPS, such as 4x16");
    const std::string where = r.where() + ": \"tile\"";
    o.columns = parse_integer(std::string_view(text).substr(0, x), where, 1, 64);
    o.groups = parse_integer(std::string_view(text).substr(x + 1), where, 1, 64);
}

measured_occupancy read_occupancy(const json_reader& r)
{
    measured_occupancy o;
    o.kernel = parse_kernel(r);
    o.key_head = r.number("key_head", 1, 4096);
    if (r.has("tile")) parse_tile(r, o);
    if (r.has("cache")) {
        const std::string cache = r.text("cache");
        if (cache != "float" && cache != "quantised") r.fail("cache", "must be float or quantised");
        o.any_cache = false;
        o.quantised_cache = cache == "quantised";
    }
    if (r.has("era")) {
        if (r.text("era") != "pool-fa-early") r.fail("era", "must be pool-fa-early, or be left out");
        o.early_only = true;
    }
    o.blocks = static_cast<std::uint32_t>(r.number("blocks", 1, most_blocks));
    r.no_other_keys();
    return o;
}

std::vector<measured_occupancy> read_occupancies(const json_reader& r)
{
    const auto& list = r.at("occupancies");
    if (!list.is_array()) r.fail("occupancies", "must be a list of objects");
    std::vector<measured_occupancy> out;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].is_object()) r.fail("occupancies", "must be a list of objects");
        out.push_back(read_occupancy(json_reader(list[i], r.where() + ": occupancies[" + std::to_string(i) + "]")));
    }
    return out;
}

const std::vector<target>& shipped()
{
    static const std::vector<target> all = [] {
        std::vector<target> out;
        for (const auto& [name, text] : built_in_targets()) out.push_back(parse_target(text, name + ".json"));
        return out;
    }();
    return all;
}

/// A rate as it stands in a text form: "790e12".
std::string rate_text(std::uint64_t rate)
{
    unsigned exponent = 0;
    for (; rate != 0 && rate % 1000 == 0; rate /= 1000) exponent += 3;
    return std::to_string(rate) + (exponent != 0 ? "e" + std::to_string(exponent) : "");
}

std::string text_form(const target& t)
{
    return t.vendor + "/" + t.architecture + "/" + std::to_string(t.multiprocessors) + "/" +
           rate_text(t.flops_per_second) + "/" + rate_text(t.bytes_per_second);
}

std::uint64_t parse_rate(std::string_view text, const std::string& what)
{
    const auto e = text.find('e');
    std::uint64_t rate = parse_integer(text.substr(0, e), what, 1, most_rate);
    if (e == std::string_view::npos) return rate;
    for (auto n = parse_integer(text.substr(e + 1), what, 0, 18); n != 0; --n) {
        if (rate > most_rate / 10) throw input_error(what + ": " + in_quotes(text) + " is too large");
        rate *= 10;
    }
    return rate;
}

/// What a shipped target knows of its kernels holds for others of its family, or of its very architecture only.
void take_kernels_of_family(target& t)
{
    for (const target& s : shipped()) {
        if (s.family != t.family) continue;
        t.vector_tokens_k_quants = s.vector_tokens_k_quants;
        if (s.architecture != t.architecture) return;
        t.occupancies = s.occupancies;
        t.quantised_share = s.quantised_share;
        return;
    }
}

std::vector<std::string_view> split(std::string_view text)
{
    std::vector<std::string_view> out;
    for (std::size_t begin = 0;;) {
        const auto end = text.find('/', begin);
        out.push_back(text.substr(begin, end - begin));
        if (end == std::string_view::npos) return out;
        begin = end + 1;
    }
}

target parse_text_form(std::string_view text)
{
    const auto parts = split(text);
    if (parts.size() != 5)
        throw input_error("target: " + in_quotes(text) +
                          " must be VENDOR/ARCHITECTURE/MULTIPROCESSORS/FLOPS/BYTES, such as "
                          "nvidia/9.0/114/790e12/4300e9");
    target t;
    set_architecture(t, parts[0], parts[1], "target");
    t.multiprocessors = parse_integer(parts[2], "target: multiprocessors", 1, most_multiprocessors);
    t.flops_per_second = parse_rate(parts[3], "target: flops a second");
    t.bytes_per_second = parse_rate(parts[4], "target: bytes a second");
    t.name = text_form(t);
    t.source = "as typed, or as the device reported";
    take_kernels_of_family(t);
    return t;
}

}  // namespace

const char* to_string(family f)
{
    static constexpr std::array<const char*, 15> names{"pascal", "volta",     "turing", "ampere", "ada",
                                                       "hopper", "blackwell", "gcn",    "cdna1",  "cdna2",
                                                       "cdna3",  "rdna1",     "rdna2",  "rdna3",  "rdna4"};
    return names[static_cast<std::size_t>(f)];
}

const char* to_string(attention_kernel k)
{
    static constexpr std::array<const char*, 3> names{"vec", "tile", "mma"};
    return names[static_cast<std::size_t>(k)];
}

target parse_target(std::string_view text, const std::string& origin)
{
    const auto j = parse_json(text, origin);
    const json_reader r(j, origin);
    if (r.text("schema") != "vrambench.target/1") r.fail("schema", "must be \"vrambench.target/1\"");
    target t;
    t.name = r.text("name");
    t.source = r.text("source");
    set_architecture(t, r.text("vendor"), r.text("architecture"), origin);
    t.multiprocessors = r.number("multiprocessors", 1, most_multiprocessors);
    t.memory_bytes = r.number("memory_bytes", 1, most_memory);
    t.flops_per_second = r.number("flops_per_second", 1, most_rate);
    t.bytes_per_second = r.number("bytes_per_second", 1, most_rate);
    if (r.has("vector_tokens_k_quants"))
        t.vector_tokens_k_quants = r.number("vector_tokens_k_quants", 1, most_vector_tokens);
    if (r.has("quantised_share")) t.quantised_share = r.number("quantised_share", 1, most_share);
    if (r.has("occupancies")) t.occupancies = read_occupancies(r);
    r.no_other_keys();
    return t;
}

target find_target(std::string_view name)
{
    if (name.find('/') != std::string_view::npos) return parse_text_form(name);
    std::vector<std::string> names;
    for (const target& t : shipped()) {
        if (t.name == name) return t;
        names.push_back(t.name);
    }
    throw input_error("target: unknown target " + in_quotes(name) + did_you_mean(name, names) + " (one of " +
                      joined(names) + ", or VENDOR/ARCHITECTURE/MULTIPROCESSORS/FLOPS/BYTES)");
}

std::string target_text(std::string_view vendor, std::string_view architecture, std::uint64_t multiprocessors,
                        std::uint64_t flops_per_second, std::uint64_t bytes_per_second)
{
    target t;
    set_architecture(t, vendor, architecture.substr(0, architecture.find(':')), "target");
    t.multiprocessors = multiprocessors;
    t.flops_per_second = flops_per_second;
    t.bytes_per_second = bytes_per_second;
    for (const target& s : shipped())
        if (s.vendor == t.vendor && s.architecture == t.architecture && s.multiprocessors == multiprocessors)
            return s.name;
    return text_form(t);
}

}  // namespace vrambench::engine
