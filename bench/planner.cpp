#include "bench/planner.hpp"

#include "bench/benchmark_bridge.hpp"
#include "bench/derive.hpp"
#include "bench/probe/run.hpp"
#include "bench/remote.hpp"
#include "bench/traffic_target.hpp"
#include "bench/vram_limit.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/neighbour.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace vrambench {

namespace {

/// Canonical, so that 1 and 1.0 are one cell.
std::string parse_scale(const std::string& text)
{
    const double scale = parse_number(text, "--kernel-scale", 0.0, 1e6);
    if (scale <= 0.0) throw input_error("--kernel-scale " + in_quotes(text) + " must be above 0");
    return exact_number(scale);
}

/// Makes each workload once, however many groups name it.
class workload_shelf {
public:
    workload_shelf(std::uint64_t seed, std::string target, std::uint64_t resident_bytes, std::string neighbour)
        : seed_(seed), target_(std::move(target)), resident_bytes_(resident_bytes), neighbour_(std::move(neighbour))
    {
    }

    std::shared_ptr<const planned_workload> get(const std::string& spec)
    {
        auto& slot = made_[spec];
        if (!slot) slot = plan_workload(spec, seed_, resident_bytes_, neighbour_, target_);
        return slot;
    }

private:
    std::uint64_t seed_;
    std::string target_;
    std::uint64_t resident_bytes_;
    std::string neighbour_;
    std::map<std::string, std::shared_ptr<const planned_workload>> made_;
};

/// The default set, with its models' weights and caches taken first where that was asked for.
std::vector<default_group> default_groups(const run_request& request, const device_info& info)
{
    auto groups = default_set(request.size, info);
    if (request.models_resident)
        for (auto& g : groups) g.workload = with_key(g.workload, "weights", "on");
    return groups;
}

/// Its traffic at one limit. With weights and cache in place a size stands for a card that has no more, and contexts are that card's.
std::vector<default_group> default_groups_at(const std::string& limit, const run_request& request, device_info info)
{
    if (request.models_resident && !is_relative_limit(limit))
        if (const auto size = vram_limit(limit, {})) info.total_bytes = std::min(info.total_bytes, *size);
    std::vector<default_group> limited;
    for (const auto& g : default_groups(request, info))
        if (g.vram_limit == "none") limited.push_back({g.workload, limit, g.kernels});
    return limited;
}

/// The groups that the request asks for: the default set, or every workload at every limit with every kernel model.
std::vector<default_group> wanted_groups(const run_request& request, const device_info& info)
{
    std::vector<default_group> groups;
    const auto kernels = request.kernels.empty() ? std::vector{kernel_model::hold} : request.kernels;
    const auto limits = request.vram_limits.empty() ? std::vector<std::string>{"none"} : request.vram_limits;
    if (!request.workloads.empty()) {
        for (const auto& w : request.workloads)
            for (const auto& limit : limits)
                for (const auto k : kernels) groups.push_back({w, limit, k});
        return groups;
    }
    if (request.vram_limits.empty()) groups = default_groups(request, info);
    for (const auto& limit : request.vram_limits)
        for (auto& g : default_groups_at(limit, request, info)) groups.push_back(std::move(g));
    if (!request.kernels.empty())
        std::erase_if(groups, [&](const auto& g) {
            return std::find(request.kernels.begin(), request.kernels.end(), g.kernels) == request.kernels.end();
        });
    if (groups.empty()) throw input_error("the default set has nothing for these options; name a --workload");
    return groups;
}

/// Virtual time is picoseconds in 64 bits: about 106 days.
void check_kernel_time(const planned_workload& w, const std::string& scale)
{
    const double seconds = static_cast<double>(w.summary.stated_kernel_ns) * 1e-9 * parse_number(scale, "--kernel-scale", 0.0, 1e6);
    if (seconds > 4e6)
        throw input_error("workload " + in_quotes(w.recipe->header().spec) + ": its kernels last " +
                          human_time(seconds * 1e9) + " in all, at most 4000000 s can be told");
}

/// Graph mode executes captured graphs, which a workload without them cannot have.
void check_mode(const planned_workload& w, run_mode mode)
{
    if (mode != run_mode::graph) return;
    for (const auto& [key, value] : w.recipe->header().params)
        if (key == "graphs" && value == "off")
            throw input_error("--mode graph contradicts graphs=off of " + in_quotes(w.recipe->header().spec) +
                              ": leave one of them out");
}

/// A device that answered, and what target=auto of a workload stands for on it.
struct answer {
    device_choice device;
    device_info info;
    std::string target;
};

std::string found_text(const std::string& failed) { return failed.empty() ? "works" : failed; }

/// A card is asked once: what it reaches, and what of it works, serves every process of the run.
answer answer_of(const run_request& request)
{
    device_choice on = answering_device(request.device, request.rank ? request.rank->local_rank : 0);
    if (on.simulated) return {on, open_device(on, {})->info(), simulated_target(on.name)};
    auto [info, rates] = ask_device_and_rates(on);
    if (rates) use_rates(info, *rates);
    on.rates = rates;
    const failed_features failed = probing::quick_check(on);
    info.facts["probe_pools"] = found_text(failed.pools);
    info.facts["probe_virtual_memory"] = found_text(failed.virtual_memory);
    if (!request.force) on.failed = failed;
    return {on, info, card_target(info)};
}

class plan_builder {
public:
    plan_builder(const run_request& request, run_document& document)
        : plan_builder(request, document, answer_of(request))
    {
    }
    plan_builder(const run_request& request, run_document& document, answer on)
        : request_(request), document_(document), device_(std::move(on.device)), info_(std::move(on.info)),
          target_(std::move(on.target)), resident_bytes_(resident_bytes(request.resident)),
          neighbour_(request.neighbour.empty() ? "" : to_text(parse_neighbour(request.neighbour))),
          shelf_(request.seed, target_, resident_bytes_, neighbour_)
    {
        for (const auto& a : request.allocators.empty() ? default_allocators() : request.allocators)
            allocators_.push_back(choose_allocator(a));
        for (const auto& s : request.kernel_scales) scales_.push_back(parse_scale(s));
        if (scales_.empty()) scales_.push_back("1");
        for (const auto& f : request.injections) faults_.push_back(f == "none" ? "" : to_text(parse_fault_rule(f, request.seed)));
        if (faults_.empty()) faults_.emplace_back();
    }

