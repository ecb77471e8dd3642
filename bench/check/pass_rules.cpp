#include "bench/check/pass_rules.hpp"

#include "bench/failure_cause.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace vrambench::checking {

namespace {

constexpr const char* its_trace = "its trace";

std::uint64_t sum(const std::vector<std::uint64_t>& values) { return std::accumulate(values.begin(), values.end(), std::uint64_t{0}); }

bool failed_beside_the_allocator(const judged_pass& p)
{
    if (const trace_position* at = p.end()) return !at->at_end && at->next.kind == event_kind::external_alloc;
    return p.pass.result.cause == "external";
}

void check_phases(const judged_pass& p, const trace_position& end, expectations& e)
{
    const auto& names = p.known->workload().recipe->header().phases;
    std::size_t k = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (end.phases[i].steps == 0) continue;
        const std::string what = "phase " + in_quotes(names[i]);
        e.holds(k < p.pass.phases.size() && p.pass.phases[k].name == names[i], what + " is not where its trace has it");
        if (e.broken()) return;
        e.same(what + "'s steps", p.pass.phases[k].steps, end.phases[i].steps, its_trace);
        e.same(what + "'s tokens", p.pass.phases[k].tokens, end.phases[i].tokens, its_trace);
        ++k;
    }
    e.holds(k == p.pass.phases.size(), "it has phases that its trace does not have");
}

void check_sums(const judged_pass& p, expectations& e)
{
    std::uint64_t steps = 0, tokens = 0;
    for (const phase_measurement& f : p.pass.phases) steps += f.steps, tokens += f.tokens;
    const trace_summary& s = p.of.workload->summary;
    e.same("the steps of its phases", steps, s.steps, "its workload");
    e.same("the tokens of its phases", tokens, s.tokens, "its workload");
}

void check_place(const outcome& o, const trace_position& at, const trace_header& header, expectations& e)
{
    const bool takes_memory = !at.at_end && (at.next.kind == event_kind::alloc || at.next.kind == event_kind::external_alloc);
    e.holds(takes_memory, "its outcome's event takes no memory in its trace");
    if (!takes_memory) return;
    e.same("outcome/step", o.step, at.steps, its_trace);
    e.same("outcome/phase", o.phase, at.steps == 0 ? "" : header.phases[at.phase], its_trace);
    e.same("outcome/tag", o.tag, at.next.tag < header.tags.size() ? header.tags[at.next.tag] : "", its_trace);
    e.same("outcome/wanted_bytes", o.wanted_bytes, at.next.bytes, its_trace);
    e.same("outcome/live_bytes", o.live_bytes, at.live_bytes, its_trace);
}

/// `live` is the one word that needs no look into the allocator.
void check_cause(const judged_pass& p, bool beside, const trace_position* at, expectations& e)
{
    constexpr std::array causes{"live", "retained", "fragmented", "pending", "address-space"};
    const std::string& cause = p.pass.result.cause;
    if (cause == "injected") return e.holds(!p.of.inject.empty(), "outcome/cause is 'injected', and nothing was");
    if (beside) return e.same("outcome/cause", cause, "external", "the event");
    e.holds(std::find(causes.begin(), causes.end(), cause) != causes.end(), "outcome/cause is no cause");
    if (!at || cause == "address-space" || !p.of.neighbour.empty()) return;
    const bool nobody = at->live_bytes + at->external_bytes + p.pass.result.wanted_bytes > p.pass.free_bytes_at_start;
    e.holds(nobody == (cause == "live"), "outcome/cause is " + in_quotes(cause) + ", but live and wanted bytes are " +
                                             (nobody ? "above" : "not above") + " what was free at the start");
}

}  // namespace

std::string retry_of(const cell& c)
{
    for (const auto& [key, value] : c.allocator.settings.values())
        if (key == "retry") return value;
    return "none";
}

