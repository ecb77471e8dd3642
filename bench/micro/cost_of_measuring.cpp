#include "bench/micro/cost_of_measuring.hpp"

#include "bench/micro/bare_player.hpp"
#include "bench/runner.hpp"
#include "bench/statistics.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"
#include "workloads/registry.hpp"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <stdexcept>

namespace vrambench::micro {

namespace {

struct wanted {
    std::string device = "sim:h200";
    std::string workload = "kv-pair:heads=8,head-dim=128,step=64,to=32768";
    std::string allocator = "legacy-retry";
    std::uint64_t runs = 21;
};

/// A trace on a device and an allocator of its own, used by one way of playing it only.
struct stage {
    stage(const wanted& w, const trace& t, const trace_summary& summary, const device_options& options)
        : dev(open_device(choose_device(w.device), options))
    {
        dev->set_streams(summary.streams);
        alloc = make_allocator(choose_allocator(w.allocator), *dev, summary.streams);
        dev->settle();
        start_free = dev->query_memory().free_bytes;
        alloc->prepare(t, summary);
    }

    std::unique_ptr<device> dev;
    std::unique_ptr<allocator> alloc;
    std::uint64_t start_free = 0;
};

device_options without_measuring()
{
    device_options o;
    o.check = integrity_check::off;
    o.stamps = false;
    return o;
}

/// As timed repetitions on a card are. The simulator's checker is none of the meters.
device_options with_measuring(const wanted& w)
{
    device_options o;
    o.check = choose_device(w.device).simulated ? integrity_check::off : integrity_check::sample;
    return o;
}

double nanoseconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double, std::nano>(d).count(); }

template <class F> double wall_time(F f)
{
    const auto begin = std::chrono::steady_clock::now();
    f();
    return nanoseconds(std::chrono::steady_clock::now() - begin);
}

/// Nanoseconds of a pass as it is measured: from its first event to the device's idleness. What is done before and after
/// that disturbs nothing. A virtual clock says nothing of the host, so there it is the wall time of all of it.
double measured_pass(stage& s, const trace& t, const trace_summary& summary)
{
    pass_measurement m;
    const double wall = wall_time([&] { m = run_pass(t, summary, *s.dev, *s.alloc, run_mode::eager, {}, s.start_free, {}); });
    if (m.result.what != status::completed)
        throw input_error(std::string("the measured pass: ") + to_string(m.result.what) + ": " + m.result.message);
    return s.dev->clock().is_virtual() ? wall : static_cast<double>(m.time_ps) / 1000.0;
}

void print(const char* what, const std::vector<double>& ns)
{
    const estimate e = *estimate_of(ns);
    std::printf("%-9s %s", what, human_time(as_double(e.median)).c_str());
    if (e.ci95) std::printf("  [%s, %s]", human_time(as_double(e.ci95->first)).c_str(), human_time(as_double(e.ci95->second)).c_str());
    std::printf("\n");
}

/// Both ways once unmeasured, so that both allocators are used ones, then in turns, the first of a turn changing.
void compare(const wanted& w)
{
    const auto t = make_trace(w.workload, 1);
    const trace_summary summary = summarise(*t);
    stage quiet(w, *t, summary, without_measuring()), timed(w, *t, summary, with_measuring(w));
    bare_player player(*t, summary, *quiet.dev, *quiet.alloc);
    const auto bare = [&] { return wall_time([&] { player.play(); }); };
    const auto measured = [&] { return measured_pass(timed, *t, summary); };
    bare(), measured();
    std::vector<double> bares, measureds, differences;
    for (std::uint64_t i = 0; i < w.runs; ++i) {
        if (i % 2 == 0) bares.push_back(bare());
        measureds.push_back(measured());
        if (i % 2 != 0) bares.push_back(bare());
        differences.push_back((measureds.back() / bares.back() - 1) * 100);
    }
    std::printf("%s\n  on %s, %s, %llu interleaved runs each; medians with their 95 %% intervals\n", t->header().spec.c_str(),
                timed.dev->info().spec.c_str(), choose_allocator(w.allocator).spec.c_str(), static_cast<unsigned long long>(w.runs));
    print("bare", bares);
    print("measured", measureds);
    const estimate d = *estimate_of(differences);
    std::printf("added     %.2f %%", as_double(d.median));
    if (d.ci95) std::printf("  [%.2f %%, %.2f %%]", as_double(d.ci95->first), as_double(d.ci95->second));
    std::printf("%s\n", timed.dev->clock().is_virtual() ? "  (host time of the simulator: not a card's)" : "");
}

}  // namespace

int cost_of_measuring(int argc, char** argv)
{
    wanted w;
    CLI::App app("what measuring costs: a trace played by a bare loop and as it is measured, in turns", "vrambench_micro");
    app.add_flag("--cost-of-measuring")->required();
    app.add_option("--device", w.device, "sim:PROFILE or cuda:N")->capture_default_str();
    app.add_option("--workload", w.workload, "a workload without graphs and external allocations")->capture_default_str();
    app.add_option("--allocator", w.allocator)->capture_default_str();
    app.add_option("--runs", w.runs, "of each")->check(CLI::Range(15, 10'000))->capture_default_str();
    try {
        app.parse(argc, argv);
        compare(w);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    } catch (const std::exception& e) {
        std::cerr << "vrambench_micro: " << e.what() << '\n';
        return dynamic_cast<const input_error*>(&e) ? 2 : 3;
    }
    return 0;
}

}  // namespace vrambench::micro
