#include "bench/document_parts.hpp"
#include "bench/fit/document.hpp"
#include "bench/json_text.hpp"
#include "bench/repetition_json.hpp"

namespace vrambench::fit {

namespace {

using json = nlohmann::json;

json or_null(const std::optional<std::uint64_t>& v) { return v ? json(*v) : json(nullptr); }

void add_answer(json& j, const fitted& f)
{
    const result& r = *f.found;
    if (!f.vary) {
        j["smallest_passing_limit_bytes"] = or_null(r.best);
        const bool known = r.best && r.max_live_bytes;
        j["over_max_live"] = known ? json(static_cast<double>(*r.best) / static_cast<double>(r.max_live_bytes)) : json(nullptr);
        return;
    }
    j["vary"] = {{"key", f.vary->key}, {"from", f.vary->from}, {"to", f.vary->to}, {"step", f.vary->step}};
    j["largest_passing_value"] = or_null(r.best);
    j["max_live_bytes_there"] = r.max_live_bytes;
}

json cell_json(const fitted& f)
{
    const result& r = *f.found;
    json islands = json::array();
    for (const auto& i : r.islands) islands.push_back(json::array({i.from, i.to}));
    json j{{"device", device_json(f.what.on)},
           {"allocator", allocator_json(f.what.allocator)},
           {"workload", workload_json(*f.what.workload)},
           {"mode", to_string(f.what.mode)},
           {"resident_bytes", f.what.resident_bytes},
           {"vram_limit_bytes", or_null(f.what.vram_limit_bytes)},
           {"resolution", r.resolution},
           {"monotonic", r.monotonic},
           {"islands", std::move(islands)},
           {"beyond", r.beyond ? outcome_json(*r.beyond) : json(nullptr)},
           {"tried", r.tried}};
    add_answer(j, f);
    return j;
}

}  // namespace

std::string file_text(const document& d)
{
    json j = head_json(d.head, "fit");
    json& cells = j["cells"] = json::array();
    for (const auto& f : d.cells)
        if (f.found) cells.push_back(cell_json(f));
    std::string text;
    print_json(text, j, 3, 0);
    return text + "\n";
}

}  // namespace vrambench::fit