void check_counts(const judged_pass& p, expectations& e)
{
    if (const trace_position* end = p.end()) check_phases(p, *end, e);
    else if (p.completed()) check_sums(p, e);
    const auto idle = std::find_if(p.pass.phases.begin(), p.pass.phases.end(), [](const auto& f) { return f.name == "idle"; });
    e.same("the number of idle_reserved_bytes", p.pass.idle_reserved_bytes.size(), idle == p.pass.phases.end() ? 0 : idle->steps,
           "its phases");
    const bool refused = p.pass.result.what == status::oom && !failed_beside_the_allocator(p);
    if (p.known || p.pass.result.cause != "injected")    // without its trace it may be either
        e.same("oom/failures", p.pass.failures, refused ? 1 : 0, "its outcome");
    e.same("hazard_count", p.pass.hazard_count, 0, "its outcome");
}

void check_outcome(const judged_pass& p, expectations& e)
{
    const outcome& o = p.pass.result;
    if (!p.completed()) e.same("outcome/event", o.event, p.pass.events, "the events that it executed");
    if (!p.ran_out_of_memory()) return;
    const trace_position* at = p.end();
    const bool beside = failed_beside_the_allocator(p);
    if (at) check_place(o, *at, p.known->workload().recipe->header(), e);
    check_cause(p, beside, at, e);
    e.same("outcome/reserved_bytes", o.reserved_bytes, p.pass.end_reserved_bytes, "end_reserved_bytes");
    e.at_least("outcome/reserved_bytes", o.reserved_bytes, o.live_bytes + o.cached_bytes, "its live and cached bytes");
    if (!p.pass.cached_blocks.empty()) e.same("outcome/cached_bytes", o.cached_bytes, sum(p.pass.cached_blocks), "the cached blocks");
    e.same("outcome/message", o.message, beside ? external_failure_in_words(o) : failure_in_words(o), "the outcome's figures");
}

void check_bytes(const judged_pass& p, expectations& e)
{
    const pass_measurement& m = p.pass;
    if (const trace_position* end = p.end()) e.same("peak_live_bytes", m.peak_live_bytes, end->peak_live_bytes, its_trace);
    e.at_least("peak_reserved_bytes", m.peak_reserved_bytes, m.end_reserved_bytes, "end_reserved_bytes");
    e.at_least("end_reserved_bytes", m.end_reserved_bytes, sum(m.cached_blocks), "the cached blocks");
    for (const std::uint64_t floor : m.idle_reserved_bytes)
        e.at_least("peak_reserved_bytes", m.peak_reserved_bytes, floor, "idle_reserved_bytes");
    if (p.completed() && p.known && p.known->workload().summary.end_live_blocks == 0 && !m.cached_blocks.empty())
        e.same("end_reserved_bytes", m.end_reserved_bytes, sum(m.cached_blocks), "the cached blocks");
    if (p.of.allocator.name == "direct")
        e.same("peak_reserved_bytes", m.peak_reserved_bytes, m.peak_live_bytes, "an allocator that keeps nothing");
    if (p.of.vram_limit_bytes) e.at_least("free_bytes_at_start", m.free_bytes_at_start, *p.of.vram_limit_bytes, "the limit");
    if (!p.of.on.simulated && p.in.what != role::memory) e.same("peak_device_bytes", m.peak_device_bytes, 0, "the role");
    if (m.evictions == 0) e.same("oom/evicted_bytes", m.evicted_bytes, 0, "oom/evictions");
    else e.at_least("oom/evicted_bytes", m.evicted_bytes, 1, "oom/evictions");
}

std::optional<std::string> broken_rule(const judged_pass& p)
{
    if (!p.is_told()) return std::nullopt;
    expectations e;
    for (const auto rule : {check_counts, check_outcome, check_bytes, check_calls, check_times, check_recoveries}) {
        rule(p, e);
        if (e.broken()) return e.broken();
    }
    return std::nullopt;
}

}  // namespace vrambench::checking
