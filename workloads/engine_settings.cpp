#include "workloads/engine_settings.hpp"

#include "spec/errors.hpp"

namespace vrambench {
namespace {

engine::era parse_era(const config& c)
{
    if (c.is("era", "pool-fa-early")) return engine::era::pool_fa_early;
    return c.is("era", "pool-fa-late") ? engine::era::pool_fa_late : engine::era::reserved_fa;
}

}  // namespace

engine::session parse_engine(const std::string& name, config& c, const std::string& target, const std::string& model_key)
{
    engine::session s;
    s.model = engine::find_model(c.text(model_key), model_key);
    if (!c.is("layers", "model")) s.model.layers = c.integer("layers");
    if (c.is("target", "auto")) c.set("target", target);
    s.target = engine::find_target(c.text("target"));
    s.era = parse_era(c);
    s.cache = engine::parse_tensor_type(c.text("kv"), name + ": kv");
    s.flash = c.is("fa", "on");
    s.ubatch = c.integer("ubatch");
    if (s.ubatch > c.integer("batch"))
        throw input_error(name + ": ubatch=" + c.text("ubatch") + " exceeds batch=" + c.text("batch"));
    if (is_quantised(s.cache) && !s.flash)
        throw input_error(name + ": kv=" + c.text("kv") + " needs fa=on: the engine has no product with a quantised V cache");
    return s;
}

std::vector<std::string> context_notes(const std::string& name, std::uint64_t tokens,
                                       const std::vector<engine::session>& sessions)
{
    std::vector<std::string> notes;
    for (const engine::session& s : sessions)
        if (const std::uint64_t trained = s.model.trained_context; trained != 0 && tokens > trained)
            notes.push_back(name + ": " + std::to_string(tokens) + " tokens are more than the " + std::to_string(trained) +
                            " that " + s.model.name + " was trained for");
    return notes;
}

std::vector<key_info> engine_keys(const std::string& default_model)
{
    std::vector<std::string> models, targets{"auto"};
    for (const auto& [name, json] : engine::built_in_models()) models.push_back(name);
    for (const auto& [name, json] : engine::built_in_targets()) targets.push_back(name);
    return {
        {.name = "model", .type = key_type::text, .default_value = default_model, .unit = "",
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
}

key_info layers_key()
{
    return {.name = "layers", .type = key_type::integer, .default_value = "model", .unit = "layers",
            .help = "instead of the model's number", .choices = {"model"}, .least = 1, .most = 10'000};
}

key_info graphs_key()
{
    return {.name = "graphs", .type = key_type::choice, .default_value = "on", .unit = "",
            .help = "on: a walk that is like the last one is captured, then replayed without walking", .choices = {"on", "off"}};
}

key_info weights_key()
{
    return {.name = "weights", .type = key_type::choice, .default_value = "off", .unit = "",
            .help = "on: the model's weights and its KV cache are external allocations", .choices = {"off", "on"}};
}

}  // namespace vrambench
