#include "device/sim/sim_device.hpp"

#include "device/sim/cuda_pool.hpp"
#include "device/sim/hip_pool.hpp"

#include <utility>

namespace vrambench::sim {

namespace {

// Address ranges far apart, so that no two kinds of memory can be mistaken for each other.
constexpr device_ptr raw_base = device_ptr{1} << 50;
constexpr device_ptr virtual_base = device_ptr{2} << 50;
constexpr device_ptr pool_base = device_ptr{4} << 50;
constexpr device_ptr pool_spacing = device_ptr{1} << 44;

[[noreturn]] void invalid(driver_call call, const std::string& why) { throw device_error(call, 1, "invalid value", why); }

/// Every process on a card of CUDA's holds something small beside what is free. What one of ROCm's holds is not known.
bool holds_small_block(const profile& p) { return p.shared_up_to != 0 && !find_hip_rules(p.pool_rules); }

/// What a failed request asked the driver for: chunks of the pools, or blocks.
void set_pool_step(device_info& info, const hip_rules* hip)
{
    info.pool_step = !hip ? cuda_pool::chunk_bytes : hip->vm_heap ? vm_range::chunk_bytes : info.physical_block;
    info.pool_margin = hip ? 0 : cuda_pool::chunk_margin;
}

void add_facts(device_info& info, const profile& p, const hip_rules* hip)
{
    info.facts["pool_rules"] = p.pool_rules;
    info.facts["times"] = info.times_known ? "by the profile" : "not known: none is reported";
    if (!hip) return;
    info.facts["pool_rules.releases"] = hip->releases;
    info.facts["pool_rules.confidence"] = hip->confidence;
    info.facts["pool_rules.doubt"] = hip->doubt;
    info.facts["pool_rules.marker"] = p.late_markers ? "late" : "early";
}

}  // namespace

struct sim_device::pool_slot final : pool_listener {
    pool_slot(device_ptr first, hazard_checker* c, const pool_call& why, const stream_order& o)
        : base(first), checker(c), call(why), order(o)
    {
    }

    void backed(std::uint64_t offset, std::uint64_t bytes) override { checker->memory_obtained(base + offset, bytes); }
    void unbacked(std::uint64_t offset, std::uint64_t bytes) override
    {
        checker->memory_returned(base + offset, bytes, reason());
    }
    void observed(std::uint32_t stream, mark up_to) override { checker->observed(stream, up_to); }
    void depends(std::uint32_t stream, std::uint32_t on, mark up_to) override
    {
        checker->depends(stream, on, up_to, order.clock(stream));
    }

    memory_loss reason() const
    {
        if (call.by && call.by != this) return memory_loss::other_pool;
        const bool may_release = call.how == memory_loss::remap && pool->counts().reserved > threshold;
        return may_release ? memory_loss::own_pool : call.how;
    }

    device_ptr base;
    hazard_checker* checker;
    const pool_call& call;
    const stream_order& order;
    std::uint64_t threshold = 0;             ///< the pool's
    std::unique_ptr<stream_pool> pool;
};

struct sim_device::queued_launches {
    struct stretch {
        std::int64_t start = 0, end = 0;
    };
    std::vector<stretch> ring;
    std::size_t next = 0;
    std::int64_t gap = 0;                ///< that the next kernel starts late, since a pool's block was freed before it

