#include "bench/atomic_file.hpp"
#include "bench/commands.hpp"
#include "bench/derive.hpp"
#include "bench/fit/document.hpp"
#include "bench/fit/forecast.hpp"
#include "bench/interrupt.hpp"
#include "bench/planner.hpp"
#include "bench/progress.hpp"
#include "bench/remote.hpp"
#include "bench/run_options.hpp"
#include "bench/runner.hpp"
#include "bench/vram_limit.hpp"
#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"
#include "workloads/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include <unistd.h>

namespace vrambench {

namespace fit {

namespace {

struct options {
    run_options run;
    std::string vary;
    bool markdown = false;
};

std::vector<std::string> typed_workloads(const run_request& r)
{
    return r.workloads.empty() ? std::vector{default_tight_workload()} : r.workloads;
}

std::string varied(const std::string& workload, const variation& v, std::uint64_t value)
{
    if (workload.starts_with("file:")) throw input_error("--vary: a trace file has no key " + in_quotes(v.key));
    return with_key(workload, v.key, std::to_string(value));
}

void check_combinations(const run_request& r, bool varied)
{
    if (!varied && !r.vram_limits.empty())
        throw input_error("--vram-limit: fit searches the limit; with --vary KEY=FROM..TO it searches a value at the limits given");
    for (const auto& limit : r.vram_limits)
        if (is_relative_limit(limit))
            throw input_error("--vram-limit: " + in_quotes(limit) + " changes with the value that is varied; write a size");
    if (varied && r.workloads.empty()) throw input_error("--vary needs --workload: the key is one of a workload");
}

/// Plans one cell an allocator, workload and limit.
document make_document(const options& o, const run_request& typed)
{
    document d;
    std::optional<variation> vary;
    if (!o.vary.empty()) vary = parse_variation(o.vary);
    check_combinations(typed, vary.has_value());

    run_request r = typed;
    r.reference = false;
    r.verify = verify_level::off;
    r.kernels = {kernel_model::hold};
    const auto workloads = typed_workloads(r);
    r.workloads.clear();
    for (const auto& w : workloads) r.workloads.push_back(vary ? varied(w, *vary, vary->from) : w);
    run_plan plan = make_plan(r);
    d.target = plan.target;
    d.device = plan.device;
    std::map<std::string, std::string> typed_by_canonical;
    for (std::size_t i = 0; i < workloads.size(); ++i)
        typed_by_canonical.emplace(make_trace(r.workloads[i], r.seed, d.target)->header().spec, workloads[i]);
    for (auto& c : plan.document.cells) {
        fitted f;
        f.workload = typed_by_canonical.at(c.workload->recipe->header().spec);
        f.vary = vary;
        if (vary) {
            f.vary->step = own_step(c.workload->recipe->header(), *vary);
            const std::uint64_t last = vary->from + (vary->to - vary->from) / f.vary->step * f.vary->step;
            make_trace(varied(f.workload, *vary, last), r.seed, d.target);    // a value that its key refuses is told now
        }
        f.what = c;
        d.cells.push_back(std::move(f));
    }
    d.head = std::move(plan.document);
    return d;
}

/// Workloads by spec, each made once, from several threads.
class shelf {
public:
    shelf(std::uint64_t seed, std::uint64_t resident, std::string target) : seed_(seed), resident_(resident), target_(std::move(target)) {}

    std::shared_ptr<const planned_workload> get(const std::string& spec)
    {
        using made = std::shared_future<std::shared_ptr<const planned_workload>>;
        made workload;
        {
            const std::scoped_lock lock(mutex_);
            auto& slot = made_[spec];
            if (!slot.valid()) slot = std::async(std::launch::deferred, [=, this] { return plan_workload(spec, seed_, resident_, {}, target_); });
            workload = slot;
        }
        return workload.get();
    }

private:
    std::uint64_t seed_, resident_;
    std::string target_;
    std::mutex mutex_;
    std::map<std::string, std::shared_future<std::shared_ptr<const planned_workload>>> made_;
};

/// Searches the cells of a document one after the other, from any number of threads, and keeps the file up to date.
class search_party {
public:
    search_party(document& d, std::string out, const run_request& r, const std::atomic<bool>* stop, progress& shown)
        : document_(d), out_(std::move(out)), shown_(shown), workloads_(r.seed, resident_bytes(r.resident), d.target),
          run_(make_runner(timeout_of(r, d.cells.front().what.on), stop)), threads_(threads_for(d)), outlook_(events_of(d), threads_)
    {
        shown_.plan(std::vector<double>(d.cells.size()));    // what is left is the outlook's to say
    }