    const device_info& info() const { return info_; }
    const std::string& target() const { return target_; }

    void add(const default_group& group)
    {
        for (const auto& scale : scales_) {
            for (const auto& fault : faults_)
                for (const auto& a : allocators_) add(make_cell(group, scale, fault, a, false));
            if (!request_.reference) continue;
            default_group unlimited = group;
            unlimited.vram_limit = "none";
            add(make_cell(unlimited, scale, "", choose_allocator("ideal"), true));
        }
    }

private:
    cell make_cell(const default_group& group, const std::string& scale, const std::string& fault, const allocator_choice& a,
                   bool reference)
    {
        cell c;
        c.on = device_;
        c.allocator = a;
        c.workload = shelf_.get(group.workload);
        c.vram_limit_bytes = vram_limit(group.vram_limit, c.workload->summary);
        c.mode = request_.mode;
        check_kernel_time(*c.workload, scale);
        check_mode(*c.workload, request_.mode);
        c.kernels = group.kernels;
        c.kernel_scale = scale;
        c.verify = request_.verify;
        c.resident_bytes = resident_bytes_;
        c.neighbour = neighbour_;
        c.inject = fault;
        c.reference = reference;
        c.id = cell_id(c);
        return c;
    }

    /// A cell that is there already is not run twice; one that the user asked for counts as asked for.
    void add(cell c)
    {
        for (auto& known : document_.cells)
            if (known.id == c.id) {
                known.reference = known.reference && c.reference;
                return;
            }
        document_.cells.push_back(std::move(c));
    }

