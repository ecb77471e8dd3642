#include "workloads/trace_json.hpp"

#include "spec/errors.hpp"
#include "workloads/event_fields.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <map>
#include <type_traits>
#include <utility>

namespace vrambench {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint32_t default_alignment = 128;   // of the format: files must not change their meaning with our defaults
constexpr std::size_t longest_line = std::size_t{4} << 20;   // a kernel with 2 x 65535 operands fits

std::string json_text(const std::string& text)
{
    return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

const char* id_key(event_kind kind)
{
    switch (kind) {
    case event_kind::record:
    case event_kind::wait: return "event";
    case event_kind::external_alloc:
    case event_kind::external_free: return "external";
    case event_kind::graph_begin:
    case event_kind::graph_end:
    case event_kind::graph_launch: return "graph";
    default: return "block";
    }
}

const char* tag_key(event_kind kind) { return kind == event_kind::step ? "label" : "tag"; }

// ---- writing: by hand, since building a document for each event would cost ten times as much ----

class line_writer {
public:
    explicit line_writer(const trace_header& header)
    {
        for (const auto& t : header.tags) tags_.push_back(json_text(t));
        for (const auto& p : header.phases) phases_.push_back(json_text(p));
    }

    void append(std::string& out, const event& e, const event_batch& batch)
    {
        const unsigned fields = fields_of(e.kind);
        out += "{\"op\":\"";
        out += to_string(e.kind);
        out += '"';
        if (fields & field_id) number(out, id_key(e.kind), e.id);
        if (e.kind == event_kind::step) text(out, tag_key(e.kind), tags_.at(e.tag));
        if (fields & field_phase) text(out, "phase", phases_.at(e.phase));
        if (fields & field_tokens && e.tokens != 0) number(out, "tokens", e.tokens);
        if (fields & field_operands) {
            list(out, "reads", batch.reads(e));
            list(out, "writes", batch.writes(e));
        }
        if (fields & field_nanoseconds && e.nanoseconds >= 0) number(out, "ns", static_cast<std::uint64_t>(e.nanoseconds));
        if (fields & field_flops && e.flops != 0) number(out, "flops", e.flops);
        if (fields & field_bytes && (e.bytes != 0 || e.kind != event_kind::kernel)) number(out, "bytes", e.bytes);
        if (fields & field_alignment && e.alignment != default_alignment) number(out, "align", e.alignment);
        if (fields & field_stream && e.stream != 0) number(out, "stream", e.stream);
        if (fields & field_tag && e.kind != event_kind::step) text(out, tag_key(e.kind), tags_.at(e.tag));
        out += "}\n";
    }

private:
    static void key(std::string& out, const char* name)
    {
        out += ",\"";
        out += name;
        out += "\":";
    }
    static void number(std::string& out, const char* name, std::uint64_t value)
    {
        key(out, name);
        out += std::to_string(value);
    }
    static void text(std::string& out, const char* name, const std::string& quoted_value)
    {
        key(out, name);
        out += quoted_value;
    }
    static void list(std::string& out, const char* name, std::span<const std::uint32_t> ids)
    {
        if (ids.empty()) return;
        key(out, name);
        char separator = '[';
        for (const std::uint32_t id : ids) {
            out += separator;
            out += std::to_string(id);
            separator = ',';
        }
        out += ']';
    }

    std::vector<std::string> tags_, phases_;   // as JSON strings
};

// ---- reading ----

json parse_object(std::string_view text, const std::string& where)
{
    json document = json::parse(text, nullptr, false);
    if (document.is_discarded()) throw input_error(where + ": not valid JSON");
    if (!document.is_object()) throw input_error(where + ": not a JSON object");
    return document;
}

std::uint64_t unsigned_value(const json& value, const std::string& key, std::uint64_t most, const std::string& where)
{
    if (!value.is_number_unsigned()) throw input_error(where + ": " + in_quotes(key) + " is not a whole number from 0");
    const auto n = value.get<std::uint64_t>();
    if (n > most) throw input_error(where + ": " + in_quotes(key) + " is too large (at most " + std::to_string(most) + ")");
    return n;
}

std::string text_value(const json& value, const std::string& key, const std::string& where)
{
    if (!value.is_string()) throw input_error(where + ": " + in_quotes(key) + " is not a text");
    return value.get<std::string>();
}

const json& member(const json& object, const char* key, const std::string& where)
{
    const auto found = object.find(key);
    if (found == object.end()) throw input_error(where + ": " + in_quotes(key) + " is missing");
    return *found;
}

/// A list of names, each once: events refer to them by name.
std::vector<std::string> names(const json& object, const char* key, std::size_t most, const std::string& where)
{
    const json& list = member(object, key, where);
    if (!list.is_array() || list.size() > most)
        throw input_error(where + ": " + in_quotes(key) + " is not a list of at most " + std::to_string(most) + " names");
    std::vector<std::string> out;
    for (const auto& name : list) out.push_back(text_value(name, key, where));
    auto sorted = out;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) throw input_error(where + ": " + in_quotes(key) + " holds " + in_quotes(*twice) + " twice");
    return out;
}

template <class T>
T narrow(const json& value, const std::string& key, const std::string& where)
{
    return static_cast<T>(unsigned_value(value, key, std::numeric_limits<T>::max(), where));
}

class json_source final : public trace_source {
public:
    json_source(input_file in, const trace_header& header) : in_(std::move(in))
    {
        for (std::size_t i = 0; i < header.tags.size(); ++i) tags_[header.tags[i]] = static_cast<std::uint16_t>(i);
        for (std::size_t i = 0; i < header.phases.size(); ++i) phases_[header.phases[i]] = static_cast<std::uint8_t>(i);
        for (int k = 0; k < event_kinds; ++k) kinds_[to_string(static_cast<event_kind>(k))] = static_cast<event_kind>(k);
    }