    std::int64_t oldest() const { return ring[next].end; }
    void push(std::int64_t start, std::int64_t end)
    {
        ring[next] = {start, end};
        next = next + 1 == ring.size() ? 0 : next + 1;
    }
    /// Adds the launches that ended after `begin`, the last first. What left the ring had ended before the host went on.
    void collect(std::int64_t begin, std::vector<std::pair<std::int64_t, std::int64_t>>& to) const
    {
        for (std::size_t i = 0, at = next; i < ring.size(); ++i) {
            at = at == 0 ? ring.size() - 1 : at - 1;
            if (ring[at].end <= begin) return;
            to.emplace_back(ring[at].start, ring[at].end);
        }
    }
};

sim_device::sim_device(profile p, std::string canonical_spec, std::uint64_t free_bytes, bool check_hazards)
    : profile_(std::move(p)), start_free_(free_bytes),
      memory_(free_bytes + (holds_small_block(profile_) ? profile_.physical_block : 0), profile_.memory_cleaning, &now_),
      heap_(memory_, profile_.physical_block, profile_.shared_up_to, profile_.raw_margin, raw_base),
      virtual_(memory_, profile_.vmm_granularity, profile_.handle_margin, profile_.address_space, virtual_base)
{
    info_.kind = "sim";
    info_.name = profile_.name;
    info_.spec = std::move(canonical_spec);
    info_.simulated = true;
    info_.total_bytes = profile_.total_bytes;
    info_.vmm_granularity = profile_.vmm_granularity;
    info_.vmm_smallest = profile_.vmm_granularity;
    info_.claims = {{"memory pools", "yes"}, {"virtual memory", profile_.vmm_granularity ? "yes" : "no"}};
    info_.physical_block = profile_.physical_block;
    info_.shared_up_to = profile_.shared_up_to;
    info_.times_known = profile_.costs_known;
    info_.raw_margin = profile_.raw_margin;
    info_.handle_margin = profile_.handle_margin;
    info_.pool_step = cuda_pool::chunk_bytes;
    info_.pool_margin = cuda_pool::chunk_margin;
    info_.flops_per_second = profile_.flops_per_second;
    info_.bytes_per_second = profile_.bytes_per_second;
    clock_ = host_clock(&now_, profile_.work_unit);
    const hip_rules* const hip = find_hip_rules(profile_.pool_rules);
    if (hip)
        hip_.emplace(hip_runtime::settings{*hip, profile_.late_markers, profile_.total_bytes, profile_.physical_block, raw_base},
                     memory_, order_, now_);
    set_pool_step(info_, hip);
    add_facts(info_, profile_, hip);
    if (check_hazards) checker_ = std::make_unique<hazard_checker>(1);
    if (holds_small_block(profile_)) heap_.allocate(1);    // what shares a block shares that one first
    memory_.reset_low_water();
    set_streams(1);
}

sim_device::~sim_device() { pool_call_ = {memory_loss::destroy}; }   // pools report what they give back at the end

void sim_device::set_streams(std::uint32_t n)
{
    order_.set_streams(n);
    queues_.resize(n);
    for (auto& q : queues_) q.ring.assign(profile_.launch_queue, {});
    meter_ = activity_meter(n == 1);
    meter_.reset(now_);
    if (checker_) checker_->set_streams(n);
}

std::int64_t sim_device::busy_until_ps() const
{
    std::int64_t end = 0;
    for (std::uint32_t s = 0; s < order_.streams(); ++s) end = std::max(end, order_.end_ps(s));
    return end;
}

std::int64_t sim_device::busy_within_ps(std::int64_t begin, std::int64_t end)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> ran;
    for (const auto& q : queues_) q.collect(begin, ran);
    std::sort(ran.begin(), ran.end());
    std::int64_t busy = 0, until = begin;
    for (const auto& [from, to] : ran) {
        const std::int64_t first = std::max(from, until), last = std::min(to, end);
        if (last <= first) continue;
        busy += last - first;
        until = last;
    }
    return busy;
}

void sim_device::forbid_in_capture(driver_call call) const
{
    if (capturing_) throw device_error(call, 900, "operation not permitted while a stream is capturing", "");
}

// -- prices

std::int64_t sim_device::price(const call_cost& cost, std::uint64_t bytes, bool growing) const
{
    if (loaded()) return cost.loaded.at(bytes);
    return growing ? cost.growing.at(bytes) : cost.idle.at(bytes);
}

