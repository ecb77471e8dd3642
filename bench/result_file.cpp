#include "bench/result_file.hpp"

#include "bench/atomic_file.hpp"
#include "bench/derive.hpp"
#include "bench/document_parts.hpp"
#include "bench/json_errors.hpp"
#include "bench/json_nesting.hpp"
#include "bench/json_numbers.hpp"
#include "bench/json_text.hpp"
#include "bench/metrics_json.hpp"
#include "bench/repetition_json.hpp"
#include "bench/trimmed_json.hpp"
#include "spec/errors.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <set>
#include <utility>

namespace vrambench {

using nlohmann::json;

namespace {

/// A trace of which only the file's description is left.
class described_trace : public trace {
public:
    explicit described_trace(trace_header header) : header_(std::move(header)) {}
    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override
    {
        throw std::logic_error("a trace that was read from a result file has no events: make it again from its spec");
    }

private:
    trace_header header_;
};

json pairs_json(const std::vector<std::pair<std::string, std::string>>& pairs)
{
    json j = json::object();
    for (const auto& [key, value] : pairs) j[json_text(key).get<std::string>()] = json_text(value);
    return j;
}

json environment_json(const std::vector<environment_fact>& facts)
{
    json j = json::object();
    for (const environment_fact& f : facts)
        j[json_text(f.key).get<std::string>()] = f.is_number ? json(f.number) : json_text(f.text);
    return j;
}

json command_json(const std::vector<std::string>& words)
{
    json command = json::array();
    for (const std::string& word : words) command.push_back(json_text(word));
    return command;
}

json environments_json(const std::vector<merged_environment>& all)
{
    json j = json::array();
    for (const merged_environment& e : all) {
        json runs = json::array();
        for (const auto& r : e.runs)
            runs.push_back({{"command", command_json(r.command)}, {"seed", r.plan_seed}, {"finished", r.finished}});
        j.push_back({{"facts", environment_json(e.facts)}, {"runs", std::move(runs)}});
    }
    return j;
}

std::vector<std::pair<std::string, std::string>> pairs_from(const json& j)
{
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const auto& [key, value] : j.items()) pairs.emplace_back(key, value.get<std::string>());
    return pairs;
}

device_choice device_from(const json& j)
{
    device_choice d;
    j.at("kind").get_to(d.kind);
    j.at("name").get_to(d.name);
    j.at("spec").get_to(d.spec);
    j.at("simulated").get_to(d.simulated);
    d.times_known = j.value("times_known", true);
    d.confidence = j.value("confidence", "");
    return d;
}

allocator_choice allocator_from(const json& j)
{
    allocator_choice a;
    j.at("name").get_to(a.name);
    j.at("title").get_to(a.title);
    j.at("spec").get_to(a.spec);
    for (auto& [key, value] : pairs_from(j.at("config"))) a.settings.set(key, value);
    return a;
}

std::shared_ptr<const planned_workload> workload_from(const json& j)
{
    trace_header h;
    j.at("name").get_to(h.name);
    j.at("spec").get_to(h.spec);
    h.params = pairs_from(j.at("params"));
    read(j, "seed", h.seed);
    read(j, "streams", h.streams);
    auto w = std::make_shared<planned_workload>();
    trace_summary& s = w->summary;
    s.streams = h.streams;
    read(j, "events", s.events);
    read(j, "alloc_calls", s.alloc_calls);
    read(j, "free_calls", s.free_calls);
    read(j, "launches", s.launches);
    read(j, "steps", s.steps);
    read(j, "tokens", s.tokens);
    read(j, "max_live_bytes", s.max_live_bytes);
    read(j, "max_live_blocks", s.max_live_blocks);
    read(j, "max_block_bytes", s.max_block_bytes);
    read(j, "max_external_bytes", s.max_external_bytes);
    j.at("lifo").get_to(s.lifo);
    w->recipe = std::make_shared<described_trace>(std::move(h));
    return w;
}

cell cell_from(const json& j)
{
    cell c;
    j.at("id").get_to(c.id);
    c.on = device_from(j.at("device"));
    c.allocator = allocator_from(j.at("allocator"));
    c.workload = workload_from(j.at("workload"));
    if (const json& limit = j.at("vram_limit_bytes"); !limit.is_null()) c.vram_limit_bytes = count_from(limit, "vram_limit_bytes");
    c.mode = from_word<run_mode>(j.at("mode").get<std::string>(), 2, "mode");
    c.kernels = from_word<kernel_model>(j.at("kernels").get<std::string>(), 2, "kind of kernels");
    j.at("kernel_scale").get_to(c.kernel_scale);
    c.verify = from_word<verify_level>(j.at("verify").get<std::string>(), 3, "level of verification");
    if (const auto found = j.find("resident_bytes"); found != j.end()) c.resident_bytes = count_from(*found, "resident_bytes");
    c.neighbour = j.value("neighbour", "");
    c.inject = j.value("inject", "");
    if (const auto found = j.find("environment"); found != j.end()) c.environment = count_from(*found, "environment");
    c.stopped = j.value("stopped", "");
    j.at("reference").get_to(c.reference);
    c.repetitions = repetitions_from(j.at("repetitions"));
    return c;
}

std::vector<merged_environment> environments_from(const json& j)
{
    std::vector<merged_environment> all;
    for (const json& e : j) {
        merged_environment& m = all.emplace_back();
        m.facts = environment_from(e.at("facts"));
        for (const json& r : e.at("runs")) {
            auto& run = m.runs.emplace_back();
            r.at("command").get_to(run.command);
            read(r, "seed", run.plan_seed);
            r.at("finished").get_to(run.finished);
        }
    }
    return all;
}

/// A cell of a merged document says which of its environments it was measured in, others have none.
void check_environments(const run_document& run)
{
    for (const cell& c : run.cells)
        if (c.environment ? *c.environment >= run.environments.size() : !run.environments.empty())
            throw input_error("cell " + in_quotes(c.id) + " names an environment that is not there");
}

std::string cell_text(const cell& c, const cell* reference)
{
    std::string text;
    print_json(text, cell_json(c, reference), 3, 2);
    return text;
}

/// The document around cells that are text already. `cells` are pieces to be joined by commas.
template <typename Texts>
std::string document_text(const run_document& run, const Texts& texts)
{
    std::string head;
    print_json(head, head_json(run, "run"), 2, 0);
    std::size_t size = head.size() + 64;
    for (std::size_t i = 0; i < run.cells.size(); ++i) size += texts(i).size() + 4;
    std::string out;
    out.reserve(size);
    out.append(head, 0, head.size() - 2);   // without "\n}"
    out += ",\n \"cells\": [";
    for (std::size_t i = 0; i < run.cells.size(); ++i) {
        out += i == 0 ? "\n  " : ",\n  ";
        out += texts(i);
    }
    out += "\n ]\n}\n";
    return out;
}

std::uint64_t disturbed(const cell& c)
{
    return static_cast<std::uint64_t>(
        std::count_if(c.repetitions.begin(), c.repetitions.end(), [](const repetition& r) { return r.disturbed.has_value(); }));
}

std::string read_text(const std::string& path)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw input_error("cannot read " + in_quotes(path) + ": it is a folder");
    std::ifstream file(path, std::ios::binary);
    if (!file) throw input_error("cannot read " + in_quotes(path) + ": no such file, or not readable");
    std::error_code no_size;    // of a pipe
    const auto size = std::filesystem::file_size(path, no_size);
    std::string text(no_size ? 0 : size, ' ');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (file) {
        std::ostringstream rest;
        if (file.peek() != std::ifstream::traits_type::eof()) rest << file.rdbuf();
        text += std::move(rest).str();
    }
    if (file.bad()) throw input_error("cannot read " + in_quotes(path) + ": reading failed");
    return text;
}