    /// False where it was interrupted.
    bool search_all()
    {
        std::vector<std::future<void>> working;
        for (std::size_t i = 0; i < threads_; ++i) working.push_back(std::async(std::launch::async, [this] { work(); }));
        for (auto& w : working) w.get();
        return !interrupted_;
    }

private:
    /// On a card one cell at a time.
    static std::size_t threads_for(const document& d)
    {
        const std::size_t cores = d.cells.front().what.on.simulated ? std::thread::hardware_concurrency() : 1;
        return std::clamp<std::size_t>(cores, 1, d.cells.size());
    }

    static std::vector<double> events_of(const document& d)
    {
        std::vector<double> events;
        for (const auto& f : d.cells) events.push_back(static_cast<double>(f.what.workload->summary.events));
        return events;
    }

    void work()
    {
        for (std::size_t i = next_++; i < document_.cells.size() && !interrupted_; i = next_++) {
            try {
                result r = search(i);
                const std::scoped_lock lock(mutex_);
                document_.cells[i].found = std::move(r);
                outlook_.ended(i);
                document_.head.finished = ++done_ == document_.cells.size();
                replace_file(out_, file_text(document_));
            } catch (const run_interrupted&) {
                interrupted_ = true;
            } catch (...) {
                interrupted_ = true;    // the others need not go on
                throw;
            }
        }
    }

    result search(std::size_t i)
    {
        const fitted& f = document_.cells[i];
        const runner telling = [&](const cell& c, bool watch_memory) {
            tell(i, c);
            const double begin = now_();
            trial t = run_(c, watch_memory);
            const std::scoped_lock lock(mutex_);
            outlook_.ran(i, now_() - begin);
            return t;
        };
        const run_forecast expect = [&](std::uint64_t runs) {
            const std::scoped_lock lock(mutex_);
            outlook_.expect(i, runs);
        };
        if (!f.vary) return smallest_limit(f.what, telling, expect);
        const auto at = [&](std::uint64_t value) { return workloads_.get(varied(f.workload, *f.vary, value)); };
        return largest_value(f.what, *f.vary, at, telling, expect);
    }

    void tell(std::size_t i, const cell& c)
    {
        const std::scoped_lock lock(mutex_);
        const std::string limit = c.vram_limit_bytes ? exact_size(*c.vram_limit_bytes) : "no limit";
        shown_.start(i, printable(c.allocator.title + " on " + c.workload->recipe->header().name + ", " + limit), outlook_.seconds_left());
    }