std::int64_t sim_device::refusal_price(const call_cost& cost, std::uint64_t bytes, bool growing) const
{
    return cost.refused ? cost.refused->at(memory_.free_bytes()) : price(cost, bytes, growing);
}

std::int64_t sim_device::raw_price(const call_cost& cost, std::uint64_t bytes, bool growing, bool takes) const
{
    return cost.shared && !takes ? cost.shared->at(bytes) : price(cost, bytes, growing);
}

std::int64_t sim_device::price(const pool_work& w) const
{
    const auto& c = profile_.pool;
    std::int64_t t = w.new_chunks * c.per_new_chunk + w.remapped * c.per_remapped + w.mapped * c.per_mapped +
                     w.released * c.per_released + w.polled * c.per_polled;
    switch (w.how) {
    case pool_work::route::own: return t + c.own;
    case pool_work::route::completed: return t + c.completed;
    case pool_work::route::other_stream: return t + c.other_stream;
    case pool_work::route::merged: return t + c.merged;
    case pool_work::route::mapped: return t + c.map_call;
    case pool_work::route::internal: return t + c.internal;
    case pool_work::route::fail: return t + c.fail;
    }
    return t;
}

// -- streams and events

void sim_device::record(event_id event, stream_id stream)
{
    forbid_in_capture(driver_call::record);
    spend(profile_.record);
    order_.record(event, stream);
    if (checker_) checker_->recorded(event, stream, order_.clock(stream));
    count(driver_call::record);
}

void sim_device::wait(event_id event, stream_id stream)
{
    forbid_in_capture(driver_call::wait);
    spend(profile_.wait);
    order_.wait(event, stream);
    if (hip_ && order_.recorded(event)) hip_->waited(stream, order_.event_stream(event));
    if (checker_) checker_->waited(event, stream, order_.clock(stream));
    count(driver_call::wait);
}

void sim_device::sync_stream(stream_id stream)
{
    forbid_in_capture(driver_call::sync);
    now_ = std::max(now_, order_.end_ps(stream));
    spend(profile_.sync);
    if (checker_) checker_->synced_stream(stream, order_.clock(stream));
    if (hip_) hip_->synced(stream);
    if (!pools_.empty()) {
        const knowledge known = order_.covered_by_sync(stream);
        after_sync(&known);
    }
    count(driver_call::sync);
}

void sim_device::sync_device()
{
    forbid_in_capture(driver_call::sync);
    wait_for_device();
    count(driver_call::sync);
}

void sim_device::wait_for_device()
{
    now_ = std::max(now_, busy_until_ps());
    spend(profile_.sync);
    if (checker_) checker_->synced_device();
    if (hip_) hip_->synced_device();
    after_sync(nullptr);
}

/// Pools give memory back above their threshold, and the synchronising call pays for it.
void sim_device::after_sync(const knowledge* known)
{
    pool_call_ = {memory_loss::threshold};
    for (auto* p : pools_) {
        pool_work work;
        p->synchronised(known, work);
        spend(work.released * profile_.pool.per_released);
    }
}

// -- raw memory

device_ptr sim_device::malloc(std::uint64_t bytes)
{
    forbid_in_capture(driver_call::malloc);
    if (bytes == 0) invalid(driver_call::malloc, "zero bytes");
    const std::uint64_t used_before = used_bytes();
    const device_ptr p = take_raw(bytes);
    spend_cleaning();
    if (!p) {
        spend(refusal_price(profile_.malloc, bytes, true));
        count_refused(driver_call::malloc);
        return 0;
    }
    spend(raw_price(profile_.malloc, bytes, used_bytes() > highest_used_, used_bytes() != used_before));
    highest_used_ = std::max(highest_used_, used_bytes());
    if (checker_) checker_->memory_obtained(p, raw_extent(p));
    count(driver_call::malloc);
    return p;
}

