#include "bench/runner.hpp"

#include "bench/child_process.hpp"
#include "bench/clock_watch.hpp"
#include "bench/failure_cause.hpp"
#include "bench/failure_probe.hpp"
#include "bench/kernel_clock.hpp"
#include "bench/long_calls.hpp"
#include "bench/neighbour_process.hpp"
#include "bench/recovery_log.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <thread>
#include <utility>

#include <unistd.h>

namespace vrambench {

namespace {

/// The pass ends here, with this outcome.
struct pass_ended {
    outcome why;
};

/// A block in the caller's hands.
struct live_block {
    device_ptr pointer = 0;
    std::uint64_t granted = 0;
    std::uint64_t bytes = 0;
    std::uint64_t born = 0;          ///< counts allocations, to free what is left in reverse order
    stream_id stream = 0;
};

/// Integral of a byte count over time, exact.
class byte_integral {
public:
    void start(std::int64_t now, std::uint64_t bytes) { since_ = now, bytes_ = bytes, sum_ = 0; }
    void change(std::int64_t now, std::uint64_t bytes)
    {
        sum_ += static_cast<unsigned __int128>(bytes_) * static_cast<std::uint64_t>(now - since_);
        since_ = now;
        bytes_ = bytes;
    }
    double total() const { return static_cast<double>(sum_); }

private:
    std::int64_t since_ = 0;
    std::uint64_t bytes_ = 0;
    unsigned __int128 sum_ = 0;
};

driver_call_counts difference(const driver_call_counts& after, const driver_call_counts& before)
{
    driver_call_counts d{};
    for (std::size_t i = 0; i < d.size(); ++i) d[i] = after[i] - before[i];
    return d;
}

/// Accounts steps to their phases.
class step_meter {
public:
    step_meter(const trace_header& header, std::int64_t now) : step_begin_(now)
    {
        for (const auto& name : header.phases) phases_.emplace_back().name = name;
    }

    void begin(const event& e, std::int64_t now)
    {
        open_ = true;
        step_begin_ = now;
        phase_ = e.phase;
        tokens_ = e.tokens;
        ++count_;
    }
    /// Ends the step that is under way, if one is, and says what it took.
    std::optional<std::int64_t> end(std::int64_t now)
    {
        if (!std::exchange(open_, false)) return std::nullopt;
        const std::int64_t took = now - step_begin_;
        auto& p = phases_[phase_];
        ++p.steps;
        p.tokens += tokens_;
        p.time_ps += took;
        p.step.add(took);
        return took;
    }
    std::uint64_t count() const { return count_; }
    /// A pause between turns is under way: what is reserved at its end is the floor.
    bool is_idle() const { return open_ && phases_[phase_].name == "idle"; }
    std::string phase_name() const { return count_ ? phases_[phase_].name : ""; }
    std::vector<phase_measurement> used() const
    {
        std::vector<phase_measurement> v;
        for (const auto& p : phases_)
            if (p.steps) v.push_back(p);
        return v;
    }

private:
    std::vector<phase_measurement> phases_;
    std::int64_t step_begin_;
    std::size_t phase_ = 0;
    std::uint64_t tokens_ = 0;
    std::uint64_t count_ = 0;
    bool open_ = false;
};

/// One pass in progress.
class pass_runner {
public:
    pass_runner(const trace& t, const trace_summary& summary, device& dev, allocator& alloc, run_mode mode,
                const kernel_settings& kernels, std::uint64_t start_free)
        : trace_(t), summary_(summary), header_(t.header()), device_(dev), clock_(dev.clock()), allocator_(alloc), mode_(mode),
          kernels_(dev.info(), kernels), start_free_(start_free), observer_(dev.observer()),
          simulated_(dev.info().simulated), needs_accesses_(observer_ || !simulated_ || kernels_.needs_traffic()), blocks_(summary.block_ids),
          externals_(summary.external_ids), graphs_(summary.graph_ids), steps_(header_, clock_.now_ps()), long_calls_(dev)
    {
    }

    pass_measurement run(const run_controls& controls);

private:
    struct recorded_launch {
        std::int64_t picoseconds;
        std::vector<kernel_access> accesses;
    };

