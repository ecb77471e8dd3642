#include "results.hpp"

#include "samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace vrambench::testing {

namespace {

constexpr std::int64_t reference_ps = 1'000'000'000;

cell cell_of(const run_document& run, const std::shared_ptr<planned_workload>& work, const std::string& allocator,
             std::optional<std::uint64_t> limit)
{
    cell c = sample_cell(work, allocator.substr(0, allocator.find(':')), allocator, allocator, limit);
    const bool simulated = run.command.back() == "simulated";
    c.on = simulated ? device_choice{"sim", "h200", "sim:h200", true, {}}
                     : device_choice{"cuda", "NVIDIA H200", "cuda:0", false, {}};
    c.id = allocator + "/" + work->recipe->header().spec + (limit ? "/" + std::to_string(*limit) : "");
    return c;
}

repetition process(std::uint64_t index, const planned_workload& work, double slowdown, double bloat)
{
    repetition r = sample_repetition(index, sample_pass(work, std::llround(slowdown * static_cast<double>(reference_ps))));
    r.cold.peak_device_bytes = static_cast<std::uint64_t>(
        std::llround(bloat * static_cast<double>(work.summary.max_live_bytes)));
    r.process = static_cast<std::int64_t>(1000 + index);
    return r;
}

}  // namespace

run_document some_run(bool simulated)
{
    run_document run;
    run.command = {"vrambench", "run", simulated ? "simulated" : "real"};
    run.environment = {{"commit", "abc", 0, false},
                       {"device.cuda:0.architecture", "9.0", 0, false},
                       {"device.cuda:0.driver_version", "13000", 0, false}};
    run.finished = true;
    return run;
}

std::vector<cell*> add_situation(run_document& run, const std::string& workload, std::optional<std::uint64_t> limit,
                                 const std::vector<planned_cell>& cells)
{
    const auto work = sample_workload("w:a=" + workload, 2, 10, 1'000'000);
    cell ideal = cell_of(run, work, "ideal", std::nullopt);
    ideal.reference = true;
    for (std::uint64_t i = 0; i < 20; ++i) ideal.repetitions.push_back(process(i, *work, 1, 1));
    run.cells.push_back(ideal);
    const std::size_t first = run.cells.size();
    for (const planned_cell& p : cells) {
        cell c = cell_of(run, work, p.allocator, limit);
        for (std::size_t i = 0; i < p.slowdowns.size(); ++i)
            c.repetitions.push_back(process(i, *work, p.slowdowns[i], p.bloat));
        if (p.failure) {
            c.repetitions.push_back(process(0, *work, 1, p.bloat));
            c.repetitions.back().cold.result = *p.failure;
        }
        run.cells.push_back(c);
    }
    std::vector<cell*> added;
    for (std::size_t i = first; i < run.cells.size(); ++i) added.push_back(&run.cells[i]);
    return added;
}

outcome failed_with(status what, const std::string& cause)
{
    outcome o;
    o.what = what;
    o.cause = cause;
    o.step = 11;
    return o;
}

decide::platform platform_from(const run_document& run)
{
    const std::vector<decide::platform> platforms = decide::gather({{{"file.json", run}}, {}});
    EXPECT_EQ(platforms.size(), 1u);
    return platforms.at(0);
}

std::size_t place_of(const decide::platform& p, const std::string& spec)
{
    const auto found = std::find_if(p.allocators.begin(), p.allocators.end(),
                                    [&](const auto& a) { return a.spec == spec; });
    EXPECT_NE(found, p.allocators.end()) << spec;
    return static_cast<std::size_t>(found - p.allocators.begin());
}

}  // namespace vrambench::testing