device_ptr sim_device::take_raw(std::uint64_t bytes)
{
    if (hip_) return hip_->malloc(bytes);
    device_ptr p = heap_.allocate(bytes);
    if (!p && !pools_.empty()) {    // pools give back what they know to be completed, then the driver looks again
        spend(release_all_pools() * profile_.pool.per_released);
        p = heap_.allocate(bytes);
    }
    return p;
}

std::uint32_t sim_device::release_all_pools()
{
    pool_call_ = {memory_loss::raw_request};
    std::uint32_t chunks = 0;
    for (auto* p : pools_) chunks += p->release_completed();
    return chunks;
}

void sim_device::free(device_ptr pointer)
{
    forbid_in_capture(driver_call::free);
    const std::uint64_t extent = raw_extent(pointer);
    if (extent == 0) invalid(driver_call::free, "no such allocation");
    free_raw(pointer);
    if (checker_) checker_->memory_returned(pointer, extent, memory_loss::free);
    count(driver_call::free);
}

void sim_device::free_raw(device_ptr pointer)
{
    if (hip_) {
        const bool waits_first = hip_->rules().free_waits_first;
        if (waits_first) wait_for_device();
        pool_call_ = {memory_loss::pressure};
        hip_->press_all();
        if (!waits_first) wait_for_device();
        hip_->heap().free(pointer);
        return;
    }
    const bool takes = !profile_.free.shared || heap_.is_last_of_its_memory(pointer);
    const std::int64_t cost = raw_price(profile_.free, heap_.extent(pointer), false, takes);
    if (profile_.free_waits) {
        now_ = std::max(now_, busy_until_ps());
        if (checker_) checker_->synced_device();
    }
    spend(cost);
    heap_.free(pointer);
}

memory_info sim_device::query_memory()
{
    spend(profile_.memory_info);
    count(driver_call::memory_info);
    return {hip_ ? hip_->heap().reported_free() : memory_.free_bytes(), info_.total_bytes};
}

// -- stream-ordered memory

sim_device::pool_slot& sim_device::slot(pool_id pool)
{
    if (pool >= pool_slots_.size() || !pool_slots_[pool]) invalid(driver_call::malloc_async, "no such pool");
    return *pool_slots_[pool];
}

pool_id sim_device::create_pool(const pool_settings& settings)
{
    forbid_in_capture(driver_call::pool_create);
    const pool_id id = static_cast<pool_id>(pool_slots_.size());
    auto s = std::make_unique<pool_slot>(pool_base + id * pool_spacing, checker_.get(), pool_call_, order_);
    s->threshold = settings.threshold;
    if (hip_)
        s->pool = std::make_unique<hip_pool>(*hip_, pools_, settings);
    else
        s->pool = std::make_unique<cuda_pool>(pool_environment{memory_, order_, now_, pools_, info_.total_bytes}, settings);
    if (checker_) s->pool->set_listener(s.get());
    pool_slots_.push_back(std::move(s));
    count(driver_call::pool_create);
    return id;
}

void sim_device::destroy_pool(pool_id pool)
{
    forbid_in_capture(driver_call::pool_destroy);
    slot(pool);
    pool_call_ = {memory_loss::destroy};
    pool_slots_[pool].reset();
    count(driver_call::pool_destroy);
}

pool_id sim_device::default_pool()
{
    if (!default_pool_) {
        pool_settings settings;
        settings.threshold = 0;    // the default pool gives everything back at a synchronisation
        default_pool_ = create_pool(settings);
    }
    return *default_pool_;
}

void sim_device::set_threshold(pool_id pool, std::uint64_t bytes)
{
    slot(pool).threshold = bytes;
    slot(pool).pool->set_threshold(bytes);
}

void sim_device::trim_pool(pool_id pool, std::uint64_t keep_bytes)
{
    forbid_in_capture(driver_call::pool_trim);
    pool_work work;
    pool_call_ = {memory_loss::trim};
    slot(pool).pool->trim(keep_bytes, work);
    spend(profile_.pool.trim + work.released * profile_.pool.per_trimmed);
    count(driver_call::pool_trim);
}