    void begin();
    void start_clock();
    void execute_all(const run_controls& controls);
    void execute(const event& e, const event_batch& batch);
    void allocate(const event& e);
    void deallocate(const event& e);
    void launch(const event& e, const event_batch& batch);
    void collect_accesses(const event& e, const event_batch& batch);
    void synchronise(const event& e);
    template <class F> void beside_the_allocator(driver_call what, F call);
    void fold_device_peak();
    /// Whether somebody else takes this external block: the last one, where there is a neighbour.
    bool is_neighbour(std::uint32_t external_id) const { return neighbour_ && external_id + 1 == summary_.external_ids; }
    void external_allocate(const event& e);
    void external_free(std::uint32_t id);
    void graph_begin(const event& e);
    void graph_end(const event& e);
    void graph_launch(const event& e);
    void reserved_may_have_changed(std::int64_t now);
    void note_floor();
    void end_step(std::int64_t now);
    void begin_step(const event& e, std::int64_t now);
    [[noreturn]] void out_of_memory(const event& e, const allocation& a);
    [[noreturn]] void external_failed(const event& e);
    outcome scene_of_failure(status what);
    void failed_with(status what, const char* message);
    void finish();
    void end_of_work();
    void come_to_rest();
    void account_allocator(const allocator_stats& s);
    void account_time(std::int64_t end);
    void account_hazards();
    void free_what_is_left();

    const trace& trace_;
    const trace_summary& summary_;
    const trace_header& header_;
    device& device_;
    const host_clock& clock_;
    allocator& allocator_;
    run_mode mode_;
    kernel_clock kernels_;
    std::uint64_t start_free_;
    block_observer* observer_;
    bool simulated_;
    bool needs_accesses_;