std::string without_version(const std::string& schema) { return schema.substr(0, schema.rfind('/') + 1); }

void check_schema(const json& j, const std::string& path, const std::vector<std::string>& schemas)
{
    const std::string schema = text_at(j, "schema");
    const auto known = std::find_if(schemas.begin(), schemas.end(),
                                    [&](const std::string& s) { return schema.rfind(without_version(s), 0) == 0; });
    if (known == schemas.end()) throw input_error(in_quotes(path) + " is not a vrambench result file");
    if (schema != *known)
        throw input_error(in_quotes(path) + " has version " + in_quotes(schema) + ", this program reads " + in_quotes(*known));
}

/// Of a cell (depth 3) what is derived again anyway, of a repetition (depth 5) the bins.
constexpr std::array not_needed{trimmed_member{"metrics", 3}, trimmed_member{"steady", 3}, trimmed_member{"reached", 3},
                                trimmed_member{"cached_blocks_bytes", 3}, trimmed_member{"histograms", 5}};

/// Several times what any file of ours has.
constexpr int deepest = 64;

/// None where something is wrong with it, which the whole text tells better.
std::optional<json> parse_without_histograms(const std::string& text)
{
    const std::string trimmed = without_members(text, not_needed);
    if (is_nested_deeper(trimmed, deepest)) return std::nullopt;
    json j = json::parse(trimmed, nullptr, false);
    return j.is_discarded() ? std::nullopt : std::optional(std::move(j));
}

}  // namespace

