#include "samples.hpp"

#include "spec/units.hpp"

namespace vrambench::testing {

namespace {

class named_trace : public trace {
public:
    explicit named_trace(trace_header header) : header_(std::move(header)) {}
    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override { return nullptr; }

private:
    trace_header header_;
};

void add(histogram& h, std::int64_t ns, int times)
{
    for (int i = 0; i < times; ++i) h.add(ns * 1000);
}

std::uint64_t& calls(pass_measurement& p, driver_call k) { return p.calls[static_cast<std::size_t>(k)]; }

/// Prefill of 3 steps and 96 tokens, decode of 1 step and 4 tokens; bytes and calls of a list pool that flushed twice.
pass_measurement two_phase_pass(std::int64_t prefill_ns, std::int64_t decode_ns)
{
    pass_measurement p;
    p.events = 40;
    p.time_ps = (prefill_ns + decode_ns) * 1000;
    p.phases.push_back({"prefill", 3, 96, prefill_ns * 1000, {}});
    add(p.phases[0].step, prefill_ns / 3, 3);
    p.phases.push_back({"decode", 1, 4, decode_ns * 1000, {}});
    add(p.phases[1].step, decode_ns, 1);
    add(p.alloc[static_cast<int>(path::hit)], 120, 98);
    add(p.alloc[static_cast<int>(path::driver)], 45'000, 1);
    add(p.alloc[static_cast<int>(path::flush_retry)], 27'400'000, 1);
    add(p.free[static_cast<int>(path::hit)], 90, 100);
    p.activity = {p.time_ps * 9 / 10, p.time_ps / 4, p.time_ps};
    p.free_bytes_at_start = 512 * MiB;
    p.peak_live_bytes = 64 * MiB;
    p.peak_reserved_bytes = 96 * MiB;
    p.peak_device_bytes = 80 * MiB;
    p.end_reserved_bytes = 70 * MiB;
    p.live_byte_ps = 1e18;
    p.reserved_byte_ps = 2.5e18;
    calls(p, driver_call::malloc) = 21;
    calls(p, driver_call::free) = 19;
    calls(p, driver_call::sync) = 3;
    calls(p, driver_call::launch) = 4000;
    p.flushes = 2;
    p.flushed_bytes = 40 * MiB;
    p.recoveries = 2;
    p.recovery = {1'000'000, 2'000'000, 0, 500'000, 0, 250'000, 40 * MiB};
    p.cached_blocks = {4 * MiB, 66 * MiB};
    return p;
}

run_document empty_run()
{
    run_document run;
    run.command = {"vrambench", "run", "--vram-limit", "512MiB"};
    run.environment = {{"program", "vrambench", 0, false}, {"timer_cost_ps", "", 20'000, true}};
    run.finished = true;
    return run;
}

pass_measurement failed(status what, const std::string& message, std::uint64_t step)
{
    pass_measurement p;
    p.result.what = what;
    p.result.message = message;
    p.result.step = step;
    return p;
}

}  // namespace

std::shared_ptr<planned_workload> sample_workload(const std::string& spec, std::uint64_t steps, std::uint64_t tokens,
                                                  std::uint64_t max_live_bytes)
{
    trace_header header;
    header.name = spec.substr(0, spec.find(':'));
    header.spec = spec;
    header.params = {{"heads", "8"}, {"sync", "none"}};
    header.seed = 7;
    header.phases = {"prefill", "decode"};
    auto w = std::make_shared<planned_workload>();
    w->summary.events = 40;
    w->summary.alloc_calls = 100;
    w->summary.free_calls = 100;
    w->summary.launches = 4000;
    w->summary.steps = steps;
    w->summary.tokens = tokens;
    w->summary.max_live_bytes = max_live_bytes;
    w->recipe = std::make_shared<named_trace>(std::move(header));
    return w;
}

cell sample_cell(std::shared_ptr<const planned_workload> workload, const std::string& name, const std::string& title,
                 const std::string& spec, std::optional<std::uint64_t> limit)
{
    cell c;
    c.id = title;
    c.on = {"sim", "h200", "sim:h200", true, {}};
    c.allocator = {name, title, spec, {}};
    c.allocator.settings.set("retry", "none");
    c.workload = std::move(workload);
    c.vram_limit_bytes = limit;
    return c;
}

cell sample_reference(std::shared_ptr<const planned_workload> workload)
{
    cell c = sample_cell(std::move(workload), "ideal", "ideal", "ideal", std::nullopt);
    c.reference = true;
    return c;
}

pass_measurement sample_pass(const planned_workload& workload, std::int64_t time_ps)
{
    pass_measurement p;
    p.events = workload.summary.events;
    p.time_ps = time_ps;
    p.phases.push_back({"prefill", workload.summary.steps, workload.summary.tokens, time_ps, {}});
    p.phases[0].step.add(time_ps);
    p.activity = {time_ps / 2, time_ps / 4, time_ps};
    p.peak_reserved_bytes = p.peak_live_bytes = workload.summary.max_live_bytes;
    return p;
}

repetition sample_repetition(std::uint64_t index, pass_measurement cold)
{
    repetition r;
    r.index = index;
    r.order = index;
    r.process = 4711;
    r.cold = std::move(cold);
    return r;
}

pass_measurement sample_oom(const std::string& cause)
{
    pass_measurement p = two_phase_pass(1000, 100);
    outcome& o = p.result;
    o.what = status::oom;
    o.cause = cause;
    o.message = "64.00 MiB are too much";
    o.event = 321, o.step = 11, o.phase = "prefill", o.tag = "K";
    o.wanted_bytes = 64 * MiB, o.live_bytes = 400 * MiB, o.cached_bytes = 90 * MiB;
    o.reserved_bytes = 490 * MiB, o.driver_free_bytes = 22 * MiB;
    p.failures = 1;
    p.alloc[static_cast<int>(path::fail)].add(5000);
    return p;
}

run_document sample_run()
{
    run_document run = empty_run();
    const auto w = sample_workload("kv-pair:heads=8,tokens=100,sync=none", 4, 100, 64 * MiB);
    const std::uint64_t limit = 512 * MiB;

    cell ideal = sample_reference(w);
    ideal.repetitions.push_back(sample_repetition(0, two_phase_pass(900'000, 60'000)));
    ideal.repetitions[0].steady = two_phase_pass(900'000, 60'000);
    run.cells.push_back(ideal);

    cell legacy = sample_cell(w, "legacy", "legacy (before #22155)", "legacy:retry=none", limit);
    legacy.repetitions.push_back(sample_repetition(0, sample_oom("retained")));
    run.cells.push_back(legacy);

    cell retry = sample_cell(w, "legacy-retry", "legacy-retry (after #22155)", "legacy:retry=flush", limit);
    retry.repetitions.push_back(sample_repetition(0, two_phase_pass(1'200'000, 63'000)));
    retry.repetitions[0].steady = two_phase_pass(900'450, 60'000);
    run.cells.push_back(retry);

    cell async = sample_cell(w, "async", "async", "async:threshold=max,retry=none,pool=own", limit);
    async.repetitions.push_back(sample_repetition(0, two_phase_pass(930'000, 60'000)));
    async.repetitions[0].steady = sample_oom("pending");
    run.cells.push_back(async);

    cell vmm = sample_cell(w, "vmm", "vmm", "vmm:handle=32MiB", limit);
    vmm.repetitions.push_back(sample_repetition(0, failed(status::unsupported, "frees are not last in, first out", 0)));
    run.cells.push_back(vmm);

    run.cells.push_back(sample_cell(w, "direct", "direct", "direct", limit));
    return run;
}

run_document awkward_run()
{
    run_document run = empty_run();
    run.finished = false;
    run.command.push_back("--out=\xff\xfe.json");
    const auto w = sample_workload("random:\xc3\x28,steps=5", 5, 0, (std::uint64_t{1} << 53) + 1);

    cell big = sample_cell(w, "direct", "direct", "direct", (std::uint64_t{1} << 53) + 1);
    pass_measurement huge = sample_pass(*w, 5'000'000);
    huge.peak_reserved_bytes = UINT64_MAX;
    huge.time_ps = INT64_MAX;
    huge.alloc[0].add(INT64_MAX);
    huge.live_byte_ps = 0;
    big.repetitions.push_back(sample_repetition(0, huge));
    run.cells.push_back(big);

    cell broken = sample_cell(w, "vmm", "vmm", "vmm", std::nullopt);
    pass_measurement corrupted = failed(status::corrupted, "block 3 holds another pattern", 2);
    corrupted.hazard_count = 2;
    corrupted.hazards = {{"reuse-before-ordered", 12, 9, "stream 1 over stream 0"}, {"use-after-free", 14, UINT64_MAX, "\x80"}};
    broken.repetitions.push_back(sample_repetition(0, sample_pass(*w, 1'000)));
    broken.repetitions.push_back(sample_repetition(1, corrupted));
    broken.repetitions[1].what = role::verify;
    run.cells.push_back(broken);

    cell disturbed = sample_cell(w, "async", "async", "async", std::nullopt);
    disturbed.repetitions.push_back(sample_repetition(0, failed(status::crashed, "SIGSEGV", 1)));
    disturbed.repetitions[0].disturbed = "another process took 2.0 GiB";
    run.cells.push_back(disturbed);

    cell late = sample_cell(w, "legacy", "legacy", "legacy", std::nullopt);
    late.repetitions.push_back(sample_repetition(0, failed(status::timeout, "no end after 500 ms", 3)));
    run.cells.push_back(late);
    return run;
}

}  // namespace vrambench::testing
