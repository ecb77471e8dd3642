#include "workloads/registry.hpp"

#include "spec/errors.hpp"
#include "workloads/kv_pair.hpp"
#include "workloads/random.hpp"
#include "workloads/trace_file.hpp"

#include <functional>
#include <stdexcept>
#include <string>

namespace vrambench {
namespace {

struct workload {
    const entry* what;
    std::function<std::unique_ptr<trace>(const config&, const std::string& positional, std::uint64_t default_seed)> make;
};

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
        {&kv_pair_entry(), [](const config& c, const std::string&, std::uint64_t) { return make_kv_pair(c); }},
        {&random_entry(), [](const config& c, const std::string&, std::uint64_t seed) { return make_random(c, seed); }},
        {&trace_file_entry(), [](const config&, const std::string& path, std::uint64_t) { return open_named_file(path); }},
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

std::unique_ptr<trace> make_trace(std::string_view spec_text, std::uint64_t default_seed)
{
    const spec s = parse_workload(spec_text);
    const entry& e = find_entry(workload_entries(), s.name, "workload");
    const config c = resolve(e, s);
    for (const auto& w : workloads())
        if (w.what == &e) return w.make(c, s.positional, default_seed);
    throw std::logic_error("a workload without a maker");
}

}  // namespace vrambench