json parse_result(const std::string& path, result_parts parts)
{
    const std::string text = read_text(path);
    if (text.find_first_not_of(" \t\r\n") == std::string::npos) throw input_error(in_quotes(path) + " is empty");
    if (parts == result_parts::without_histograms)
        if (auto j = parse_without_histograms(text)) return std::move(*j);
    if (is_nested_deeper(text, deepest))
        throw input_error(in_quotes(path) + " is no result file: nested deeper than " + std::to_string(deepest) + " levels");
    try {
        return json::parse(text);
    } catch (const json::parse_error& e) {
        throw input_error(in_quotes(path) + " is not valid JSON at byte " + std::to_string(e.byte) + " of " +
                          std::to_string(text.size()) + ": cut off, or not a result file");
    } catch (const json::exception& e) {
        throw input_error(in_quotes(path) + " is no result file: " + in_our_words(e));
    }
}

const std::vector<environment_fact>& environment_of(const run_document& run, const cell& c)
{
    return c.environment ? run.environments.at(*c.environment).facts : run.environment;
}

json device_json(const device_choice& d)
{
    json j = {{"kind", d.kind}, {"name", json_text(d.name)}, {"spec", json_text(d.spec)}, {"simulated", gives_simulated_results(d)}};
    if (!d.times_known) j["times_known"] = false;
    if (!d.confidence.empty()) j["confidence"] = d.confidence;
    return j;
}

json allocator_json(const allocator_choice& a)
{
    return {{"name", json_text(a.name)},
            {"title", json_text(a.title)},
            {"spec", json_text(a.spec)},
            {"config", pairs_json(a.settings.values())}};
}

json workload_json(const planned_workload& w)
{
    const trace_header& h = w.recipe->header();
    const trace_summary& s = w.summary;
    return {{"name", json_text(h.name)},
            {"spec", json_text(h.spec)},
            {"params", pairs_json(h.params)},
            {"seed", h.seed},
            {"streams", h.streams},
            {"events", s.events},
            {"alloc_calls", s.alloc_calls},
            {"free_calls", s.free_calls},
            {"launches", s.launches},
            {"steps", s.steps},
            {"tokens", s.tokens},
            {"max_live_bytes", s.max_live_bytes},
            {"max_live_blocks", s.max_live_blocks},
            {"max_block_bytes", s.max_block_bytes},
            {"max_external_bytes", s.max_external_bytes},
            {"lifo", s.lifo}};
}

json cell_json(const cell& c, const cell* reference)
{
    const cell_metrics derived = derive(c, reference);
    json j = pass_metrics_json(derived.cold);
    j["steady"] = derived.steady ? pass_metrics_json(*derived.steady) : json(nullptr);
    j["id"] = c.id;
    j["device"] = device_json(c.on);
    j["allocator"] = allocator_json(c.allocator);
    j["workload"] = workload_json(*c.workload);
    j["vram_limit_bytes"] = c.vram_limit_bytes ? json(*c.vram_limit_bytes) : json(nullptr);
    j["mode"] = to_string(c.mode);
    j["kernels"] = to_string(c.kernels);
    j["kernel_scale"] = json_text(c.kernel_scale);
    j["verify"] = to_string(c.verify);
    if (c.resident_bytes) j["resident_bytes"] = c.resident_bytes;
    if (!c.neighbour.empty()) j["neighbour"] = c.neighbour;
    if (!c.inject.empty()) j["inject"] = c.inject;
    if (!c.stopped.empty()) j["stopped"] = c.stopped;
    if (c.environment) j["environment"] = *c.environment;
    j["reference"] = c.reference;
    json& repetitions = j["repetitions"] = json::array();
    for (const repetition& r : c.repetitions)
        for (json& entry : repetition_json(r)) repetitions.push_back(std::move(entry));
    return j;
}

json head_json(const run_document& run, const char* kind)
{
    json head{{"schema", result_schema},
              {"kind", kind},
              {"finished", run.finished},
              {"seed", run.plan_seed},
              {"command", command_json(run.command)},
              {"environment", environment_json(run.environment)}};
    if (!run.environments.empty()) head["environments"] = environments_json(run.environments);
    return head;
}

