#include "bench/decide/samples.hpp"

#include <algorithm>
#include <string_view>

namespace vrambench {

namespace {

/// Time per token of the phases of one kind, of all where it is empty; per step where there are no tokens.
double token_ns(const pass_measurement& p, std::string_view kind)
{
    std::int64_t time_ps = 0, untold_ps = 0;
    std::uint64_t tokens = 0, steps = 0;
    for (const phase_measurement& f : p.phases) {
        if (!kind.empty() && kind_of(f.name) != kind) continue;
        (f.tokens > 0 ? time_ps : untold_ps) += f.time_ps;
        tokens += f.tokens;
        steps += f.steps;
    }
    if (tokens > 0) return static_cast<double>(time_ps) / 1000 / static_cast<double>(tokens);
    return steps > 0 ? static_cast<double>(untold_ps) / 1000 / static_cast<double>(steps) : 0;
}

void add(pass_samples& to, const char* metric, const std::string& phase, std::uint64_t round, double value, double scale = 0)
{
    auto found = std::find_if(to.all.begin(), to.all.end(), [&](const series& s) { return s.metric == metric && s.phase == phase; });
    if (found == to.all.end()) found = to.all.insert(to.all.end(), {metric, phase, {}, scale});
    found->samples.push_back({round, value});
}

void add(pass_samples& to, const char* metric, const std::string& phase, std::uint64_t round, const std::optional<estimate>& e, double scale = 0)
{
    if (e) add(to, metric, phase, round, as_double(e->median), scale);
}

/// Per kind of phase; a pass with tokens of one kind only is that kind, and has no `kinds`.
void add_times(pass_samples& to, const pass_numbers& n, const pass_measurement& p, std::uint64_t round)
{
    if (!n.per_token) {
        add(to, "added_ns_per_token", "step", round, n.added_ns, token_ns(p, {}));
    } else if (!n.kinds.empty()) {
        for (const kind_metrics& k : n.kinds) add(to, "added_ns_per_token", k.name, round, k.added_ns, token_ns(p, k.name));
    } else {
        const auto with_tokens = std::find_if(p.phases.begin(), p.phases.end(), [](const auto& f) { return f.tokens > 0; });
        if (with_tokens != p.phases.end())
            add(to, "added_ns_per_token", std::string(kind_of(with_tokens->name)), round, n.added_ns, token_ns(p, {}));
    }
    add(to, "slowdown", {}, round, n.slowdown);
    add(to, "pp_tokens_per_s", {}, round, n.pp_tokens_per_s);
    add(to, "tg_tokens_per_s", {}, round, n.tg_tokens_per_s);
    add(to, "device_idle_ns", {}, round, n.device_idle_ns);
    add(to, "stall_ns", {}, round, n.stall_ns);
    add(to, "host_bound", {}, round, n.host_bound);
}

void add_bytes(pass_samples& to, const pass_numbers& n, std::uint64_t round)
{
    add(to, "peak_reserved_bytes", {}, round, n.peak_reserved_bytes);
    add(to, "end_reserved_bytes", {}, round, n.end_reserved_bytes);
    add(to, "byte_seconds_ratio", {}, round, n.byte_seconds_ratio);
    add(to, "driver_calls", {}, round, memory_calls(n.calls));
}

const pass_measurement* pass_of(const repetition& r, bool steady)
{
    if (!steady) return &r.cold;
    return r.steady ? &*r.steady : nullptr;
}

bool counts(const repetition& r, role what, bool steady)
{
    const pass_measurement* p = pass_of(r, steady);
    return !r.disturbed && r.what == what && p && p->result.what == status::completed;
}

/// derive() of one repetition, once. It is copied, which is cheap where the file was read without its histograms.
class one_by_one {
public:
    one_by_one(const cell& c, const cell* reference) : cell_(c), reference_(reference), known_(c.repetitions.size())
    {
        alone_.on = c.on;
        alone_.workload = c.workload;
    }

    template <typename Use>
    void derive_each(bool steady, Use use)
    {
        for (std::size_t i = 0; i < known_.size(); ++i) {
            const repetition& r = cell_.repetitions[i];
            if (!counts(r, role::timed, steady)) continue;
            if (!known_[i]) known_[i] = derived({r});
            if (const auto& numbers = (steady ? *known_[i]->steady : known_[i]->cold).numbers) use(r, *numbers, *pass_of(r, steady));
        }
    }

    /// Each memory repetition beside the first timed one, without which a cell has no numbers.
    template <typename Use>
    void derive_memory(bool steady, Use use)
    {
        const auto timed = std::find_if(cell_.repetitions.begin(), cell_.repetitions.end(),
                                        [&](const repetition& r) { return counts(r, role::timed, steady); });
        if (timed == cell_.repetitions.end()) return;
        for (const repetition& r : cell_.repetitions) {
            if (!counts(r, role::memory, steady)) continue;
            const cell_metrics m = derived({*timed, r});
            if (const auto& numbers = (steady ? *m.steady : m.cold).numbers) use(r, *numbers);
        }
    }

private:
    cell_metrics derived(std::vector<repetition> repetitions)
    {
        alone_.repetitions = std::move(repetitions);
        return derive(alone_, reference_);
    }

    const cell& cell_;
    const cell* reference_;
    std::vector<std::optional<cell_metrics>> known_;
    cell alone_;
};

void add_bloat(pass_samples& to, one_by_one& each, bool steady)
{
    each.derive_memory(steady, [&](const repetition& r, const pass_numbers& n) { add(to, "device_bloat", {}, r.index, n.device_bloat); });
    if (to.find("device_bloat", {})) return;
    // A device that knows its own peak needs no memory repetitions.
    each.derive_each(steady, [&](const repetition& r, const pass_numbers& n, const pass_measurement&) {
        add(to, "device_bloat", {}, r.index, n.device_bloat);
    });
}

pass_samples samples_of_pass(const pass_metrics& whole, one_by_one& each, bool steady)
{
    pass_samples s;
    s.attempted = whole.attempted;
    s.completed = whole.completed;
    s.result = whole.result;
    if (!whole.numbers) return s;
    each.derive_each(steady, [&](const repetition& r, const pass_numbers& n, const pass_measurement& p) {
        add_times(s, n, p, r.index);
        add_bytes(s, n, r.index);
    });
    add_bloat(s, each, steady);
    return s;
}

}  // namespace

const series* pass_samples::find(const std::string& metric, const std::string& phase) const
{
    const auto found = std::find_if(all.begin(), all.end(), [&](const series& s) { return s.metric == metric && s.phase == phase; });
    return found == all.end() ? nullptr : &*found;
}

cell_samples samples_of(const cell& c, const cell* reference)
{
    const cell_metrics whole = derive(c, reference);
    one_by_one each(c, reference);
    cell_samples s;
    s.cold = samples_of_pass(whole.cold, each, false);
    if (whole.steady) s.steady = samples_of_pass(*whole.steady, each, true);
    return s;
}

}  // namespace vrambench