pool_usage sim_device::usage(pool_id pool)
{
    const auto& c = slot(pool).pool->counts();
    return {c.reserved, c.reserved_high, c.used, c.used_high, c.pending};
}

device_ptr sim_device::malloc_async(std::uint64_t bytes, pool_id pool, stream_id stream)
{
    if (capturing_) throw unsupported_error("graph memory nodes are not modelled by the simulator");
    if (bytes == 0) invalid(driver_call::malloc_async, "zero bytes");
    auto& s = slot(pool);
    pool_work work;
    pool_call_ = {memory_loss::remap, &s};
    const std::uint64_t offset = s.pool->allocate(bytes, stream, work);
    spend_cleaning();
    spend(price(work));
    highest_used_ = std::max(highest_used_, used_bytes());
    if (offset == stream_pool::none) {
        count_refused(driver_call::malloc_async);
        return 0;
    }
    count(driver_call::malloc_async);
    return s.base + offset;
}

void sim_device::free_async(device_ptr pointer, stream_id stream)
{
    if (capturing_) throw unsupported_error("graph memory nodes are not modelled by the simulator");
    const std::uint64_t id = pointer < pool_base ? UINT64_MAX : (pointer - pool_base) / pool_spacing;
    if (id >= pool_slots_.size() || !pool_slots_[id]) invalid(driver_call::free_async, "not an address of a pool");
    auto& s = *pool_slots_[id];
    pool_call_ = {memory_loss::pressure};
    spend(profile_.pool.free);
    if (!s.pool->free(pointer - s.base, stream)) invalid(driver_call::free_async, "no such allocation");
    queues_[stream].gap = profile_.pool.stream_gap;
    count(driver_call::free_async);
}

// -- virtual memory

device_ptr sim_device::reserve(std::uint64_t bytes)
{
    spend(profile_.reserve);
    const device_ptr p = virtual_.reserve(bytes);
    if (p)
        count(driver_call::reserve);
    else
        count_refused(driver_call::reserve);
    return p;
}

void sim_device::unreserve(device_ptr pointer, std::uint64_t bytes)
{
    spend(profile_.unreserve);
    virtual_.unreserve(pointer, bytes);
    count(driver_call::unreserve);
}

vmm_handle sim_device::create(std::uint64_t bytes)
{
    forbid_in_capture(driver_call::create);
    const bool growing = would_grow(bytes);
    const vmm_handle h = virtual_.create(bytes);
    spend_cleaning();
    if (!h) {
        spend(refusal_price(profile_.create, bytes, growing));
        count_refused(driver_call::create);
        return 0;
    }
    spend(price(profile_.create, bytes, growing));
    highest_used_ = std::max(highest_used_, used_bytes());
    count(driver_call::create);
    return h;
}

void sim_device::map(device_ptr pointer, std::uint64_t bytes, vmm_handle handle)
{
    forbid_in_capture(driver_call::map);
    spend(price(profile_.map, bytes, false));
    virtual_.map(pointer, bytes, handle);
    count(driver_call::map);
}

void sim_device::set_access(device_ptr pointer, std::uint64_t bytes)
{
    forbid_in_capture(driver_call::set_access);
    spend(price(profile_.set_access, bytes, false));
    virtual_.set_access(pointer, bytes);
    if (checker_) checker_->memory_obtained(pointer, bytes);
    count(driver_call::set_access);
}

void sim_device::unmap(device_ptr pointer, std::uint64_t bytes)
{
    forbid_in_capture(driver_call::unmap);
    for (const auto& mapping : virtual_.unmap(pointer, bytes)) {
        spend(price(profile_.unmap, mapping.bytes, false));
        if (mapping.gave_back) spend_release(mapping.bytes);
    }
    if (checker_) checker_->memory_returned(pointer, bytes, memory_loss::unmap);
    count(driver_call::unmap);
}

