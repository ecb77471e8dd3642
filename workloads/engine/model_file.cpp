// Model files: reading, and every way in which one can be wrong.

#include "workloads/engine/model.hpp"

#include "spec/errors.hpp"
#include "spec/json_reader.hpp"
#include "spec/spec.hpp"

#include <algorithm>
#include <fstream>

namespace vrambench::engine {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20;
// Far above any model, low enough that products of a shape with a context stay within 64 bits.
constexpr std::uint64_t most_layers = 10'000, most_width = 1 << 18, most_heads = 1 << 10, most_head = 1 << 12;
constexpr std::uint64_t most_head_values = 1 << 18;    // of all query heads together
constexpr std::uint64_t most_vocabulary = 1 << 26, most_experts = 1 << 16, most_context = std::uint64_t{1} << 31;

tensor_type read_type(const json_reader& r, const std::string& key, tensor_type otherwise)
{
    return r.has(key) ? parse_tensor_type(r.text(key), r.where() + ": \"" + key + "\"") : otherwise;
}

weight_types read_types(const json_reader& r)
{
    weight_types t;
    t.attention = parse_tensor_type(r.text("attention"), r.where() + ": \"attention\"");
    t.per_head = read_type(r, "per_head", t.attention);
    t.ffn = read_type(r, "ffn", t.attention);
    t.experts = read_type(r, "experts", t.attention);
    t.shared = read_type(r, "shared", t.attention);
    t.output = read_type(r, "output", t.attention);
    t.embedding = read_type(r, "embedding", t.output);
    r.no_other_keys();
    return t;
}

expert_shape read_experts(const json_reader& r, std::uint64_t layers)
{
    expert_shape e;
    e.experts = r.number("count", 1, most_experts);
    e.used = r.number("used", 1, e.experts);
    e.width = r.number("width", 1, most_width);
    if (r.has("shared_width")) e.shared_width = r.number("shared_width", 1, most_width);
    if (r.has("dense_layers")) e.dense_layers = r.number("dense_layers", 1, layers);
    r.no_other_keys();
    return e;
}

mla_shape read_compressed(const json_reader& r)
{
    mla_shape c;
    c.query_rank = r.number("query_rank", 1, most_width);
    c.kv_rank = r.number("kv_rank", 1, most_head);
    c.rope = r.number("rope", 1, most_head);
    c.nope = r.number("nope", 1, most_head);
    c.value = r.number("value", 1, most_head);
    r.no_other_keys();
    return c;
}

window_shape read_window(const json_reader& r, std::uint64_t layers)
{
    window_shape w;
    w.window = r.number("window", 1, most_context);
    w.period = r.number("period", 1, layers);
    if (w.period == 1) r.fail("period", "must be at least 2: with 1 every layer is global");
    r.no_other_keys();
    return w;
}

/// Heads as given, or as compressed attention makes them.
void read_head_sizes(const json_reader& r, model& m)
{
    m.heads = r.number("heads", 1, most_heads);
    if (r.has("compressed_attention")) {
        m.mla = read_compressed(r.in("compressed_attention"));
        for (const char* key : {"kv_heads", "key_head", "value_head"})
            if (r.has(key)) r.fail(key, "follows from \"compressed_attention\" and must be left out");
        m.kv_heads = 1;
        m.key_head = m.mla.kv_rank + m.mla.rope;
        m.value_head = m.mla.kv_rank;
        return;
    }
    m.kv_heads = r.number("kv_heads", 1, most_heads);
    if (m.heads % m.kv_heads != 0)
        r.fail("heads", "must be a multiple of \"kv_heads\", " + std::to_string(m.heads) + " is none of " +
                            std::to_string(m.kv_heads));
    m.key_head = r.number("key_head", 1, most_head);
    m.value_head = r.number("value_head", 1, most_head);
}

void read_heads(const json_reader& r, model& m)
{
    read_head_sizes(r, m);
    if (m.heads * std::max(m.key_head, m.value_head) > most_head_values)
        r.fail("heads", "times the values of a head must be at most " + std::to_string(most_head_values));
}

/// A matrix holds whole blocks of its type in each row.
void check_blocks(const json_reader& r, const model& m)
{
    std::vector<weight> all = weights_before_attention(m);
    for (const std::uint64_t layer : {std::uint64_t{0}, m.layers - 1})
        for (const weight w : weights_after_attention(m, layer)) all.push_back(w);
    all.push_back(weight::output);
    for (const weight w : all) {
        const weight_matrix matrix = matrix_of(m, w);
        const tensor_layout& l = layout_of(matrix.type);
        if (matrix.columns % l.values != 0)
            r.fail("weights", "do not fit: " + std::string(to_string(w)) + " has rows of " + std::to_string(matrix.columns) +
                                  " values, which is no multiple of " + std::to_string(l.values) + ", the block of " +
                                  std::string(l.name));
    }
}

std::string read_file(const std::string& path)
{
    std::ifstream in(path, std::ios::binary);
    std::string text(largest_file + 1, '\0');
    if (!in || !in.read(text.data(), static_cast<std::streamsize>(text.size())).eof())
        throw input_error("model: cannot read the file " + in_quotes(path) + " (a text file of at most 1 MiB)");
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

}  // namespace

model parse_model(std::string_view text, const std::string& origin)
{
    const auto j = parse_json(text, origin);
    const json_reader r(j, origin);
    if (r.text("schema") != "vrambench.model/1") r.fail("schema", "must be \"vrambench.model/1\"");
    model m;
    m.name = r.text("name");
    m.source = r.text("source");
    m.layers = r.number("layers", 1, most_layers);
    m.width = r.number("width", 1, most_width);
    read_heads(r, m);
    if (r.has("experts")) m.moe = read_experts(r.in("experts"), m.layers);
    if (m.moe.experts == 0 || m.moe.dense_layers != 0) m.ffn = r.number("ffn", 1, most_width);
    else if (r.has("ffn")) r.fail("ffn", "is the width of dense layers, and \"experts\" leaves none (see dense_layers)");
    m.vocabulary = r.number("vocabulary", 1, most_vocabulary);
    m.trained_context = r.number("trained_context", 1, most_context);
    if (r.has("tied_output")) m.tied_output = r.flag("tied_output");
    if (r.has("sliding_window")) m.swa = read_window(r.in("sliding_window"), m.layers);
    m.types = read_types(r.in("weights"));
    r.no_other_keys();
    check_blocks(r, m);
    return m;
}

model find_model(std::string_view name, const std::string& key)
{
    if (name.starts_with('@')) {
        const std::string path(name.substr(1));
        return parse_model(read_file(path), path);
    }
    std::vector<std::string> names;
    for (const auto& [known, text] : built_in_models()) {
        if (known == name) return parse_model(text, known + ".json");
        names.push_back(known);
    }
    throw input_error(key + ": unknown model " + in_quotes(name) + did_you_mean(name, names) + " (one of " + joined(names) +
                      ", or @FILE.json)");
}

}  // namespace vrambench::engine
