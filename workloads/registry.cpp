#include "workloads/registry.hpp"

#include "spec/errors.hpp"
#include "workloads/fattn.hpp"
#include "workloads/kv_pair.hpp"
#include "workloads/random.hpp"
#include "workloads/server.hpp"
#include "workloads/speculative.hpp"
#include "workloads/trace_file.hpp"
#include "workloads/turns.hpp"

#include <functional>
#include <stdexcept>
#include <string>

namespace vrambench {
namespace {

/// What a maker may use beside the resolved keys.
struct surroundings {
    std::string positional;
    std::uint64_t default_seed;
    std::string target;
};

struct workload {
    const entry* what;
    std::function<std::unique_ptr<trace>(const config&, const surroundings&)> make;
};

workload engine_workload(const entry& e)
{
    return {&e, [&e](const config& c, const surroundings& s) { return make_fattn(e, c, s.target); }};
}

std::unique_ptr<trace> open_named_file(const std::string& path)
{
    if (path.empty()) throw input_error("file: a path must be given: file:PATH");
    return open_trace_file(path);
}

/// What follows `file:` is the path, whatever it holds.
spec parse_workload(std::string_view text)
{
    const std::string& file = trace_file_entry().name;
    if (!text.starts_with(file + ":")) return parse_spec(text);
    spec s;
    s.name = file;
    s.positional = text.substr(file.size() + 1);
    return s;
}

const std::vector<workload>& workloads()
{
    static const std::vector<workload> all{
        engine_workload(fattn_prefill_entry()),
        engine_workload(fattn_decode_entry()),
        engine_workload(fattn_session_entry()),
        {&server_entry(), [](const config& c, const surroundings& s) { return make_server(c, s.default_seed, s.target); }},
        {&turns_entry(), [](const config& c, const surroundings& s) { return make_turns(c, s.default_seed, s.target); }},
        {&speculative_entry(),
         [](const config& c, const surroundings& s) { return make_speculative(c, s.default_seed, s.target); }},
        {&kv_pair_entry(), [](const config& c, const surroundings&) { return make_kv_pair(c); }},
        {&random_entry(), [](const config& c, const surroundings& s) { return make_random(c, s.default_seed); }},
        {&trace_file_entry(), [](const config&, const surroundings& s) { return open_named_file(s.positional); }},
    };
    return all;
}

}  // namespace

const std::vector<const entry*>& workload_entries()
{
    static const std::vector<const entry*> entries = [] {
        std::vector<const entry*> out;
        for (const auto& w : workloads()) out.push_back(w.what);
        return out;
    }();
    return entries;
}

std::unique_ptr<trace> make_trace(std::string_view spec_text, std::uint64_t default_seed, const std::string& target)
{
    const spec s = parse_workload(spec_text);
    const entry& e = find_entry(workload_entries(), s.name, "workload");
    const config c = resolve(e, s);
    for (const auto& w : workloads())
        if (w.what == &e) return w.make(c, {s.positional, default_seed, target});
    throw std::logic_error("a workload without a maker");
}

}  // namespace vrambench
