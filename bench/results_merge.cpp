#include "bench/results_merge.hpp"

#include "bench/json_text.hpp"
#include "spec/errors.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>

namespace vrambench {

namespace {

/// Differs from run to run on one machine, and decides nothing that a cell says.
bool is_incidental(const std::string& key)
{
    constexpr std::array<std::string_view, 7> keys{"timer_hz", "timer_cost_ps", "timer_step_ps", "launcher",
                                                   "rank", "ranks", "local_rank"};
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string value_of(const environment_fact& f) { return f.is_number ? std::to_string(f.number) : f.text; }

std::map<std::string, std::string> telling_facts(const std::vector<environment_fact>& facts)
{
    std::map<std::string, std::string> all;
    for (const environment_fact& f : facts)
        if (!is_incidental(f.key)) all[f.key] = value_of(f);
    return all;
}

/// Keys whose values are not the same in both.
std::vector<std::string> differing(const std::vector<environment_fact>& a, const std::vector<environment_fact>& b)
{
    const auto left = telling_facts(a), right = telling_facts(b);
    std::vector<std::string> keys;
    for (const auto& [key, value] : left)
        if (const auto twin = right.find(key); twin == right.end() || twin->second != value) keys.push_back(key);
    for (const auto& [key, value] : right)
        if (!left.contains(key)) keys.push_back(key);
    return keys;
}

/// The facts that all environments share, as written by the first.
std::vector<environment_fact> shared_facts(const std::vector<merged_environment>& all)
{
    std::vector<environment_fact> shared;
    for (const environment_fact& f : all.front().facts) {
        const auto has_it = [&](const merged_environment& e) {
            return std::any_of(e.facts.begin(), e.facts.end(),
                               [&](const auto& g) { return g.key == f.key && value_of(g) == value_of(f); });
        };
        if (std::all_of(all.begin(), all.end(), has_it)) shared.push_back(f);
    }
    return shared;
}

bool is_same(const repetition& a, const repetition& b)
{
    return a.process == b.process && a.order == b.order && a.what == b.what && a.cold.time_ps == b.cold.time_ps;
}

class merger {
public:
    merger() { merged_.run.finished = true; }

    void add(result_part part)
    {
        if (!part.run.environments.empty())
            throw input_error(in_quotes(part.path) + " is a merged file: name the files that it was made of");
        check_kind(part);
        const std::uint64_t environment = environment_for(part);
        check_new(part, environment);
        number_on(part.run, environment);
        for (cell& c : part.run.cells) add(std::move(c), environment);
        merged_.run.environments[environment].runs.push_back({std::move(part.run.command), part.run.plan_seed, part.run.finished});
        merged_.run.finished = merged_.run.finished && part.run.finished;
    }

    merged_result take()
    {
        merged_.run.environment = shared_facts(merged_.run.environments);
        return std::move(merged_);
    }

private:
    void check_kind(const result_part& part) const
    {
        if (part.run.cells.empty()) throw input_error(in_quotes(part.path) + " holds no cells");
        const auto& first = merged_.run.cells.empty() ? part.run.cells.front() : merged_.run.cells.front();
        for (const cell& c : part.run.cells)
            if (c.on.simulated != first.on.simulated)
                throw input_error(in_quotes(part.path) + ": simulated and measured results are not merged into one file");
    }

    std::uint64_t environment_for(const result_part& part)
    {
        auto& all = merged_.run.environments;
        for (std::uint64_t i = 0; i < all.size(); ++i)
            if (differing(all[i].facts, part.run.environment).empty()) return i;
        if (!all.empty())
            merged_.notes.push_back(printable(part.path) + ": another environment (" +
                                    joined(differing(all.front().facts, part.run.environment)) + "), its cells stay apart");
        else
            merged_.run.plan_seed = part.run.plan_seed;
        all.push_back({part.run.environment, {}});
        return all.size() - 1;
    }

    cell* find(const std::string& id, std::uint64_t environment)
    {
        const auto found = std::find_if(merged_.run.cells.begin(), merged_.run.cells.end(),
                                        [&](const cell& c) { return c.id == id && c.environment == environment; });
        return found == merged_.run.cells.end() ? nullptr : &*found;
    }

    /// A file that is given twice would make an interval narrower than it is.
    void check_new(const result_part& part, std::uint64_t environment)
    {
        for (const cell& c : part.run.cells) {
            const cell* known = find(c.id, environment);
            if (!known) continue;
            const auto is_known = [&](const repetition& r) {
                return std::any_of(known->repetitions.begin(), known->repetitions.end(), [&](const repetition& k) { return is_same(k, r); });
            };
            if (std::any_of(c.repetitions.begin(), c.repetitions.end(), is_known))
                throw input_error(in_quotes(part.path) + " holds repetitions that another of the files holds too (cell " +
                                  printable(c.id) + ")");
        }
    }

    void number_on(run_document& part, std::uint64_t environment) const
    {
        std::uint64_t index = 0, order = 0;
        for (const cell& c : merged_.run.cells)
            for (const repetition& r : c.repetitions) {
                order = std::max(order, r.order + 1);
                if (c.environment == environment) index = std::max(index, r.index + 1);
            }
        for (cell& c : part.cells)
            for (repetition& r : c.repetitions) r.index += index, r.order += order;
    }

    void add(cell c, std::uint64_t environment)
    {
        c.environment = environment;
        if (cell* known = find(c.id, environment)) {
            known->reference = known->reference && c.reference;
            known->stopped.clear();    // what ended one part says nothing about both
            std::move(c.repetitions.begin(), c.repetitions.end(), std::back_inserter(known->repetitions));
        } else {
            merged_.run.cells.push_back(std::move(c));
        }
    }

    merged_result merged_;
};

}  // namespace

merged_result merge_results(std::vector<result_part> parts)
{
    merger all;
    for (result_part& part : parts) all.add(std::move(part));
    return all.take();
}

}  // namespace vrambench
