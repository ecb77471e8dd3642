#include "bench/decide/comparison_rows.hpp"

#include "bench/decide/effect_size.hpp"
#include "bench/json_text.hpp"
#include "bench/table.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace vrambench {

namespace {

std::string shown(const std::string& s) { return printable(json_text(s).get<std::string>()); }

std::string printf_text(const char* format, double value)
{
    char text[400];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

/// A value of the metric, for people.
std::string value_words(const std::string& name, double value)
{
    const std::string_view unit = metric(name).unit;
    const std::string sign = value < 0 ? "-" : "";
    if (unit == "bytes") return sign + human_size(static_cast<std::uint64_t>(std::abs(value)));
    if (unit == "ratio") return printf_text("%.3f", value);
    if (unit == "share") return printf_text("%.4f", value);
    return short_number(value);
}

std::string with_sign(const std::string& name, double value)
{
    const std::string words = value_words(name, value);
    return value > 0 && words.front() != '<' ? "+" + words : words;
}

std::string phase_words(const metric_verdict& v)
{
    std::string words = v.metric == "added_ns_per_token" ? (v.phase == "step" ? "added ns/step" : "added ns/token") : v.metric;
    if (!v.phase.empty() && v.phase != "step") words += ", " + v.phase;
    return shown(words) + (v.steady ? ", steady" : ", cold");
}

std::string size_words(const metric_verdict& v)
{
    if (v.exact) return "=";
    if (v.paired) return std::to_string(v.base.processes) + "r";
    return std::to_string(v.base.processes) + "+" + std::to_string(v.other.processes);
}

std::string verdict_words(const metric_verdict& v)
{
    if (v.what != verdict::not_enough_evidence) return to_string(v.what);
    std::string why = v.note;
    if (v.processes_wanted && *v.processes_wanted < 1e4)
        why += (why.empty() ? "about " : "; about ") + printf_text("%.0f", *v.processes_wanted) + " would do";
    return to_string(v.what) + (why.empty() ? "" : " (" + why + ")");
}

comparison_row row_of(const metric_verdict& v)
{
    comparison_row r;
    r.what = phase_words(v);
    const auto words = [&](double x) { return value_words(v.metric, x); };
    r.values.fill("-");
    if (v.base.processes) r.values[0] = words(v.base.mean);
    if (v.other.processes) r.values[1] = words(v.other.mean);
    if (v.difference) r.values[2] = *v.difference == 0 ? "0" : with_sign(v.metric, *v.difference);
    if (v.ci95 && !v.exact) r.values[3] = with_sign(v.metric, v.ci95->low) + " .. " + with_sign(v.metric, v.ci95->high);
    if (v.ratio) r.values[4] = *v.ratio < 9.9995 ? printf_text("%.3f", *v.ratio) : short_number(*v.ratio);
    if (v.base.processes) r.values[5] = words(v.margin);
    if (v.resolution) r.values[6] = words(*v.resolution);
    if (v.base.processes) r.values[7] = size_words(v);
    r.verdict = verdict_words(v);
    r.bad = v.what == verdict::worse;
    return r;
}

comparison_row row_of(const outcome_verdict& v)
{
    comparison_row r;
    r.what = std::string("outcome, ") + (v.steady ? "steady" : "cold");
    r.verdict = std::string(to_string(v.what)) + ": " + shown(v.base) + (v.base == v.other ? " in both" : " -> " + shown(v.other));
    r.bad = v.what == verdict::worse;
    return r;
}

std::string facts_of(const comparison& c, const pair_verdict& p)
{
    const cell& of = *p.cells.base;
    std::string facts = (of.on.simulated ? "simulated " : of.on.kind + " ") + of.on.name;
    facts += of.vram_limit_bytes ? ", limit " + exact_size(*of.vram_limit_bytes) : ", no limit";
    facts += std::string(", kernels ") + to_string(of.kernels);
    if (of.kernel_scale != "1") facts += " x" + of.kernel_scale;
    if (of.resident_bytes) facts += ", resident " + exact_size(of.resident_bytes);
    if (!of.neighbour.empty()) facts += ", neighbour " + of.neighbour;
    if (!of.inject.empty()) facts += ", inject " + of.inject;
    if (of.mode != run_mode::eager) facts += std::string(", mode ") + to_string(of.mode);
    return shown(facts + (c.of_allocators ? "; base: " + p.base_name : "; base: " + p.base_name + ", other: " + p.other_name));
}

/// Whether a described metric changed visibly: by 1 % or more, and not by chance (a large effect, or exactly).
bool is_visible(const metric_verdict& v)
{
    if (v.decides || !v.difference || std::abs(*v.difference) < 0.01 * std::abs(v.base.mean) || *v.difference == 0) return false;
    return v.exact || (v.effect && std::abs(*v.effect) >= 0.474);
}

std::string described_words(const metric_verdict& v)
{
    const std::string words = phase_words(v) + " " + value_words(v.metric, v.base.mean) + " -> " + value_words(v.metric, v.other.mean);
    return v.effect ? words + " (" + effect_words(*v.effect) + ")" : words;
}

comparison_block block_of(const pair_verdict& p)
{
    comparison_block b{shown(p.cells.other->allocator.title), {}, {}};
    for (const outcome_verdict& o : p.outcomes) b.rows.push_back(row_of(o));
    for (const metric_verdict& m : p.metrics) {
        if (m.decides) b.rows.push_back(row_of(m));
        else if (is_visible(m)) b.described.push_back(described_words(m));
    }
    if (b.rows.empty()) b.rows.push_back({"outcome, cold", {}, "same: completed in both; nothing else to judge by", false});
    return b;
}

}  // namespace

std::vector<comparison_group> comparison_groups(const comparison& c, bool changes)
{
    std::vector<comparison_group> groups;
    for (const pair_verdict& p : c.pairs) {
        if (changes && p.overall() == verdict::same) continue;
        const std::string workload = shown(p.cells.base->workload->recipe->header().spec), facts = facts_of(c, p);
        if (groups.empty() || groups.back().workload != workload || groups.back().facts != facts)
            groups.push_back({workload, facts, {}});
        groups.back().blocks.push_back(block_of(p));
    }
    return groups;
}

std::string counts_words(const verdict_counts& n)
{
    const std::size_t all = n.same + n.better + n.worse + n.not_enough_evidence + n.outcome_changes;
    std::string words = std::to_string(all) + (all == 1 ? " verdict: " : " verdicts: ");
    std::string parts;
    const auto add = [&](std::size_t count, const char* what) {
        if (count) parts += (parts.empty() ? "" : ", ") + std::to_string(count) + " " + what;
    };
    add(n.worse, "worse");
    add(n.better, "better");
    add(n.same, "same");
    add(n.not_enough_evidence, "not enough evidence");
    add(n.outcome_changes, "outcome change");
    return words + (parts.empty() ? "none" : parts);
}

std::string family_words(const comparison& c)
{
    if (c.judged_together < 2) return {};
    return "; " + std::to_string(c.judged_together) + " differences were judged together, so that of those found about 5 % at most are false";
}

}  // namespace vrambench