    bool fill(event_batch& batch) override
    {
        batch.clear();
        batch.events.reserve(batch_events);
        while (!ended_ && batch.events.size() < batch_events) {
            ++line_number_;
            if (!in_.read_line(line_, longest_line)) throw input_error(in_.shown_path() + ": cut off: it has no end line");
            if (line_.find_first_not_of(" \t\r") != std::string::npos) parse(batch);
        }
        return !batch.events.empty();
    }

private:
    void parse(event_batch& batch)
    {
        const std::string where = in_.shown_path() + ":" + std::to_string(line_number_);
        json object = json::parse(line_, nullptr, false);
        if (object.is_discarded() && !in_.last_line_was_ended()) throw input_error(where + ": cut off inside this line");
        if (object.is_discarded()) throw input_error(where + ": not valid JSON");
        if (!object.is_object()) throw input_error(where + ": not a JSON object");
        const std::string op = text_value(member(object, "op", where), "op", where);
        object.erase("op");
        if (op == "end") {
            end(object, where);
            return;
        }
        const auto kind = kinds_.find(op);
        if (kind == kinds_.end()) throw input_error(where + ": unknown op " + in_quotes(op));
        batch.events.push_back(parse_event(kind->second, object, batch, where));
        ++events_;
    }

    event parse_event(event_kind kind, const json& object, event_batch& batch, const std::string& where) const
    {
        event e{.kind = kind};
        if (kind == event_kind::alloc) e.alignment = default_alignment;
        if (kind == event_kind::kernel) operands(e, object, batch, where);
        for (const auto& [key, value] : object.items()) field(e, key, value, where);
        const unsigned fields = fields_of(kind);
        if (fields & field_id) member(object, id_key(kind), where);   // throws where it is missing
        if (fields & field_tag) member(object, tag_key(kind), where);
        if (fields & field_phase) member(object, "phase", where);
        if (fields & field_bytes && kind != event_kind::kernel) member(object, "bytes", where);
        return e;
    }

    /// Sets the field that the key names.
    void field(event& e, const std::string& key, const json& value, const std::string& where) const
    {
        const auto set = [&](auto& member_of_e) {
            member_of_e = narrow<std::remove_reference_t<decltype(member_of_e)>>(value, key, where);
        };
        const unsigned fields = fields_of(e.kind);
        if (fields & field_id && key == id_key(e.kind)) return set(e.id);
        if (fields & field_stream && key == "stream") return set(e.stream);
        if (fields & field_bytes && key == "bytes") return set(e.bytes);
        if (fields & field_alignment && key == "align") return set(e.alignment);
        if (fields & field_nanoseconds && key == "ns") return set(e.nanoseconds);
        if (fields & field_flops && key == "flops") return set(e.flops);
        if (fields & field_tokens && key == "tokens") return set(e.tokens);
        if (fields & field_tag && key == tag_key(e.kind)) {
            e.tag = look_up(tags_, value, key, where);
        } else if (fields & field_phase && key == "phase") {
            e.phase = look_up(phases_, value, key, where);
        } else if (!(fields & field_operands && (key == "reads" || key == "writes"))) {   // those: operands()
            throw input_error(where + ": unknown key " + in_quotes(key) + " of " + to_string(e.kind));
        }
    }

