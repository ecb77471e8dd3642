#include "bench/probe/needs.hpp"

#include <algorithm>

namespace vrambench::probing {

namespace {

bool begins(const std::string& id, const std::string& prefix)
{
    // "failure.malloc" is not "failure.malloc_async".
    return id.starts_with(prefix) && (id.size() == prefix.size() || id[prefix.size()] != '_' || prefix.ends_with('.'));
}

std::string setting(const settings& all, std::string_view key)
{
    for (const auto& [k, v] : all)
        if (k == key) return v;
    return {};
}

/// Findings that end in .0, .size or .max are about that threshold; a size in between meets what is said of both.
bool is_about_another_threshold(const std::string& id, const std::string& threshold)
{
    if (threshold.empty()) return false;
    const bool none = threshold == "0", max = threshold == "max";
    return (id.ends_with(".0") && max) || (id.ends_with(".max") && none) || (id.ends_with(".size") && (none || max));
}

/// What is wrong with handles of the stated granularity is no matter to larger ones.
bool is_about_another_handle(const std::string& id, const std::string& handle)
{
    return !handle.empty() && handle != "granularity" && (id == "vmm.granularity" || id == "granularity.vmm");
}

bool concerns(const std::string& id, const needed& n, const settings& of)
{
    return std::any_of(n.prefixes.begin(), n.prefixes.end(), [&](const std::string& p) { return begins(id, p); }) &&
           !is_about_another_threshold(id, setting(of, "threshold")) && !is_about_another_handle(id, setting(of, "handle"));
}

/// Adds one finding; returns whether it says that what `n` needs is there.
bool add(judgement& j, const summed_finding& f, const needed& n)
{
    const bool first = n.first && begins(f.best.id, n.first);
    const answer& a = f.best.found;
    if (a.how == level::broken || (first && a.verdict == not_supported)) j.bad.push_back(&f);
    else if (a.how == level::costly) j.costly.push_back(&f);
    else if (a.how == level::open) j.not_asked.push_back(f.best.id);
    if (a.how == level::open) return false;
    ++j.answered;
    return first || !n.first;
}

}  // namespace

const std::vector<needed>& needs()
{
    static const std::vector<needed> all = {
        {{"direct", "legacy"},
         "plain allocations",
         nullptr,
         nullptr,
         {"wait.malloc.", "wait.free.", "release.free", "failure.malloc", "integrity.malloc"}},
        {{"async"},
         "stream-ordered pools",
         "memory pools",
         "pools.",
         {"pools.", "wait.malloc_async", "wait.free_async", "release.threshold", "release.trim", "release.pool",
          "failure.malloc_async", "integrity.pool", "integrity.copy", "reuse."}},
        {{"vmm"},
         "virtual memory",
         "virtual memory",
         "vmm.",
         {"vmm.", "wait.create", "wait.map", "wait.set_access", "wait.unmap", "wait.release", "release.vmm", "failure.create",
          "integrity.vmm", "granularity.vmm", "granularity.addresses"}},
    };
    return all;
}

const needed* need_of(std::string_view allocator)
{
    const std::string_view name = allocator == "legacy-retry" ? "legacy" : allocator;
    for (const needed& n : needs())
        if (std::find(n.allocators.begin(), n.allocators.end(), name) != n.allocators.end()) return &n;
    return nullptr;
}

const char* to_string(usability u)
{
    switch (u) {
    case usability::unknown: return "unknown";
    case usability::usable: return "usable";
    case usability::unusable: return "unusable";
    }
    return "?";
}

judgement judge(const std::vector<probe_summary>& probes, const needed& n, const settings& of)
{
    judgement j;
    bool there = false;
    std::vector<std::string> missing = n.prefixes;
    for (const probe_summary& p : probes)
        for (const summed_finding& f : p.findings) {
            std::erase_if(missing, [&](const std::string& prefix) { return begins(f.best.id, prefix); });
            if (concerns(f.best.id, n, of)) there = add(j, f, n) || there;
        }
    for (const std::string& prefix : missing)
        j.not_asked.push_back(prefix.ends_with('.') ? prefix.substr(0, prefix.size() - 1) : prefix);
    j.is = !j.bad.empty() ? usability::unusable : there ? usability::usable : usability::unknown;
    return j;
}

}  // namespace vrambench::probing