std::vector<environment_fact> environment_from(const json& j)
{
    std::vector<environment_fact> facts;
    for (const auto& [key, value] : j.items()) {
        environment_fact f;
        f.key = key;
        f.is_number = value.is_number();
        if (f.is_number) f.number = count_from(value, key);
        else value.get_to(f.text);
        facts.push_back(std::move(f));
    }
    return facts;
}

void print_json(std::string& out, const json& j, int depth, int indent)
{
    const bool spread = depth > 0 && !j.empty() && (j.is_object() || (j.is_array() && j.front().is_object()));
    if (!spread) {
        out += j.dump(-1, ' ', false, json::error_handler_t::replace);
        return;
    }
    const std::string margin(static_cast<std::size_t>(indent + 1), ' ');
    out += j.is_object() ? "{\n" : "[\n";
    for (auto item = j.begin(); item != j.end(); ++item) {
        if (item != j.begin()) out += ",\n";
        out += margin;
        if (j.is_object()) out += json(item.key()).dump() + ": ";
        print_json(out, *item, depth - 1, indent + 1);
    }
    out += "\n" + margin.substr(1) + (j.is_object() ? "}" : "]");
}

json to_json(const run_document& run)
{
    json j = head_json(run, "run");
    json& cells = j["cells"] = json::array();
    for (const cell& c : run.cells) cells.push_back(cell_json(c, reference_of(run, c)));
    return j;
}

run_document run_from_json(const json& j)
{
    run_document run;
    read_at("the document", [&] {
        j.at("finished").get_to(run.finished);
        read(j, "seed", run.plan_seed);
        j.at("command").get_to(run.command);
        j.at("cells");
    });
    read_at("environment", [&] {
        run.environment = environment_from(j.at("environment"));
        if (const auto found = j.find("environments"); found != j.end()) run.environments = environments_from(*found);
    });
    const json& cells = j.at("cells");
    for (std::size_t i = 0; i < cells.size(); ++i)
        read_at("cells/" + std::to_string(i), [&] { run.cells.push_back(cell_from(cells.at(i))); });
    check_environments(run);
    std::set<std::pair<std::string, std::uint64_t>> ids;
    for (const cell& c : run.cells)
        if (!ids.emplace(c.id, c.environment.value_or(0)).second) throw input_error("cell " + printable(c.id) + " is there twice");
    return run;
}

json read_document(const std::string& path, result_parts parts, const std::vector<std::string>& schemas)
{
    json j = parse_result(path, parts);
    check_schema(j, path, schemas);
    return j;
}

run_document run_in(const json& document, const std::string& path)
{
    if (const std::string kind = text_at(document, "kind"); kind != "run")
        throw input_error(in_quotes(path) + " holds a " + in_quotes(kind) + ", not a run");
    return read_at(in_quotes(path) + " is damaged", [&] { return run_from_json(document); });
}

run_document read_result(const std::string& path, result_parts parts) { return run_in(read_document(path, parts), path); }

result_writer::result_writer(std::string path) : path_(std::move(path)) {}

result_writer::state result_writer::state_of(const cell& c, const cell* reference)
{
    state s{c.id, c.stopped, c.repetitions.size(), disturbed(c), 0, 0};
    if (reference) {
        s.reference_repetitions = reference->repetitions.size();
        s.reference_disturbed = disturbed(*reference);
    }
    return s;
}

void result_writer::write(const run_document& run)
{
    kept_.resize(run.cells.size());
    for (std::size_t i = 0; i < run.cells.size(); ++i) {
        const cell* reference = reference_of(run, run.cells[i]);
        const state now = state_of(run.cells[i], reference);
        if (kept_[i].text.empty() || kept_[i].of != now) kept_[i] = {now, cell_text(run.cells[i], reference)};
    }
    replace_file(path_, document_text(run, [&](std::size_t i) -> const std::string& { return kept_[i].text; }));
}

void write_result(const run_document& run, const std::string& path) { result_writer(path).write(run); }

std::string result_text(const run_document& run)
{
    std::vector<std::string> texts;
    for (const cell& c : run.cells) texts.push_back(cell_text(c, reference_of(run, c)));
    return document_text(run, [&](std::size_t i) -> const std::string& { return texts[i]; });
}

}  // namespace vrambench