    const run_request& request_;
    run_document& document_;
    device_choice device_;
    device_info info_;
    std::string target_;
    std::uint64_t resident_bytes_;
    std::string neighbour_;                  ///< as cell::neighbour
    workload_shelf shelf_;
    std::vector<allocator_choice> allocators_;
    std::vector<std::string> scales_;
    std::vector<std::string> faults_;        ///< as cell::inject
};

/// Opens the simulated device once with each limit, so that a limit above its capacity is told before anything is
/// measured; on a card that is an outcome, since what is free there changes.
void check_limits(const run_document& document)
{
    if (!document.cells.front().on.simulated) return;
    std::vector<std::optional<std::uint64_t>> seen;
    for (const auto& c : document.cells) {
        if (std::find(seen.begin(), seen.end(), c.vram_limit_bytes) != seen.end()) continue;
        seen.push_back(c.vram_limit_bytes);
        open_device(c.on, {c.vram_limit_bytes, integrity_check::off});
    }
}

/// Leaves the cells that match, and the references that those have. `ideal` is that too where it was asked for and does not
/// match.
void apply_filter(run_document& document, const std::string& pattern, bool with_references)
{
    const name_filter filter(pattern);
    const auto matches = [&](const cell& c) { return !c.reference && filter.matches(benchmark_name(c)); };
    std::vector<std::string> references;
    for (const cell& c : document.cells)
        if (const cell* r = with_references && matches(c) ? reference_of(document, c) : nullptr) references.push_back(r->id);
    std::vector<cell> left;
    for (const cell& c : document.cells) {
        const bool chosen = matches(c);
        if (!chosen && std::find(references.begin(), references.end(), c.id) == references.end()) continue;
        left.push_back(c);
        left.back().reference = !chosen;
    }
    if (left.empty()) throw input_error("--benchmark_filter " + in_quotes(pattern) + " matches no cell");
    document.cells = std::move(left);
}

/// What is compared with each other ran on one card: comparisons go round among the ranks, each with its reference.
void keep_share(run_document& document, const launcher_rank& mine)
{
    std::vector<const cell*> firsts, needed;    // of each comparison; references of what is kept
    std::vector<const cell*> kept;
    for (const cell& c : document.cells) {
        if (c.reference) continue;
        auto found = std::find_if(firsts.begin(), firsts.end(), [&](const cell* first) { return are_compared(*first, c); });
        if (found == firsts.end()) found = firsts.insert(found, &c);
        if (static_cast<std::uint64_t>(found - firsts.begin()) % mine.ranks != mine.rank) continue;
        kept.push_back(&c);
        needed.push_back(reference_of(document, c));
    }
    const auto is_in = [](const std::vector<const cell*>& cells, const cell& c) {
        return std::find(cells.begin(), cells.end(), &c) != cells.end();
    };
    std::vector<cell> share;
    for (const cell& c : document.cells) {
        if (!is_in(kept, c) && !is_in(needed, c)) continue;
        share.push_back(c);
        share.back().reference = !is_in(kept, c);    // an `ideal` that was asked for is another rank's to answer for
    }
    document.cells = std::move(share);
}

std::uint64_t default_repetitions(const run_request& request, bool simulated)
{
    if (simulated) return 1;    // all are the same
    return request.stop ? 100 : 9;
}

std::uint64_t splitmix64(std::uint64_t& state)
{
    std::uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

}  // namespace

std::uint64_t resident_bytes(const std::string& typed)
{
    if (typed.empty()) return 0;
    const std::uint64_t bytes = parse_size(typed, "--resident");
    if (bytes == 0) throw input_error("--resident: 0 bytes are no memory (leave it out)");
    return bytes;
}

run_plan make_plan(const run_request& request)
{
    run_plan plan;
    plan.document.plan_seed = request.seed;
    plan_builder builder(request, plan.document);
    plan.device = builder.info();
    plan.target = builder.target();
    for (const auto& group : wanted_groups(request, builder.info())) builder.add(group);
    if (!request.filter.empty()) apply_filter(plan.document, request.filter, request.reference);
    check_limits(plan.document);
    plan.repetitions = request.repetitions.value_or(default_repetitions(request, plan.device.simulated));
    plan.stop = request.stop;
    plan.budget_ms = request.budget_ms;
    if (!plan.budget_ms && request.workloads.empty())    // the default set ends in time
        plan.budget_ms = plan.device.simulated ? 120'000 : 300'000;
    if (request.rank) keep_share(plan.document, *request.rank);
    return plan;
}

std::vector<scheduled> schedule(std::size_t cells, std::uint64_t rounds, std::uint64_t seed, bool watched)
{
    std::vector<std::pair<role, std::uint64_t>> all;
    for (std::uint64_t r = 0; r < rounds; ++r) {
        all.emplace_back(role::timed, r);
        if (r == 0 && watched) all.insert(all.end(), {{role::memory, 0}, {role::verify, 0}});
    }
    std::vector<scheduled> order;
    std::uint64_t state = seed;
    for (const auto& [what, round] : all) {
        std::vector<std::size_t> shuffled(cells);
        std::iota(shuffled.begin(), shuffled.end(), std::size_t{0});
        for (std::size_t i = cells; i > 1; --i) std::swap(shuffled[i - 1], shuffled[splitmix64(state) % i]);
        for (const auto c : shuffled) order.push_back({c, round, what});
    }
    return order;
}

}  // namespace vrambench
