#include "workloads/fattn_settings.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/engine_settings.hpp"

#include <algorithm>
#include <string_view>

namespace vrambench {
namespace {

using engine::slice;

constexpr std::uint64_t most_tokens = std::uint64_t{1} << 40;    // keeps sums in range; cells are checked against:
constexpr std::size_t most_depths = 64;    // each has up to three phases, of which a trace holds 256
constexpr std::uint64_t default_context = 32'768, default_prompt = 1024;

/// "4096+32768+131072"
std::vector<std::uint64_t> parse_depths(const std::string& text, const std::string& what)
{
    std::vector<std::uint64_t> depths;
    for (std::size_t begin = 0;;) {
        const std::size_t end = text.find('+', begin);
        depths.push_back(parse_integer(std::string_view(text).substr(begin, end - begin), what, 0, most_tokens));
        if (end == std::string::npos) return depths;
        if (depths.size() == most_depths)
            throw input_error(what + ": more than " + std::to_string(most_depths) + " depths, spread them over several runs");
        begin = end + 1;
    }
}

std::string text_of(const std::vector<std::uint64_t>& depths)
{
    std::string out;
    for (const std::uint64_t d : depths) out += (out.empty() ? "" : "+") + std::to_string(d);
    return out;
}

/// The prompt of each slice: what `prompt` says, else what leads from the one depth to `to`.
std::uint64_t prompt_of(const std::string& name, const config& c, const std::vector<std::uint64_t>& depths)
{
    const bool has_to = !c.is("to", "auto"), has_prompt = !c.is("prompt", "auto");
    const std::uint64_t last = depths.back();
    if (has_prompt && has_to && c.integer("to") != last + c.integer("prompt"))
        throw input_error(name + ": to=" + c.text("to") + " contradicts depth=" + c.text("depth") + " and prompt=" +
                          c.text("prompt") + ": to is the last depth plus the prompt, leave one of them out");
    if (has_prompt) return c.integer("prompt");
    if (!has_to) return last == 0 ? default_context : default_prompt;
    if (depths.size() > 1)
        throw input_error(name + ": several depths need prompt= instead of to= (tokens that are processed at each)");
    if (c.integer("to") <= last)
        throw input_error(name + ": to=" + c.text("to") + " must be above depth=" + c.text("depth") +
                          ": the tokens between them are the prompt");
    return c.integer("to") - last;
}

std::vector<slice> parse_slices(const std::string& name, fattn_family family, config& c)
{
    const auto depths = parse_depths(c.text("depth"), name + ": depth");
    const std::uint64_t prompt = family == fattn_family::decode ? 0 : prompt_of(name, c, depths);
    const std::uint64_t tokens = family == fattn_family::prefill ? 0 : c.integer("tokens");
    std::vector<slice> slices;
    for (const std::uint64_t depth : depths) {
        if (!slices.empty() && depth < end_of(slices))
            throw input_error(name + ": depth=" + c.text("depth") + ": " + std::to_string(depth) +
                              " is below the end of the slice before it (" + std::to_string(end_of(slices)) + ")");
        slices.push_back({depth, prompt, tokens});
    }
    c.set("depth", text_of(depths));
    if (family != fattn_family::decode) {
        c.set("prompt", std::to_string(prompt));
        c.set("to", std::to_string(depths.back() + prompt));
    }
    return slices;
}

engine::sync_rule parse_sync(const config& c)
{
    if (c.is("sync", "engine")) return engine::sync_rule::engine;
    if (c.is("sync", "token")) return engine::sync_rule::token;
    return c.is("sync", "batch") ? engine::sync_rule::batch : engine::sync_rule::none;
}

engine::traced_ops parse_ops(const config& c)
{
    if (c.is("ops", "all")) return engine::traced_ops::all;
    return c.is("ops", "fa") ? engine::traced_ops::attention : engine::traced_ops::attention_copies;
}

void check_contradictions(const std::string& name, const config& c, const engine::session& s)
{
    const std::uint64_t batch = c.integer("batch");
    if (s.ubatch % s.sequences != 0 || batch % s.sequences != 0)
        throw input_error(name + ": sequences=" + c.text("sequences") + " must divide ubatch=" + c.text("ubatch") +
                          " and batch=" + c.text("batch") + ", which hold tokens of all sequences");
    const bool copies = s.flash && s.cache != engine::tensor_type::f16 && s.era != engine::era::reserved_fa;
    if (s.ops == engine::traced_ops::attention_copies && !copies)
        throw input_error(name + ": ops=fa-temp: there are no f16 copies of K and V in the pool; they need fa=on, a cache other "
                                 "than f16 and era=pool-fa-early or pool-fa-late");
}

std::uint64_t checked_cells(const std::string& name, const config& c, const std::vector<slice>& slices, std::uint64_t sequences)
{
    const std::uint64_t cells = round_up(engine::end_of(slices), engine::cell_padding);
    if (cells <= most_cells / sequences) return cells;
    const bool from_the_start = slices.front().depth == 0 && slices.front().prompt > 0;
    throw input_error(name + (from_the_start ? ": to=" + c.text("to") : ": depth=" + c.text("depth")) + ": " +
                      std::to_string(sequences) + " x " + std::to_string(cells) + " cells exceed the 2^31 of a cache");
}

}  // namespace

fattn_settings parse_fattn(const std::string& name, fattn_family family, config& c, const std::string& target)
{
    fattn_settings f;
    f.session = parse_engine(name, c, target);
    f.session.sequences = c.integer("sequences");
    f.session.ops = parse_ops(c);
    check_contradictions(name, c, f.session);
    auto& plan = f.schedule;
    plan.slices = parse_slices(name, family, c);
    f.session.cells = checked_cells(name, c, plan.slices, f.session.sequences);
    plan.ubatch = f.session.ubatch;
    plan.batch = c.integer("batch");
    plan.sequences = f.session.sequences;
    plan.graphs = c.is("graphs", "on");
    plan.cut = c.is("last-layer-cut", "on");
    plan.sync = parse_sync(c);
    plan.inputs = engine::graph_inputs(f.session);
    f.weights = c.is("weights", "on");
    f.notes = context_notes(name, engine::end_of(plan.slices), {f.session});
    return f;
}

std::vector<key_info> fattn_keys(fattn_family family)
{
    const bool decode_only = family == fattn_family::decode;
    std::vector<key_info> keys = engine_keys();
    if (!decode_only) {
        keys.push_back({.name = "to", .type = key_type::integer, .default_value = "auto", .unit = "tokens",
                        .help = "context after the prompt: the last depth plus the prompt; auto: 32768 where nothing else is said",
                        .choices = {"auto"}, .least = 1, .most = most_tokens});
        keys.push_back({.name = "prompt", .type = key_type::integer, .default_value = "auto", .unit = "tokens",
                        .help = "processed at each depth; auto: from the depth to `to`, or 1024 where no `to` is given",
                        .choices = {"auto"}, .least = 1, .most = most_tokens});
    }
    keys.push_back({.name = "depth", .type = key_type::text, .default_value = decode_only ? "32768" : "0", .unit = "tokens",
                    .help = "context that is there before: its allocations are replayed without kernels and not measured; "
                            "several depths (4096+32768) give one measured slice each"});
    if (family != fattn_family::prefill)
        keys.push_back({.name = "tokens", .type = key_type::integer, .default_value = "512", .unit = "tokens",
                        .help = "decoded by each sequence at each depth", .least = 1, .most = most_tokens});
    keys.insert(keys.end(), {
        layers_key(),
        {.name = "sequences", .type = key_type::integer, .default_value = "1", .unit = "sequences",
         .help = "that grow side by side, each with a cache of its own", .least = 1, .most = 4096},
        graphs_key(),
        {.name = "sync", .type = key_type::choice, .default_value = "engine", .unit = "",
         .help = "where the host waits: engine: for each graph input and copy between walks, as recorded; token: at the end of "
                 "each step; batch: of each batch of the prompt and each decoded token",
         .choices = {"engine", "token", "batch", "none"}},
        {.name = "ops", .type = key_type::choice, .default_value = "all", .unit = "",
         .help = "fa: attention only; fa-temp: of it only the f16 copies of K and V", .choices = {"all", "fa", "fa-temp"}},
        {.name = "last-layer-cut", .type = key_type::choice, .default_value = "on", .unit = "",
         .help = "on: the last layer's feed-forward part works on the requested output rows, as the engine does; off: on all "
                 "rows, and only decode walks have lm_head",
         .choices = {"on", "off"}},
        weights_key()});
    return keys;
}

}  // namespace vrambench