void sim_device::release(vmm_handle handle)
{
    spend_release(virtual_.release(handle));
    count(driver_call::release);
}

/// Releasing a handle whose memory is still mapped does nothing yet; the call that drops the memory pays for its size.
void sim_device::spend_release(std::uint64_t dropped_bytes)
{
    spend(dropped_bytes ? price(profile_.release, dropped_bytes, false) : profile_.release_mapped);
}

// -- kernels and graphs

/// Blocks the host until the stream's launch queue has a free place.
void sim_device::wait_for_room(stream_id stream)
{
    now_ = std::max(now_, queues_[stream].oldest());    // the launch that is `depth` back must have ended
}

std::int64_t sim_device::execute(stream_id stream, std::int64_t ready, std::int64_t picoseconds)
{
    const std::int64_t gap = std::exchange(queues_[stream].gap, 0);
    const std::int64_t begin = gap ? std::max(ready, order_.end_ps(stream)) + gap : ready;
    const std::int64_t start = order_.kernel(stream, begin, picoseconds + profile_.kernel_overhead);
    meter_.kernel(ready, start, order_.end_ps(stream), now_);
    return start;
}

void sim_device::launch(stream_id stream, std::int64_t picoseconds, std::span<const kernel_access> accesses)
{
    if (capturing_ && *capturing_ == stream) {
        spend(profile_.launch);
        capture_.push_back({picoseconds, {accesses.begin(), accesses.end()}});
        return;
    }
    wait_for_room(stream);
    spend(profile_.launch);
    const std::int64_t start = execute(stream, now_ + profile_.launch_latency, picoseconds);
    queues_[stream].push(start, order_.end_ps(stream));
    if (checker_) {
        const bool replay = !accesses.empty() && accesses.front().is_replayed();
        if (replay)
            checker_->replayed(stream, order_.clock(stream), accesses);
        else
            checker_->launched(stream, order_.clock(stream), accesses);
    }
    count(driver_call::launch);
}

/// The simulator has no contents to copy, only the time that it takes.
void sim_device::copy(device_ptr, device_ptr, std::uint64_t bytes)
{
    forbid_in_capture(driver_call::launch);
    sync_device();
    const auto moved = static_cast<double>(2 * bytes) * 1e12 / static_cast<double>(profile_.bytes_per_second);
    spend(profile_.launch + static_cast<std::int64_t>(moved));
    sync_device();
}

void sim_device::capture_begin(stream_id stream)
{
    if (capturing_) throw device_error(driver_call::graph_launch, 900, "a stream is capturing already", "");
    capturing_ = stream;
    capture_.clear();
}

void sim_device::capture_end(stream_id stream, graph_id graph)
{
    if (capturing_ != stream) throw device_error(driver_call::graph_launch, 900, "the stream is not capturing", "");
    capturing_.reset();
    if (graphs_.size() <= graph) graphs_.resize(graph + 1);
    if (checker_)
        for (auto& k : capture_)
            for (auto& a : k.accesses) a.captured = checker_->current_event();
    graphs_[graph] = std::move(capture_);
    capture_.clear();
}

void sim_device::graph_launch(graph_id graph, stream_id stream)
{
    forbid_in_capture(driver_call::graph_launch);
    if (graph >= graphs_.size()) invalid(driver_call::graph_launch, "no such graph");
    wait_for_room(stream);
    spend(profile_.graph_launch);
    std::int64_t start = now_;
    for (const auto& k : graphs_[graph]) {
        const std::int64_t began = execute(stream, now_ + profile_.launch_latency, k.picoseconds);
        if (&k == &graphs_[graph].front()) start = began;    // one kernel follows the other without a gap
        if (checker_) checker_->replayed(stream, order_.clock(stream), k.accesses);
    }
    queues_[stream].push(start, order_.end_ps(stream));
    count(driver_call::graph_launch);
}

}  // namespace vrambench::sim