    document& document_;
    std::string out_;
    progress& shown_;
    shelf workloads_;
    runner run_;
    progress::seconds_clock now_ = progress::steady_seconds();
    std::size_t threads_;
    std::mutex mutex_;
    outlook outlook_;                        ///< guarded, as what is shown and the document are
    std::atomic<std::size_t> next_{0};
    std::size_t done_ = 0;
    std::atomic<bool> interrupted_{false};
};

/// 0: something was found and nothing crashed, hung or was corrupted on the way to it.
int code_of(const document& d)
{
    bool found = false;
    for (const auto& f : d.cells) {
        if (f.found && f.found->best) found = true;
        if (f.found && f.found->beyond && severity(f.found->beyond->what) > severity(status::starved)) return 1;
    }
    return found ? 0 : 1;
}

int search(const options& o, const command_line& line)
{
    if (!line.benchmark_flags.empty())
        throw input_error(in_quotes(line.benchmark_flags.front()) + ": fit takes no --benchmark_ options");
    const run_request r = understand(o.run, {});
    document d = make_document(o, r);
    d.head.command = line.arguments;
    const std::string out = o.run.out.empty() ? default_out(d.head) : o.run.out;
    check_replaceable(out, "vrambench.result");
    describe_environment(d.head, d.device);

    progress shown(std::cerr, is_terminal(STDERR_FILENO), terminal_width(STDERR_FILENO));
    const interrupt_guard interrupt;
    const bool whole = search_party(d, out, r, interrupt.flag(), shown).search_all();
    shown.finish();
    std::cout << (o.markdown ? markdown(d) : table(d, style_for(STDOUT_FILENO)));
    const bool kept = std::any_of(d.cells.begin(), d.cells.end(), [](const fitted& f) { return f.found.has_value(); });
    if (kept) std::cout << "\nresults: " << printable(out) << '\n';
    if (!whole) {
        std::cerr << (kept ? "interrupted: what was found is kept\n" : "interrupted before anything was found: no result file\n");
        return 130;
    }
    return code_of(d);
}

void add_options(CLI::App& app, options& o)
{
    auto& r = o.run.request;
    app.add_option("--device", r.device, "as of run: sim:h200, cuda:0, ...")->capture_default_str();
    app.add_option("--allocator", r.allocators, "allocators, repeated or comma-separated (default: all six)")->allow_extra_args(false);
    app.add_option("--workload", r.workloads, "workloads, repeated or comma-separated (default: a session at 32k of the default set)")
        ->allow_extra_args(false);
    app.add_option("--vary", o.vary,
                   "KEY=FROM..TO[:STEP]: at each --vram-limit the largest value of this key of the workload, whose own step\n"
                   "(its key step or ubatch) is used where none is typed");
    app.add_option("--vram-limit", r.vram_limits, "with --vary: sizes, or none (default)")->allow_extra_args(false);
    app.add_option("--resident", r.resident, "memory taken outside the allocator before the trace and kept: a size, or model: its weights and KV cache");
    app.add_option("--mode", o.run.mode, "how graph events execute: eager, graph")->capture_default_str();
    app.add_option("--seed", o.run.seed, "of seeded workloads")->capture_default_str();
    app.add_option("--timeout", o.run.timeout, "of one run of a cell, as 60s (default: 300s on a card, none on sim)");
    app.add_option("--out", o.run.out, "result file (default: vrambench-DEVICE-DATE.json here)");
    app.add_flag("--markdown", o.markdown, "the table as Markdown, for documents");
}

}  // namespace

}  // namespace fit

void add_fit(CLI::App& app, const command_line& line, command& chosen)
{
    auto* sub = app.add_subcommand("fit", "find the smallest limit at which each allocator completes, or what fits into a limit");
    auto o = std::make_shared<fit::options>();
    fit::add_options(*sub, *o);
    sub->footer("A limit is found by bisection, to 1 MiB on sim and 16 MiB on a card, then checked: on sim every 1 % from max live to\n"
                "1.3 times what was found, on a card there and at three limits above. Where more memory does not always help the\n"
                "table says so and shows the ranges that complete (docs/out-of-memory.md).\n\n"
                "Exit codes: 0 searched, and something completes; 1 what lies beyond an answer was corrupted, crashed or timed out, or\n"
                "nothing completes; 2 bad usage or input; 3 vrambench itself failed; 130 interrupted, what was found is kept.\n\n"
                "Examples:\n"
                "  vrambench fit --device sim:h200 --allocator direct,legacy-retry,vmm \\\n"
                "      --workload kv-pair:heads=8,head-dim=128,step=512,to=16384\n"
                "  vrambench fit --device sim:h200 --allocator legacy,legacy-retry,vmm --workload kv-pair:heads=8,head-dim=128,step=512 \\\n"
                "      --vary to=4096..65536 --vram-limit 1GiB,2GiB --resident 900MiB");
    sub->callback([o, &line, &chosen] { chosen = [o, &line] { return fit::search(*o, line); }; });
}

}  // namespace vrambench