    pass_measurement m_;
    std::vector<live_block> blocks_;
    std::vector<live_block> externals_;
    std::vector<std::vector<recorded_launch>> graphs_;
    std::vector<kernel_access> accesses_;
    event current_;                              ///< that is executed
    std::optional<event> capturing_;             ///< the graph_begin, in graph mode
    std::optional<std::uint32_t> recording_;     ///< graph between graph_begin and graph_end, in eager mode
    step_meter steps_;
    long_calls long_calls_;
    recovery_log recoveries_;
    byte_integral live_over_time_, reserved_over_time_;
    std::uint64_t live_ = 0, external_live_ = 0, reserved_ = 0, born_ = 0, index_ = 0;
    std::int64_t opened_ps_ = 0, begin_ps_ = 0;  ///< of the device's account, and of the work
    std::uint64_t level_ = 0;                    ///< free bytes at the start, less what external blocks hold
    driver_call_counts calls_before_{}, refused_before_{}, external_calls_{};
    allocator_stats stats_before_;
    std::uint64_t hazards_before_ = 0;
    outside_memory* neighbour_ = nullptr;
    bool work_ended_ = false;
};

void pass_runner::begin()
{
    device_.sync_device();
    device_.reset_low_water();
    level_ = start_free_;
    calls_before_ = device_.calls();
    refused_before_ = device_.refused_calls();
    stats_before_ = allocator_.stats();
    hazards_before_ = observer_ ? observer_->hazard_count() : 0;
    allocator_.notify(notification::pass_begin);
    m_.free_bytes_at_start = start_free_;
    reserved_ = m_.peak_reserved_bytes = allocator_.reserved_bytes();
    device_.reset_activity();
    opened_ps_ = clock_.now_ps();
    start_clock();
}

/// Also after what an engine takes from the driver before its first step: gigabytes of weights take as long as many tokens. The
/// device's own account begins in begin() all the same: with a reset behind large allocations all launches of later passes were
/// 0.15 us slower on an H200, and those of the first were not.
void pass_runner::start_clock()
{
    begin_ps_ = clock_.now_ps();
    steps_ = step_meter(header_, begin_ps_);
    live_over_time_.start(begin_ps_, live_);
    reserved_over_time_.start(begin_ps_, reserved_);
}

pass_measurement pass_runner::run(const run_controls& controls)
{
    neighbour_ = controls.neighbour;
    try {
        begin();
        execute_all(controls);
    } catch (const pass_ended& end) {
        m_.result = end.why;
    } catch (const unsupported_error& e) {
        failed_with(status::unsupported, e.what());
    } catch (const device_error& e) {
        failed_with(status::crashed, e.what());
    } catch (const policy_error& e) {
        failed_with(status::crashed, e.what());
    } catch (const std::bad_alloc&) {
        failed_with(status::crashed, "the allocator ran out of host memory");
    }
    // A device that is broken by now may answer nothing any more: the outcome says so already.
    quietly([&] { finish(); });
    if (ran_out_of_memory(m_.result.what))
        quietly([&] {
            probe_after_failure(device_, allocator_, current_, m_.result);
            device_.reset_low_water();
        });
    quietly([&] { free_what_is_left(); });
    quietly([&] { account_hazards(); });
    if (!device_.info().times_known) m_.forget_times();
    return std::move(m_);
}

void pass_runner::execute_all(const run_controls& controls)
{
    const auto deadline = std::chrono::steady_clock::now() + controls.timeout;
    const auto source = trace_.open();
    event_batch batch;
    while (source->fill(batch)) {
        if (controls.stop && controls.stop->load(std::memory_order_relaxed)) throw run_interrupted();
        if (controls.timeout.count() > 0 && std::chrono::steady_clock::now() > deadline) {
            outcome o = scene_of_failure(status::timeout);
            o.message = "no end after " + std::to_string(controls.timeout.count()) + " ms";
            throw pass_ended{o};
        }
        for (const auto& e : batch.events) {
            current_ = e;
            execute(e, batch);
            ++index_;
        }
        if (controls.on_progress) controls.on_progress(static_cast<double>(index_) / static_cast<double>(summary_.events));
    }
}

void pass_runner::execute(const event& e, const event_batch& batch)
{
    if (observer_) observer_->at_event(index_);
    switch (e.kind) {
    case event_kind::alloc: return allocate(e);
    case event_kind::free: return deallocate(e);
    case event_kind::kernel: return launch(e, batch);
    case event_kind::record: return device_.record(e.id, e.stream);
    case event_kind::wait: return device_.wait(e.id, e.stream);
    case event_kind::sync_stream:
    case event_kind::sync_device: return synchronise(e);
    case event_kind::external_alloc: return external_allocate(e);
    case event_kind::external_free:
        if (index_ == summary_.events_of_work) end_of_work();
        return external_free(e.id);
    case event_kind::step:
        note_floor();
        begin_step(e, clock_.now_ps());
        return allocator_.notify(notification::step);
    case event_kind::graph_begin: return graph_begin(e);
    case event_kind::graph_end: return graph_end(e);
    case event_kind::graph_launch: return graph_launch(e);
    }
}

void pass_runner::allocate(const event& e)
{
    const std::int64_t t0 = clock_.now_ps();
    allocation a = allocator_.allocate(e.bytes, e.alignment, e.stream);
    clock_.charge(a.work);
    const std::int64_t t1 = clock_.now_ps();
    if (allocator_.asks_after_calls()) allocator_.after_call(&a);
    m_.alloc[static_cast<int>(a.how)].add(t1 - t0);
    long_calls_.add(m_.alloc_parts[static_cast<int>(a.how)], t0, t1);
    reserved_may_have_changed(t1);
    if (recoveries_.concerns(a.how)) [[unlikely]]
        recoveries_.noted(a.how, t1 - t0, index_, steps_.count(), allocator_.last_recovery(e.stream));
    if (!a.pointer) out_of_memory(e, a);
    blocks_[e.id] = {a.pointer, a.granted_bytes, e.bytes, born_++, e.stream};
    live_ += e.bytes;
    live_over_time_.change(t1, live_);
    m_.peak_live_bytes = std::max(m_.peak_live_bytes, live_);
    if (observer_) observer_->allocated(e.id, a.pointer, e.bytes, a.granted_bytes, e.alignment, e.stream);
}

void pass_runner::deallocate(const event& e)
{
    live_block& b = blocks_[e.id];
    if (observer_) observer_->freed(e.id, b.pointer, b.granted, e.stream);
    const std::int64_t t0 = clock_.now_ps();
    const deallocation d = allocator_.deallocate(b.pointer, b.granted, e.stream);
    clock_.charge(d.work);
    const std::int64_t t1 = clock_.now_ps();
    if (allocator_.asks_after_calls()) allocator_.after_call(nullptr);
    m_.free[static_cast<int>(d.how)].add(t1 - t0);
    long_calls_.add(m_.free_parts[static_cast<int>(d.how)], t0, t1);
    live_ -= b.bytes;
    b.pointer = 0;
    live_over_time_.change(t1, live_);
    reserved_may_have_changed(t1);
}

void pass_runner::reserved_may_have_changed(std::int64_t now)
{
    if (allocator_.reserved_bytes() == reserved_) return;
    reserved_ = allocator_.reserved_bytes();
    reserved_over_time_.change(now, reserved_);
    m_.peak_reserved_bytes = std::max(m_.peak_reserved_bytes, reserved_);
}

void pass_runner::begin_step(const event& e, std::int64_t now)
{
    end_step(now);
    steps_.begin(e, now);
}

void pass_runner::end_step(std::int64_t now)
{
    if (const auto took = steps_.end(now)) recoveries_.step_ended(*took);
}

void pass_runner::note_floor()
{
    if (steps_.is_idle()) m_.idle_reserved_bytes.push_back(reserved_);
}

void pass_runner::collect_accesses(const event& e, const event_batch& batch)
{
    accesses_.clear();
    for (const auto id : batch.reads(e)) accesses_.push_back({blocks_[id].pointer, blocks_[id].bytes, id, false});
    for (const auto id : batch.writes(e)) accesses_.push_back({blocks_[id].pointer, blocks_[id].bytes, id, true});
}

void pass_runner::launch(const event& e, const event_batch& batch)
{
    std::int64_t duration = 0;
    if (needs_accesses_) collect_accesses(e, batch);
    if (kernels_.needs_traffic()) {
        std::uint64_t bytes = 0;
        for (const auto& a : accesses_) bytes += a.bytes;
        duration = simulated_ ? kernels_.traffic_ps(bytes) : 0;    // a card's kernel lasts as long as its traffic does
    } else {
        duration = kernels_.duration_ps(e);
    }
    if (recording_)
        graphs_[*recording_].push_back({duration, accesses_});
    else
        device_.launch(e.stream, duration, accesses_);
}

void pass_runner::synchronise(const event& e)
{
    if (e.kind == event_kind::sync_stream)
        device_.sync_stream(e.stream);
    else
        device_.sync_device();
    if (allocator_.asks_after_calls()) allocator_.after_call(nullptr);
    allocator_.notify(notification::safe_point);
    reserved_may_have_changed(clock_.now_ps());
}

/// Memory that the engine takes beside the allocator is not the allocator's: neither the call nor the bytes count, so the
/// level from which the allocator's peak is measured moves with it.
template <class F> void pass_runner::beside_the_allocator(driver_call what, F call)
{
    const bool watched = device_.lowest_free_bytes() != UINT64_MAX;
    std::uint64_t before = 0;
    if (watched) {
        fold_device_peak();
        device_.reset_low_water();
        before = device_.lowest_free_bytes();
    }
    if (call()) ++external_calls_[static_cast<std::size_t>(what)];
    if (!watched) return;
    device_.reset_low_water();
    level_ += device_.lowest_free_bytes() - before;    // modulo 2^64: the level falls when memory is taken
}

void pass_runner::fold_device_peak()
{
    if (device_.lowest_free_bytes() == UINT64_MAX) return;
    m_.peak_device_bytes = std::max(m_.peak_device_bytes, level_ - std::min(level_, device_.lowest_free_bytes()));
}

void pass_runner::external_allocate(const event& e)
{
    device_ptr p = 0;
    if (is_neighbour(e.id))    // no call of ours
        beside_the_allocator(driver_call::malloc, [&] { return p = neighbour_->take(e.bytes), false; });
    else
        beside_the_allocator(driver_call::malloc, [&] { return (p = device_.malloc(e.bytes)) != 0; });
    if (!p) external_failed(e);
    externals_[e.id] = {p, e.bytes, e.bytes, born_++, 0};
    external_live_ += e.bytes;
    if (allocator_.asks_after_calls()) allocator_.after_call(nullptr);    // the driver may have emptied its pools for it
    reserved_may_have_changed(clock_.now_ps());
    if (index_ + 1 == summary_.events_before_work) start_clock();
}

void pass_runner::external_free(std::uint32_t id)
{
    beside_the_allocator(driver_call::free, [&] {
        if (is_neighbour(id)) return neighbour_->give_back(), false;
        device_.free(externals_[id].pointer);
        return true;
    });
    external_live_ -= externals_[id].bytes;
    externals_[id].pointer = 0;
}

// -- graphs: in eager mode the launches are kept here and executed one by one at each replay

void pass_runner::graph_begin(const event& e)
{
    if (mode_ == run_mode::graph) {
        allocator_.notify(notification::capture_begin);
        device_.capture_begin(e.stream);
        capturing_ = e;
        return;
    }
    recording_ = e.id;
    graphs_[e.id].clear();
}

void pass_runner::graph_end(const event& e)
{
    if (mode_ == run_mode::graph) {
        const event begin = *std::exchange(capturing_, std::nullopt);
        device_.capture_end(begin.stream, e.id);
        allocator_.notify(notification::capture_end);
        return;
    }
    recording_.reset();
    for (auto& k : graphs_[e.id])
        for (auto& a : k.accesses) a.captured = index_;
}

void pass_runner::graph_launch(const event& e)
{
    if (mode_ == run_mode::graph) return device_.graph_launch(e.id, e.stream);
    for (const auto& k : graphs_[e.id]) device_.launch(e.stream, k.picoseconds, k.accesses);
}

// -- ends

outcome pass_runner::scene_of_failure(status what)
{
    const event& e = current_;
    const bool takes_memory = e.kind == event_kind::alloc || e.kind == event_kind::external_alloc;
    const bool has_tag = takes_memory || e.kind == event_kind::kernel || e.kind == event_kind::step;
    outcome o;
    o.what = what;
    o.event = index_;
    o.step = steps_.count();
    o.phase = steps_.phase_name();
    if (has_tag && e.tag < header_.tags.size()) o.tag = header_.tags[e.tag];
    if (takes_memory) o.wanted_bytes = e.bytes;
    o.live_bytes = live_;
    quietly([&] {    // a broken device has no answer
        const allocator_stats s = allocator_.stats();
        o.cached_bytes = s.cached;
        o.reserved_bytes = s.reserved;
        o.driver_free_bytes = device_.query_memory().free_bytes;
    });
    return o;
}

void pass_runner::out_of_memory(const event& e, const allocation& a)
{
    outcome o = scene_of_failure(status::oom);
    const failure_scene scene{e.bytes, a.asked_bytes, a.beside_bytes, live_ + external_live_, start_free_, o.driver_free_bytes,
                              device_.info().physical_block, device_.info().shared_up_to,
                              a.why != failure::address_space && device_.refused_on_purpose() ? failure::injected : a.why};
    o.cause = judge_failure(scene, allocator_);
    o.message = failure_in_words(o);
    throw pass_ended{o};
}

void pass_runner::external_failed(const event& e)
{
    outcome o = scene_of_failure(status::oom);
    const failure_scene scene{e.bytes, e.bytes, device_.info().raw_margin, live_ + external_live_, start_free_, o.driver_free_bytes,
                              device_.info().physical_block, device_.info().shared_up_to, failure::memory};
    const bool starved = free_if_given_back(scene, allocator_) >= free_needed(scene);
    if (starved) o.what = status::starved;
    o.cause = "external";
    if (device_.refused_on_purpose()) {
        o.what = status::oom;
        o.cause = "injected";
    }
    o.message = external_failure_in_words(o);
    throw pass_ended{o};
}

void pass_runner::finish()
{
    m_.events = index_;
    if (!work_ended_) end_of_work();
}

/// What follows is the engine's way out, which is neither the allocator's nor a token's: giving back weights takes milliseconds.
void pass_runner::end_of_work()
{
    work_ended_ = true;
    m_.calls = difference(difference(device_.calls(), calls_before_), external_calls_);
    m_.refused = difference(device_.refused_calls(), refused_before_);
    account_allocator(allocator_.stats());
    come_to_rest();
    account_time(clock_.now_ps());
}

/// A capture that the end of the pass interrupted is closed, then the device becomes idle. A device that is broken by
/// then has an outcome already, or gets it here.
void pass_runner::come_to_rest()
{
    try {
        if (capturing_) device_.capture_end(capturing_->stream, capturing_->id);
        capturing_.reset();
        device_.sync_device();
    } catch (const device_error& e) {
        if (m_.result.what == status::completed) failed_with(status::crashed, e.what());
    }
}

void pass_runner::failed_with(status what, const char* message)
{
    m_.result = scene_of_failure(what);
    m_.result.message = message;
}

void pass_runner::account_allocator(const allocator_stats& s)
{
    m_.end_reserved_bytes = s.reserved;
    m_.cached_blocks = allocator_.cached_blocks();
    m_.failures = s.failures - stats_before_.failures;
    m_.recoveries = s.recoveries - stats_before_.recoveries;
    m_.flushes = s.flushes - stats_before_.flushes;
    m_.flushed_bytes = s.flushed_bytes - stats_before_.flushed_bytes;
    m_.evictions = s.evictions - stats_before_.evictions;
    m_.evicted_bytes = s.evicted_bytes - stats_before_.evicted_bytes;
    // A failed call of a driver's pool may have held more for a moment than it did before and after.
    if (stats_before_.peak_reserved == 0) m_.peak_reserved_bytes = std::max(m_.peak_reserved_bytes, s.peak_reserved);
    fold_device_peak();
}

/// The device is idle since `end`.
void pass_runner::account_time(std::int64_t end)
{
    note_floor();
    end_step(end);
    m_.time_ps = end - begin_ps_;
    m_.phases = steps_.used();
    live_over_time_.change(end, live_);
    reserved_over_time_.change(end, reserved_);
    m_.live_byte_ps = live_over_time_.total();
    m_.reserved_byte_ps = reserved_over_time_.total();
    if (m_.result.what == status::crashed) return;    // the device may answer nothing any more
    long_calls_.resolve();
    m_.unsplit_calls = long_calls_.unsplit();
    m_.activity = device_.activity();
    m_.activity.span_ps -= begin_ps_ - opened_ps_;
    if (m_.activity.empty_queue_ps >= 0) m_.activity.empty_queue_ps -= begin_ps_ - opened_ps_;    // below: not known
    m_.first_recoveries = recoveries_.resolve(device_);
    m_.recovery = allocator_.take_recovery();
}

void pass_runner::account_hazards()
{
    if (!observer_) return;
    m_.hazard_count = observer_->hazard_count() - hazards_before_;
    if (m_.hazard_count == 0) return;
    m_.hazards = observer_->hazards();
    m_.result.what = status::corrupted;
    if (m_.hazards.empty()) return;
    const hazard& first = m_.hazards.front();
    m_.result.cause = first.kind;
    m_.result.message = first.message;
    m_.result.event = first.event;
}

/// After the clock: blocks that the trace never freed or that a failure left go back in reverse order, so that the next
/// pass starts from an empty trace on the same allocator.
void pass_runner::free_what_is_left()
{
    if (m_.result.what == status::crashed) return;    // what broke once is not asked again; its destructor cleans up
    std::vector<std::uint32_t> left;
    for (std::uint32_t id = 0; id < blocks_.size(); ++id)
        if (blocks_[id].pointer) left.push_back(id);
    std::sort(left.begin(), left.end(), [&](auto x, auto y) { return blocks_[x].born > blocks_[y].born; });
    try {
        for (const auto id : left) {
            const auto& b = blocks_[id];
            if (observer_) observer_->freed(id, b.pointer, b.granted, b.stream);
            allocator_.deallocate(b.pointer, b.granted, b.stream);
        }
        for (std::uint32_t id = 0; id < externals_.size(); ++id)
            if (externals_[id].pointer) external_free(id);
    } catch (const std::exception& e) {
        if (m_.result.what == status::completed) {
            m_.result.what = status::crashed;
            m_.result.message = e.what();
        }
    }
}

/// A reason why the allocator cannot run this trace, to be found before it starts; empty if there is none.
std::string cannot_run(const allocator_traits& traits, const trace_summary& summary)
{
    if (traits.needs_lifo && !summary.lifo)
        return "frees must be last in, first out on each stream; the trace breaks that at event " +
               std::to_string(summary.first_non_lifo_event);
    if (!traits.keeps_freed && summary.first_replay_of_freed)
        return "event " + std::to_string(summary.first_replay_of_freed - 1) +
               " replays a graph that uses blocks freed since its capture, and freed memory goes back to the driver";
    if (summary.max_alignment > traits.max_alignment)
        return "the trace asks for an alignment of " + std::to_string(summary.max_alignment) + " bytes, the allocator gives " +
               std::to_string(traits.max_alignment);
    return "";
}

/// The process's own pool outlives the allocator, with what it has.
bool keeps_memory(const cell& c) { return c.allocator.spec.find("pool=default") != std::string::npos; }

/// Timed repetitions on a card verify a sample of what kernels read, at a small cost; the verify repetition all of it.
device_options options_for(const cell& c, role what, const run_controls& controls)
{
    device_options o;
    o.vram_limit_bytes = c.vram_limit_bytes;
    o.follow_free_memory = what == role::memory;
    o.current_call = controls.current_call;
    if (!c.inject.empty()) o.inject = parse_fault_rule(c.inject, 0);
    o.check = c.verify == verify_level::off  ? integrity_check::off
              : what == role::verify         ? integrity_check::full
              : c.on.simulated && c.verify == verify_level::full ? integrity_check::full
                                             : integrity_check::sample;
    return o;
}

const pass_measurement& last_pass(const repetition& r) { return r.steady ? *r.steady : r.cold; }

/// What a driver keeps after a request that it could not serve, with the allocator gone; a block more or less is nobody's.
void look_what_is_kept(pass_measurement& last, const cell& c, device& dev, std::uint64_t start_free)
{
    if (!ran_out_of_memory(last.result.what) || keeps_memory(c)) return;
    quietly([&] {
        const std::uint64_t now = dev.query_memory().free_bytes, missing = start_free - std::min(start_free, now);
        last.result.kept_by_driver_bytes = missing > dev.info().physical_block ? missing : 0;
    });
}

/// With the allocator gone the card must be as free as it was: else another process took or gave back memory.
std::optional<std::string> foreign_memory(const repetition& r, const cell& c, device& dev, std::uint64_t start_free)
{
    if (c.on.simulated) return std::nullopt;
    if (keeps_memory(c)) return std::nullopt;
    const std::uint64_t now = dev.query_memory().free_bytes;
    // After a failure a driver may keep memory; `kept_by_driver_bytes` says so, and measuring again would not help.
    if (now < start_free && ran_out_of_memory(last_pass(r).result.what)) return std::nullopt;
    const std::uint64_t moved = now > start_free ? now - start_free : start_free - now;
    if (moved <= dev.info().physical_block) return std::nullopt;
    return "memory outside this process changed by " + human_size(moved);
}

/// Why the figures of a finished repetition must not be used. A broken card answers nothing; its outcome says so already.
std::optional<std::string> why_disturbed(const repetition& r, const cell& c, device& dev, std::uint64_t start_free)
{
    if (last_pass(r).result.what == status::crashed) return std::nullopt;
    std::optional<std::string> why;
    if (r.what == role::timed && r.before && r.after) why = clocks_disturbed(*r.before, *r.after);
    if (!why) quietly([&] { why = foreign_memory(r, c, dev, start_free); });
    return why;
}

/// `ideal` on the device that the allocator has left. None where it cannot run or does not complete: it may not fit under the
/// limit. Throws run_interrupted.
std::optional<reference_measurement> measure_reference(const cell& c, device& dev, const kernel_settings& kernels,
                                                       std::uint64_t start_free, const run_controls& controls)
{
    const trace& t = *c.workload->recipe;
    const trace_summary& summary = c.workload->summary;
    try {
        const auto line = make_allocator(choose_allocator("ideal"), dev, summary.streams);
        line->prepare(t, summary);
        pass_measurement p = run_pass(t, summary, dev, *line, c.mode, kernels, start_free, controls);
        if (p.result.what != status::completed) return std::nullopt;
        for (phase_measurement& f : p.phases) f.step = {};
        return reference_measurement{p.time_ps, std::move(p.phases), p.activity};
    } catch (const unsupported_error&) {
        return std::nullopt;
    } catch (const device_error&) {
        return std::nullopt;
    }
}

/// Host time that warming a process may take, and the pause after it. Memory that was given back a moment ago is slow to get
/// (docs/calibration.md: 7.5 ms within 1 ms on an H200, cleaned at about 400 GB/s), which is not the allocator's doing.
constexpr std::chrono::milliseconds warm_up_time{250}, warm_up_pause{50};

/// The first part of the trace over `ideal`, with kernels that do not last. What a process pays once (the host's memory for
/// what graphs record, first launches) would else stand in the cold pass alone, and so in the time that the allocator adds.
void warm_process(const cell& c, device& dev, const run_controls& controls)
{
    run_controls shortly = controls;
    shortly.timeout = warm_up_time;
    measure_reference(c, dev, {kernel_model::hold, 0.0}, dev.query_memory().free_bytes, shortly);
    std::this_thread::sleep_for(warm_up_pause);
}

repetition not_started(repetition r, status what, const std::string& why)
{
    r.cold.result.what = what;
    r.cold.result.message = why;
    return r;
}

}  // namespace

pass_measurement run_pass(const trace& t, const trace_summary& summary, device& dev, allocator& alloc, run_mode mode,
                          const kernel_settings& kernels, std::uint64_t start_free_bytes, const run_controls& controls)
{
    return pass_runner(t, summary, dev, alloc, mode, kernels, start_free_bytes).run(controls);
}

repetition run_repetition(const cell& c, const allocator_maker& make, const run_controls& controls, role what)
{
    repetition r;
    r.process = ::getpid();
    const trace& t = *c.workload->recipe;
    const trace_summary& summary = c.workload->summary;
    r.what = what;
    if (!c.on.times_known) r.cold.forget_times();    // in case it is not even started
    std::unique_ptr<outside_memory> neighbour;    // its context is there before the limit is set, and after the last look at what is free
    run_controls with_neighbour = controls;
    if (!c.neighbour.empty() && !c.on.simulated) {
        try {
            neighbour = std::make_unique<neighbour_process>(own_program(), c.on.spec);
        } catch (const unsupported_error& e) {
            return not_started(std::move(r), status::unsupported, e.what());
        }
        with_neighbour.neighbour = neighbour.get();
    }
    const auto dev = open_device(c.on, options_for(c, what, controls));
    dev->set_streams(summary.streams);
    const kernel_settings kernels{c.kernels, parse_number(c.kernel_scale, "--kernel-scale", 0.0, 1e6)};
    std::unique_ptr<allocator> alloc;
    std::uint64_t start_free = 0;
    try {
        if (controls.reference && !c.on.simulated) warm_process(c, *dev, controls);
        alloc = make(*dev, summary.streams);
        const std::string why = cannot_run(alloc->traits(), summary);
        if (!why.empty()) return not_started(std::move(r), status::unsupported, why);
        dev->settle();
        start_free = dev->query_memory().free_bytes;
        alloc->prepare(t, summary);
    } catch (const unsupported_error& e) {
        return not_started(std::move(r), status::unsupported, e.what());
    } catch (const device_error& e) {
        return not_started(std::move(r), status::crashed, e.what());
    } catch (const policy_error& e) {
        return not_started(std::move(r), status::crashed, e.what());
    }
    r.before = dev->condition();
    r.cold = run_pass(t, summary, *dev, *alloc, c.mode, kernels, start_free, with_neighbour);
    if (r.cold.result.what == status::completed && !controls.cold_only)
        r.steady = run_pass(t, summary, *dev, *alloc, c.mode, kernels, start_free, with_neighbour);
    const driver_call_counts before = dev->calls();
    alloc.reset();
    pass_measurement& last = r.steady ? *r.steady : r.cold;
    last.teardown_calls = difference(dev->calls(), before);
    look_what_is_kept(last, c, *dev, start_free);
    if (controls.reference && last.result.what == status::completed)
        r.reference = measure_reference(c, *dev, kernels, start_free, with_neighbour);
    r.after = dev->condition();
    r.disturbed = why_disturbed(r, c, *dev, start_free);
    return r;
}

repetition run_repetition(const cell& c, const run_controls& controls, role what)
{
    return run_repetition(
        c, [&](device& dev, std::uint32_t streams) { return make_allocator(c.allocator, dev, streams); }, controls, what);
}

}  // namespace vrambench
