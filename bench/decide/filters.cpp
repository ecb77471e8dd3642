#include "bench/decide/filters.hpp"

#include "bench/decide/words.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <algorithm>

namespace vrambench::decide {

namespace {

/// One candidate under examination.
struct suspect {
    const platform& where;
    const std::vector<std::size_t>& situations;
    std::size_t allocator;

    const evidence& in(std::size_t situation_index) const
    {
        return where.situations[situation_index].by_allocator[allocator];
    }
};

using verdict = std::optional<rejected>;

rejected because(const suspect& s, std::string reason, const evidence& e)
{
    return {s.allocator, printable(reason), e.cells};
}

verdict broken(const suspect& s)
{
    for (std::size_t i = 0; i < s.where.situations.size(); ++i) {
        const evidence& e = s.in(i);
        if (e.failure && severity(e.failure->what) >= severity(status::timeout)) return because(s, in_words(*e.failure), e);
        if (e.hazards != 0) return because(s, counted(e.hazards, "hazard", "hazards") + ": memory was used without an order", e);
    }
    return std::nullopt;
}

verdict fails_its_probe(const suspect& s)
{
    const std::optional<defect> d = defect_of(s.where, s.where.allocators[s.allocator]);
    if (!d) return std::nullopt;
    return rejected{s.allocator, printable(in_words(s.where, *d)), {}, d};
}

verdict hardly_measured(const suspect& s)
{
    std::size_t measured = 0;
    for (const std::size_t i : s.situations) measured += s.in(i).measured();
    if (2 * measured >= s.situations.size()) return std::nullopt;
    return rejected{s.allocator,
                    "measured in " + std::to_string(measured) + " of " + counted(s.situations.size(), "situation", "situations"),
                    {}};
}

verdict unsupported(const suspect& s)
{
    for (const std::size_t i : s.situations)
        if (const evidence& e = s.in(i); e.failure && e.failure->what == status::unsupported)
            return because(s, in_words(*e.failure), e);
    return std::nullopt;
}

bool somebody_completed(const suspect& s, std::size_t situation_index)
{
    const auto& all = s.where.situations[situation_index].by_allocator;
    return std::any_of(all.begin(), all.end(), [](const evidence& e) { return e.completed() && e.hazards == 0; });
}

std::string limit_in_words(const situation& s)
{
    return s.limit_bytes ? " with " + exact_size(*s.limit_bytes) : std::string();
}

verdict does_not_complete(const suspect& s)
{
    for (const std::size_t i : s.situations)
        if (const evidence& e = s.in(i); e.failure && somebody_completed(s, i))
            return because(s,
                           in_words(*e.failure) + limit_in_words(s.where.situations[i]) +
                               ", where another completed (--require completes)",
                           e);
    return std::nullopt;
}

verdict unsafe(const suspect& s)
{
    for (const std::size_t i : s.situations)
        if (const evidence& e = s.in(i); e.completed() && !e.verified)
            return because(s, "not checked in full (--require safe): run it with --verify full", e);
    return std::nullopt;
}

/// Whether it is known to do with `limit`: a run with no more memory completed, or one took no more.
bool fits(const suspect& s, const std::string& workload, std::uint64_t limit)
{
    return std::any_of(s.situations.begin(), s.situations.end(), [&](std::size_t i) {
        const situation& where = s.where.situations[i];
        if (where.workload != workload || !s.in(i).completed()) return false;
        return where.limit_bytes.value_or(UINT64_MAX) <= limit || (s.in(i).peak_bytes != 0 && s.in(i).peak_bytes <= limit);
    });
}

verdict too_large(const suspect& s, std::uint64_t limit)
{
    for (const std::size_t i : s.situations) {
        const situation& where = s.where.situations[i];
        const evidence& e = s.in(i);
        if (!e.measured() || fits(s, where.workload, limit)) continue;
        const std::string took = e.peak_bytes ? "takes " + human_size(e.peak_bytes) : "does not complete";
        return because(s,
                       took + limit_in_words(where) + ", and no run with " + exact_size(limit) +
                           " or less completed (--require limit=" + exact_size(limit) + ")",
                       e);
    }
    return std::nullopt;
}

verdict judge(const suspect& s, const requirements& r)
{
    verdict v = broken(s);
    if (!v) v = fails_its_probe(s);
    if (!v) v = hardly_measured(s);
    if (!v) v = unsupported(s);
    if (!v && r.completes) v = does_not_complete(s);
    if (!v && r.safe) v = unsafe(s);
    if (!v && r.limit_bytes) v = too_large(s, *r.limit_bytes);
    return v;
}

std::uint64_t required_limit(const std::string& typed)
{
    const std::uint64_t bytes = parse_size(typed, "--require limit");
    if (bytes == 0) throw input_error("--require limit: nothing fits into 0 bytes (leave it out for no limit)");
    return bytes;
}

/// ", did you mean 'limit=8GiB'?" for "limt=8GiB"; empty where nothing is near.
std::string meant_by(const std::string& word)
{
    const std::size_t mark = word.find_first_of("=:");
    const std::string name = nearest(word.substr(0, mark), {"completes", "safe", "limit"});
    if (name.empty()) return "";
    const std::string value = name != "limit" ? "" : mark == std::string::npos ? "=SIZE" : "=" + word.substr(mark + 1);
    return ", did you mean " + in_quotes(name + value) + "?";
}

}  // namespace

requirements parse_requirements(const std::vector<std::string>& words)
{
    requirements r;
    for (const std::string& w : words) {
        if (w == "completes") r.completes = true;
        else if (w == "safe") r.safe = true;
        else if (!w.starts_with("limit="))
            throw input_error("--require " + in_quotes(w) + ": one of completes, safe, limit=SIZE" + meant_by(w));
        else if (r.limit_bytes)
            throw input_error("--require " + in_quotes(w) + ": one limit can be required, " + exact_size(*r.limit_bytes) + " was given before");
        else r.limit_bytes = required_limit(w.substr(6));
    }
    return r;
}

selection select(const platform& p, const std::vector<std::size_t>& situations, const requirements& r)
{
    selection s;
    for (std::size_t a = 0; a < p.allocators.size(); ++a) {
        if (verdict v = judge({p, situations, a}, r)) s.out.push_back(std::move(*v));
        else s.candidates.push_back(a);
    }
    return s;
}

}  // namespace vrambench::decide
