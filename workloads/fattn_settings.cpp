#include "workloads/fattn_settings.hpp"

#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <string_view>

namespace vrambench {
namespace {

using engine::slice;

constexpr std::uint64_t most_tokens = std::uint64_t{1} << 40;    // keeps sums in range; cells are checked against:
constexpr std::uint64_t most_cells = std::uint64_t{1} << 31;
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

engine::era parse_era(const config& c)
{
    if (c.is("era", "pool-fa-early")) return engine::era::pool_fa_early;
    return c.is("era", "pool-fa-late") ? engine::era::pool_fa_late : engine::era::reserved_fa;
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

engine::session parse_session(const std::string& name, config& c, const std::string& target)
{
    engine::session s;
    s.model = engine::find_model(c.text("model"));
    if (!c.is("layers", "model")) s.model.layers = c.integer("layers");
    if (c.is("target", "auto")) c.set("target", target);
    s.target = engine::find_target(c.text("target"));
    s.era = parse_era(c);
    s.cache = engine::parse_tensor_type(c.text("kv"), name + ": kv");
    s.flash = c.is("fa", "on");
    s.sequences = c.integer("sequences");
    s.ubatch = c.integer("ubatch");
    s.ops = parse_ops(c);
    return s;
}

void check_contradictions(const std::string& name, const config& c, const engine::session& s)
{
    const std::uint64_t batch = c.integer("batch");
    if (s.ubatch > batch)
        throw input_error(name + ": ubatch=" + c.text("ubatch") + " exceeds batch=" + c.text("batch"));
    if (s.ubatch % s.sequences != 0 || batch % s.sequences != 0)
        throw input_error(name + ": sequences=" + c.text("sequences") + " must divide ubatch=" + c.text("ubatch") +
                          " and batch=" + c.text("batch") + ", which hold tokens of all sequences");
    if (is_quantised(s.cache) && !s.flash)
        throw input_error(name + ": kv=" + c.text("kv") + " needs fa=on: the engine has no product with a quantised V cache");
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
    f.session = parse_session(name, c, target);
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
    f.reserved_bytes = engine::reserved_bytes(f.session);
    if (c.is("weights", "on")) {
        f.weight_bytes = engine::weight_bytes(f.session.model);
        f.cache_bytes = f.session.sequences * engine::cache_bytes(f.session.model, f.session.cache, f.session.cells,
                                                                  f.session.sliding_cache_cells());
    }
    const engine::model& m = f.session.model;
    if (const std::uint64_t end = engine::end_of(plan.slices); m.trained_context != 0 && end > m.trained_context)
        f.notes.push_back(name + ": " + std::to_string(end) + " tokens are more than the " +
                          std::to_string(m.trained_context) + " that " + m.name + " was trained for");
    return f;
}

std::vector<key_info> fattn_keys(fattn_family family)
{
    std::vector<std::string> models, targets{"auto"};
    for (const auto& [name, json] : engine::built_in_models()) models.push_back(name);
    for (const auto& [name, json] : engine::built_in_targets()) targets.push_back(name);
    const bool decode_only = family == fattn_family::decode;
    std::vector<key_info> keys{
        {.name = "model", .type = key_type::text, .default_value = "llama-3.1-8b", .unit = "",
         .help = joined(models) + ", or @FILE.json"},
        {.name = "kv", .type = key_type::choice, .default_value = "q8_0", .unit = "",
         .help = "type of the KV cache", .choices = {"f16", "q8_0", "q4_0", "bf16"}},
        {.name = "era", .type = key_type::choice, .default_value = "pool-fa-early", .unit = "",
         .help = "pool-fa-early: to 2026-04-24, f16 copies of K and V in the pool; pool-fa-late: to 2026-06-02; "
                 "reserved-fa: since then, the copies are reserved at start-up",
         .choices = {"pool-fa-early", "pool-fa-late", "reserved-fa"}},
        {.name = "fa", .type = key_type::choice, .default_value = "on", .unit = "",
         .help = "flash attention", .choices = {"on", "off"}},
        {.name = "target", .type = key_type::text, .default_value = "auto", .unit = "",
         .help = "GPU that buffers and kernel times are calculated for: " + joined(targets) +
                 ", or VENDOR/ARCHITECTURE/MULTIPROCESSORS/FLOPS/BYTES; auto: the device of the run"},
        {.name = "ubatch", .type = key_type::integer, .default_value = "512", .unit = "tokens",
         .help = "of a micro-batch, all sequences together", .least = 1, .most = 1 << 20},
        {.name = "batch", .type = key_type::integer, .default_value = "2048", .unit = "tokens",
         .help = "of a batch, whose last micro-batch has output rows", .least = 1, .most = 1 << 20}};
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
        {.name = "layers", .type = key_type::integer, .default_value = "model", .unit = "layers",
         .help = "instead of the model's number", .choices = {"model"}, .least = 1, .most = 10'000},
        {.name = "sequences", .type = key_type::integer, .default_value = "1", .unit = "sequences",
         .help = "that grow side by side, each with a cache of its own", .least = 1, .most = 4096},
        {.name = "graphs", .type = key_type::choice, .default_value = "on", .unit = "",
         .help = "on: a walk that is like the last one is captured, then replayed without walking", .choices = {"on", "off"}},
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
        {.name = "weights", .type = key_type::choice, .default_value = "off", .unit = "",
         .help = "on: the model's weights and its KV cache are external allocations", .choices = {"off", "on"}}});
    return keys;
}

}  // namespace vrambench