    void operands(event& e, const json& object, event_batch& batch, const std::string& where) const
    {
        e.first_operand = static_cast<std::uint32_t>(batch.operands.size());
        e.n_reads = list(object, "reads", batch.operands, where);
        e.n_writes = list(object, "writes", batch.operands, where);
    }

    static std::uint16_t list(const json& object, const char* key, std::vector<std::uint32_t>& ids,
                              const std::string& where)
    {
        const auto found = object.find(key);
        if (found == object.end()) return 0;
        if (!found->is_array() || found->size() > 65535)
            throw input_error(where + ": " + in_quotes(key) + " is not a list of at most 65535 blocks");
        for (const auto& id : *found) ids.push_back(narrow<std::uint32_t>(id, key, where));
        return static_cast<std::uint16_t>(found->size());
    }

    template <class T>
    static T look_up(const std::map<std::string, T>& table, const json& value, const std::string& key,
                     const std::string& where)
    {
        const std::string name = text_value(value, key, where);
        const auto found = table.find(name);
        if (found == table.end())
            throw input_error(where + ": the header does not list the " + key + " " + in_quotes(name));
        return found->second;
    }

    void end(const json& object, const std::string& where)
    {
        const std::uint64_t stated = narrow<std::uint64_t>(member(object, "events", where), "events", where);
        if (stated != events_)
            throw input_error(where + ": " + std::to_string(events_) + " events, but the end line says " +
                              std::to_string(stated));
        std::string rest;
        while (in_.read_line(rest, longest_line))
            if (rest.find_first_not_of(" \t\r") != std::string::npos)
                throw input_error(where + ": text behind the end line");
        ended_ = true;
    }

    input_file in_;
    std::map<std::string, std::uint16_t> tags_;
    std::map<std::string, std::uint8_t> phases_;
    std::map<std::string, event_kind> kinds_;
    std::string line_;
    std::uint64_t line_number_ = 1;   // the header's
    std::uint64_t events_ = 0;
    bool ended_ = false;
};

}  // namespace

std::string header_to_json(const trace_header& header)
{
    ordered_json params = ordered_json::object();
    for (const auto& p : header.params) params[p.first] = p.second;
    ordered_json document;
    document["vrambench_trace"] = trace_version;
    document["name"] = header.name;
    document["spec"] = header.spec;
    document["params"] = params;
    document["seed"] = header.seed;
    document["streams"] = header.streams;
    document["tags"] = header.tags;
    document["phases"] = header.phases;
    return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

trace_header header_from_json(std::string_view text, const std::string& where)
{
    const json document = parse_object(text, where);
    if (!document.contains("vrambench_trace"))
        throw input_error(where + ": not a trace of vrambench ('vrambench_trace' is missing)");
    const std::uint64_t version = narrow<std::uint64_t>(document["vrambench_trace"], "vrambench_trace", where);
    if (version != trace_version)
        throw input_error(where + ": trace version " + std::to_string(version) + ", but this program reads version " +
                          std::to_string(trace_version));
    trace_header h;
    h.name = text_value(member(document, "name", where), "name", where);
    h.spec = text_value(member(document, "spec", where), "spec", where);
    h.seed = narrow<std::uint64_t>(member(document, "seed", where), "seed", where);
    h.streams = static_cast<std::uint32_t>(unsigned_value(member(document, "streams", where), "streams", 64, where));
    if (h.streams == 0) throw input_error(where + ": a trace has at least one stream");
    h.tags = names(document, "tags", 65536, where);
    h.phases = names(document, "phases", 256, where);
    // The order of params is part of the spec, and `json` sorts.
    const auto ordered = ordered_json::parse(text);
    if (!member(document, "params", where).is_object()) throw input_error(where + ": 'params' is not an object");
    for (const auto& [key, value] : ordered["params"].items()) h.params.emplace_back(key, text_value(value, key, where));
    return h;
}

void write_json_lines(const trace& t, output_file& out)
{
    out.write(header_to_json(t.header()) + "\n");
    line_writer writer(t.header());
    const auto source = t.open();
    event_batch batch;
    std::string lines;
    std::uint64_t events = 0;
    while (source->fill(batch)) {
        lines.clear();
        for (const event& e : batch.events) writer.append(lines, e, batch);
        out.write(lines);
        events += batch.events.size();
    }
    out.write("{\"op\":\"end\",\"events\":" + std::to_string(events) + "}\n");
}

trace_header read_json_header(input_file& in)
{
    std::string line;
    in.read_line(line, longest_header);
    return header_from_json(line, in.shown_path() + ":1");
}

std::unique_ptr<trace_source> read_json_events(input_file in, const trace_header& header)
{
    return std::make_unique<json_source>(std::move(in), header);
}

}  // namespace vrambench
