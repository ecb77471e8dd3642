#include "device/gpu_device.hpp"

#include "device/gpu_peers.hpp"
#include "device/gpu_rates.hpp"
#include "device/kernels_launch.hpp"
#include "device/launch_log.hpp"
#include "spec/errors.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace vrambench::gpu::inline VRAMBENCH_VENDOR {

namespace {

constexpr std::uint64_t stamp_slots = std::uint64_t{1} << 20;    // 16 MiB of the device
constexpr unsigned sample_stride = 16;                           // one 512-byte group in 16 is verified

device_ptr address(const void* p) { return reinterpret_cast<device_ptr>(p); }
void* pointer(device_ptr p) { return reinterpret_cast<void*>(p); }

[[noreturn]] void fail(driver_call call, int code, const std::string& context = "")
{
    take_last_error();
    throw device_error(call, code, error_name(code), context.empty() ? error_text(code) : context);
}

/// A call whose failure is an error, whatever it is.
void check(driver_call call, int code)
{
    if (code) fail(call, code);
}

/// What the observer keeps of a block: its generation goes on over owners, so that old contents never look right.
struct block_state {
    std::uint32_t generation = 0;
    bool written = false;
};

/// Notes which blocks have contents that can be verified, and turns the kernels' report into a hazard.
class pattern_keeper final : public block_observer {
public:
    explicit pattern_keeper(mismatch_report* on_device) : on_device_(on_device) {}

    void at_event(std::uint64_t) override {}
    void allocated(std::uint32_t block, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t) override
    {
        state(block).written = false;
    }
    void freed(std::uint32_t, std::uint64_t, std::uint64_t, std::uint32_t) override {}
    void moved(std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t) override {}
    const std::vector<hazard>& hazards() const override { return found_; }
    /// Asks the device: synchronise first.
    std::uint64_t hazard_count() const override
    {
        mismatch_report r{};
        check(driver_call::memory_info, copy_out(&r, on_device_, sizeof r));
        if (r.count && found_.empty()) found_.push_back(describe(r));
        return r.count;
    }

    block_state& state(std::uint32_t block)
    {
        if (states_.size() <= block) states_.resize(block + 1);
        return states_[block];
    }

private:
    static std::string owner(std::uint64_t word)
    {
        return "block " + std::to_string(block_of(word)) + " (write " + std::to_string(generation_of(word)) + ")";
    }
    static hazard describe(const mismatch_report& r)
    {
        return {"pattern-mismatch", r.launch, UINT64_MAX,
                "launch " + std::to_string(r.launch) + " read " + owner(r.expected) + " at offset " + std::to_string(r.offset * 8) +
                    " and found the contents of " + owner(r.found) + "; " + std::to_string(r.count) + " wrong words in all"};
    }

    mismatch_report* on_device_;
    std::vector<block_state> states_;
    mutable std::vector<hazard> found_;
};

class gpu_device final : public device {
public:
    gpu_device(int ordinal, const std::string& spec, const device_options& options, volatile std::uint8_t* current_call);
    ~gpu_device() override;

    const device_info& info() const override { return info_; }
    void settle() override;

    void set_streams(std::uint32_t n) override;
    void record(event_id event, stream_id stream) override;
    void wait(event_id event, stream_id stream) override;
    void sync_stream(stream_id stream) override;
    void sync_device() override;

    device_ptr malloc(std::uint64_t bytes) override;
    void free(device_ptr p) override;
    memory_info query_memory() override;

    pool_id create_pool(const pool_settings& settings) override;
    void destroy_pool(pool_id pool) override;
    pool_id default_pool() override;
    void set_threshold(pool_id pool, std::uint64_t bytes) override;
    void trim_pool(pool_id pool, std::uint64_t keep_bytes) override;
    pool_usage usage(pool_id pool) override;
    device_ptr malloc_async(std::uint64_t bytes, pool_id pool, stream_id stream) override;
    void free_async(device_ptr p, stream_id stream) override;

    device_ptr reserve(std::uint64_t bytes) override;
    void unreserve(device_ptr p, std::uint64_t bytes) override;
    vmm_handle create(std::uint64_t bytes) override;
    void map(device_ptr p, std::uint64_t bytes, vmm_handle handle) override;
    void set_access(device_ptr p, std::uint64_t bytes) override;
    void unmap(device_ptr p, std::uint64_t bytes) override;
    void release(vmm_handle handle) override;

    void launch(stream_id stream, std::int64_t picoseconds, std::span<const kernel_access> accesses) override;
    void copy(device_ptr to, device_ptr from, std::uint64_t bytes) override;
    peer_trial try_peer(int to, int from, std::uint64_t bytes) override;
    void capture_begin(stream_id stream) override;
    void capture_end(stream_id stream, graph_id graph) override;
    void graph_launch(graph_id graph, stream_id stream) override;

    device_activity activity() override;
    std::int64_t busy_within_ps(std::int64_t begin, std::int64_t end) override;
    void reset_activity() override;
    std::optional<card_condition> condition() override;
    std::optional<card_rates> measure_rates() override;
    std::uint64_t lowest_free_bytes() const override { return options_.follow_free_memory ? lowest_free_ : UINT64_MAX; }
    void reset_low_water() override;
    block_observer* observer() override { return keeper_.get(); }

private:
    /// Says which call is being made for as long as it lives.
    class calling {
    public:
        calling(gpu_device& d, driver_call c) : at_(d.current_call_)
        {
            if (at_) *at_ = static_cast<std::uint8_t>(static_cast<int>(c) + 1);
        }
        ~calling()
        {
            if (at_) *at_ = 0;
        }

    private:
        volatile std::uint8_t* at_;
    };

    void learn_features();
    void learn_granularity();
    bool served(driver_call call, int code);
    void may_have_taken_memory();
    void warm_up();
    void touch(launch_arguments& a, const kernel_access& access);
    void match_timers();
    launch_arguments empty_launch() const;
    double chain_ns(launch_stamp* stamp);
    void measure_stamp_cost();
    std::uint64_t verifying_ns(const launch_arguments& a) const;
    bool is_logged() const { return options_.stamps && launches_ <= stamp_slots && !replayed_; }
    const launch_log& log();
    std::uint64_t overruns() const;

    int ordinal_;
    device_options options_;
    volatile std::uint8_t* current_call_;
    device_info info_;
    properties properties_{};
    virtual_memory virtual_;
    management management_;
    std::vector<stream_t> streams_;
    std::vector<event_t> events_;
    std::vector<pool_t> pools_;                 ///< by pool_id; null once destroyed
    std::optional<pool_id> default_pool_;
    std::vector<graph_exec_t> graphs_;
    std::vector<void*> ballast_;
    launch_stamp* stamps_ = nullptr;
    mismatch_report* report_ = nullptr;
    std::unique_ptr<pattern_keeper> keeper_;
    std::uint64_t launches_ = 0;                ///< since reset_activity()
    std::uint64_t stamp_cost_ns_ = 0;           ///< device time that the stamps add to a launch
    std::vector<std::int64_t> launched_ps_;     ///< host time of each, a ring like the stamps
    std::uint64_t stated_ = 0;                  ///< of the launches, those whose stated time their writing may outlast
    std::uint64_t overruns_before_ = 0;
    bool replayed_ = false;                     ///< a graph's stamps are those of its first and last replay
    std::optional<launch_log> log_;             ///< of the first logged_ launches
    std::uint64_t logged_ = 0;
    unsigned long long matched_ns_ = 0;         ///< one moment by the kernels' timer, whose origin lies far back,
    std::int64_t matched_ps_ = 0;               ///< and the same moment by the host's
    std::int64_t launch_latency_ps_ = 0;        ///< from a launch to the kernel's start on an idle card
    std::int64_t activity_began_ps_ = 0;
    std::uint64_t lowest_free_ = UINT64_MAX;
};

/// The first calls of a process in a fresh context: no driver, no such device, a card that is busy.
void open_context(int ordinal)
{
    const std::string name = std::string("no device '") + vendor_kind + ":" + std::to_string(ordinal) + "': ";
    int n = 0;
    if (const std::string why = driver_problem(); !why.empty()) throw input_error(name + why);
    if (const int e = device_count(&n)) throw input_error(name + error_text(e) + no_device_hint);
    if (ordinal >= n)
        throw input_error(name + "there " + (n == 1 ? "is 1" : "are " + std::to_string(n)) + " (numbered from 0)");
    if (const int e = select_device(ordinal)) throw input_error(name + "it cannot be used: " + error_text(e));
}

gpu_device::gpu_device(int ordinal, const std::string& spec, const device_options& options, volatile std::uint8_t* current_call)
    : ordinal_(ordinal), options_(options), current_call_(current_call)
{
    open_context(ordinal);
    check(driver_call::memory_info, get_properties(ordinal, &properties_));
    info_.kind = vendor_kind;
    info_.name = properties_.name;
    info_.spec = spec;
    info_.total_bytes = properties_.total_bytes;
    info_.physical_block = physical_block;
    info_.shared_up_to = shared_up_to;
    info_.raw_margin = info_.handle_margin = margin;
    info_.pool_step = pool_step;
    info_.pool_margin = pool_margin;
    learn_features();
    int driver = 0, runtime = 0, devices = 1;
    driver_version(&driver), runtime_version(&runtime), device_count(&devices);
    info_.facts = {{"driver_version", std::to_string(driver)}, {"runtime_version", std::to_string(runtime)},
                   {"architecture", properties_.architecture},
                   {"multiprocessors", std::to_string(properties_.multiprocessors)}, {"ecc", properties_.ecc ? "on" : "off"},
                   {"integrated", properties_.integrated ? "yes" : "no"}, {"devices", std::to_string(devices)}};
    use_rates(info_, options_.rates.value_or(card_rates{}));
    char bus[32] = {};
    check(driver_call::memory_info, bus_id(bus, sizeof bus, ordinal));
    info_.facts["clocks"] = management_.load(bus) ? std::string("read with ") + management::library
                                                  : std::string("not known: ") + management::library + " " + management_.why_not();
    if (const std::string version = management_.driver(); !version.empty()) info_.facts["driver"] = version;
    clock_ = host_clock::counter();
    launched_ps_.assign(stamp_slots, 0);    // written once, so that no launch meets a page that is not there

    void* p = nullptr;
    check(driver_call::malloc, VRAMBENCH_VENDOR::malloc(&p, stamp_slots * sizeof(launch_stamp)));
    stamps_ = static_cast<launch_stamp*>(p);
    check(driver_call::malloc, VRAMBENCH_VENDOR::malloc(&p, sizeof(mismatch_report)));
    report_ = static_cast<mismatch_report*>(p);
    check(driver_call::malloc, fill(report_, 0, sizeof(mismatch_report)));
    if (options_.check != integrity_check::off) keeper_ = std::make_unique<pattern_keeper>(report_);
    set_streams(1);
    if (options_.warm_up) warm_up();
    measure_stamp_cost();
    reset_activity();
}

gpu_device::~gpu_device()
{
    device_sync();
    for (auto x : graphs_)
        if (x) graph_exec_destroy(x);
    for (std::size_t i = 0; i < pools_.size(); ++i)
        if (pools_[i] && default_pool_ != static_cast<pool_id>(i)) pool_destroy(pools_[i]);
    for (auto e : events_)
        if (e) event_destroy(e);
    for (auto s : streams_) stream_destroy(s);
    for (auto* b : ballast_) VRAMBENCH_VENDOR::free(b);
    VRAMBENCH_VENDOR::free(stamps_);
    VRAMBENCH_VENDOR::free(report_);
}

/// What the driver states, and what of it is used.
void gpu_device::learn_features()
{
    const bool has_virtual = virtual_.load() && virtual_.supported(ordinal_);
    info_.claims = {{"memory pools", properties_.pools ? "yes" : "no"}, {"virtual memory", has_virtual ? "yes" : "no"}};
    info_.why_no_pools = options_.failed.pools;
    info_.why_no_virtual_memory = options_.failed.virtual_memory;
    info_.has_pools = properties_.pools && info_.why_no_pools.empty();
    if (has_virtual && info_.why_no_virtual_memory.empty()) learn_granularity();
    take_last_error();    // what a card does not have is no failure of the calls to come
}

void gpu_device::learn_granularity()
{
    std::size_t bytes = 0;
    if (virtual_.granularity(&bytes, ordinal_) == 0) info_.vmm_granularity = bytes;
    if (virtual_.smallest_granularity(&bytes, ordinal_) == 0) info_.vmm_smallest = bytes;
    info_.claims["granularity, recommended"] = std::to_string(info_.vmm_granularity);
    info_.claims["granularity, minimum"] = std::to_string(info_.vmm_smallest);
}

/// Every kind of call once, so that none of its first-time costs falls into a timed call. The allocator is never warmed.
void gpu_device::warm_up()
{
    if (info_.has_pools) {
        pool_t pool{};
        void* p = nullptr;
        check(driver_call::pool_create, VRAMBENCH_VENDOR::pool_create(&pool, ordinal_));
        check(driver_call::malloc_async, VRAMBENCH_VENDOR::malloc_async(&p, MiB, pool, streams_[0]));
        check(driver_call::free_async, VRAMBENCH_VENDOR::free_async(p, streams_[0]));
        check(driver_call::sync, device_sync());
        check(driver_call::pool_destroy, VRAMBENCH_VENDOR::pool_destroy(pool));
    }
    if (info_.vmm_granularity) {
        const std::uint64_t n = info_.vmm_granularity;
        std::uint64_t at = 0, handle = 0;
        check(driver_call::reserve, virtual_.reserve(&at, n));
        check(driver_call::create, virtual_.create(&handle, n, ordinal_));
        check(driver_call::map, virtual_.map(at, n, handle));
        check(driver_call::release, virtual_.release(handle));
        check(driver_call::set_access, virtual_.set_access(at, n, ordinal_));
        check(driver_call::unmap, virtual_.unmap(at, n));
        check(driver_call::unreserve, virtual_.unreserve(at, n));
    }
    void* p = nullptr;
    check(driver_call::malloc, VRAMBENCH_VENDOR::malloc(&p, 4 * MiB));
    check(driver_call::free, VRAMBENCH_VENDOR::free(p));
}

/// What every launch needs, with nothing to do.
launch_arguments gpu_device::empty_launch() const
{
    launch_arguments a;
    a.tick_ns = properties_.tick_ns;
    a.report = report_;
    return a;
}

/// Launches that take `hold_ns` each, back to back; nanoseconds of one.
double gpu_device::chain_ns(launch_stamp* stamp)
{
    constexpr int n = 200;
    launch_arguments a = empty_launch();
    a.hold_ns = 8000;    // longer than the host takes to launch
    a.stamp = stamp;
    check(driver_call::sync, device_sync());
    const std::int64_t begin = clock_.now_ps();
    for (int i = 0; i < n; ++i) check(driver_call::launch, launch_work(streams_[0], properties_.multiprocessors, a));
    check(driver_call::sync, device_sync());
    return static_cast<double>(clock_.now_ps() - begin) / (1000.0 * n);
}

/// What the stamps add to a launch. A stamped launch is made shorter by that, so that the trace takes the time that it would
/// take unmeasured.
void gpu_device::measure_stamp_cost()
{
    if (!options_.stamps) return;
    std::vector<double> added;
    for (int i = 0; i < 5; ++i) added.push_back(chain_ns(stamps_) - chain_ns(nullptr));
    std::sort(added.begin(), added.end());
    stamp_cost_ns_ = static_cast<std::uint64_t>(std::clamp(added[added.size() / 2], 0.0, 2000.0));
}

/// Takes memory until what is free is at most the limit, in blocks from the largest that fit down to the smallest physical
/// one: the result is within one such block of the limit.
void gpu_device::settle()
{
    check(driver_call::sync, device_sync());
    if (!options_.vram_limit_bytes) return;
    const std::uint64_t limit = *options_.vram_limit_bytes;
    std::size_t free_bytes = 0, total = 0;
    check(driver_call::memory_info, free_memory(&free_bytes, &total));
    if (free_bytes < limit)
        throw unsupported_error("only " + human_size(free_bytes) + " are free on the card, the limit is " + human_size(limit));
    for (std::uint64_t block = std::uint64_t{1} << 40; block >= info_.physical_block; block /= 2)
        while (free_bytes >= limit + block) {
            void* p = nullptr;
            if (VRAMBENCH_VENDOR::malloc(&p, block) != 0) {
                take_last_error();
                break;    // no such stretch: smaller blocks will do
            }
            ballast_.push_back(p);
            check(driver_call::memory_info, free_memory(&free_bytes, &total));
        }
    if (free_bytes < limit || free_bytes - limit >= info_.physical_block)
        throw unsupported_error("the limit of " + human_size(limit) + " could not be set: " + human_size(free_bytes) + " are free");
}

/// Whether the call was served. Out of memory is a value; anything else is thrown.
bool gpu_device::served(driver_call call, int code)
{
    if (code == out_of_memory) {
        take_last_error();
        count_refused(call);
        return false;
    }
    check(call, code);
    count(call);
    return true;
}

/// In the repetition that watches memory, the free bytes are asked for after every call that may have lowered them.
void gpu_device::may_have_taken_memory()
{
    if (!options_.follow_free_memory) return;
    std::size_t free_bytes = 0, total = 0;
    check(driver_call::memory_info, free_memory(&free_bytes, &total));
    lowest_free_ = std::min<std::uint64_t>(lowest_free_, free_bytes);
}

void gpu_device::reset_low_water()
{
    lowest_free_ = UINT64_MAX;
    may_have_taken_memory();
}

// -- streams and events

void gpu_device::set_streams(std::uint32_t n)
{
    while (streams_.size() < n) {
        stream_t s{};
        check(driver_call::sync, stream_create(&s));
        streams_.push_back(s);
        launch(static_cast<stream_id>(streams_.size() - 1), 1'000'000, {});
    }
    check(driver_call::sync, device_sync());
    reset_activity();
}

void gpu_device::record(event_id event, stream_id stream)
{
    const calling c(*this, driver_call::record);
    if (events_.size() <= event) events_.resize(event + 1, event_t{});
    if (!events_[event]) check(driver_call::record, event_create(&events_[event]));
    check(driver_call::record, event_record(events_[event], streams_[stream]));
    count(driver_call::record);
}

void gpu_device::wait(event_id event, stream_id stream)
{
    const calling c(*this, driver_call::wait);
    if (event >= events_.size() || !events_[event]) return;
    check(driver_call::wait, stream_wait(streams_[stream], events_[event]));
    count(driver_call::wait);
}

void gpu_device::sync_stream(stream_id stream)
{
    const calling c(*this, driver_call::sync);
    check(driver_call::sync, stream_sync(streams_[stream]));
    count(driver_call::sync);
}

void gpu_device::sync_device()
{
    const calling c(*this, driver_call::sync);
    check(driver_call::sync, device_sync());
    count(driver_call::sync);
}

// -- raw memory

device_ptr gpu_device::malloc(std::uint64_t bytes)
{
    const calling c(*this, driver_call::malloc);
    void* p = nullptr;
    if (!served(driver_call::malloc, VRAMBENCH_VENDOR::malloc(&p, bytes))) return 0;
    may_have_taken_memory();
    return address(p);
}

void gpu_device::free(device_ptr p)
{
    const calling c(*this, driver_call::free);
    check(driver_call::free, VRAMBENCH_VENDOR::free(pointer(p)));
    count(driver_call::free);
}

memory_info gpu_device::query_memory()
{
    const calling c(*this, driver_call::memory_info);
    std::size_t free_bytes = 0, total = 0;
    check(driver_call::memory_info, free_memory(&free_bytes, &total));
    count(driver_call::memory_info);
    return {free_bytes, total};
}

// -- stream-ordered memory

pool_id gpu_device::create_pool(const pool_settings& settings)
{
    const calling c(*this, driver_call::pool_create);
    pool_t p{};
    check(driver_call::pool_create, VRAMBENCH_VENDOR::pool_create(&p, ordinal_));
    pools_.push_back(p);
    const auto id = static_cast<pool_id>(pools_.size() - 1);
    set_threshold(id, settings.threshold);
    check(driver_call::pool_create, pool_set_reuse(p, settings.follow_events, settings.opportunistic, settings.internal_dependencies));
    count(driver_call::pool_create);
    return id;
}

void gpu_device::destroy_pool(pool_id pool)
{
    const calling c(*this, driver_call::pool_destroy);
    check(driver_call::pool_destroy, VRAMBENCH_VENDOR::pool_destroy(pools_[pool]));
    pools_[pool] = pool_t{};
    count(driver_call::pool_destroy);
}

pool_id gpu_device::default_pool()
{
    if (!default_pool_) {
        pool_t p{};
        check(driver_call::pool_create, pool_default(&p, ordinal_));
        pools_.push_back(p);
        default_pool_ = static_cast<pool_id>(pools_.size() - 1);
    }
    return *default_pool_;
}

void gpu_device::set_threshold(pool_id pool, std::uint64_t bytes)
{
    check(driver_call::pool_create, pool_set_threshold(pools_[pool], bytes));
}

void gpu_device::trim_pool(pool_id pool, std::uint64_t keep_bytes)
{
    const calling c(*this, driver_call::pool_trim);
    check(driver_call::pool_trim, pool_trim(pools_[pool], keep_bytes));
    count(driver_call::pool_trim);
}

pool_usage gpu_device::usage(pool_id pool)
{
    pool_usage u;
    check(driver_call::pool_create, pool_reserved(pools_[pool], &u.reserved));
    check(driver_call::pool_create, pool_reserved_high(pools_[pool], &u.reserved_high));
    check(driver_call::pool_create, pool_used(pools_[pool], &u.used));
    check(driver_call::pool_create, pool_used_high(pools_[pool], &u.used_high));
    return u;
}

device_ptr gpu_device::malloc_async(std::uint64_t bytes, pool_id pool, stream_id stream)
{
    const calling c(*this, driver_call::malloc_async);
    void* p = nullptr;
    if (!served(driver_call::malloc_async, VRAMBENCH_VENDOR::malloc_async(&p, bytes, pools_[pool], streams_[stream]))) return 0;
    may_have_taken_memory();
    return address(p);
}

void gpu_device::free_async(device_ptr p, stream_id stream)
{
    const calling c(*this, driver_call::free_async);
    check(driver_call::free_async, VRAMBENCH_VENDOR::free_async(pointer(p), streams_[stream]));
    count(driver_call::free_async);
}

// -- virtual memory

device_ptr gpu_device::reserve(std::uint64_t bytes)
{
    const calling c(*this, driver_call::reserve);
    std::uint64_t p = 0;
    return served(driver_call::reserve, virtual_.reserve(&p, bytes)) ? p : 0;
}

void gpu_device::unreserve(device_ptr p, std::uint64_t bytes)
{
    const calling c(*this, driver_call::unreserve);
    check(driver_call::unreserve, virtual_.unreserve(p, bytes));
    count(driver_call::unreserve);
}

vmm_handle gpu_device::create(std::uint64_t bytes)
{
    const calling c(*this, driver_call::create);
    std::uint64_t handle = 0;
    if (!served(driver_call::create, virtual_.create(&handle, bytes, ordinal_))) return 0;
    may_have_taken_memory();
    return handle;
}

void gpu_device::map(device_ptr p, std::uint64_t bytes, vmm_handle handle)
{
    const calling c(*this, driver_call::map);
    check(driver_call::map, virtual_.map(p, bytes, handle));
    count(driver_call::map);
}

void gpu_device::set_access(device_ptr p, std::uint64_t bytes)
{
    const calling c(*this, driver_call::set_access);
    check(driver_call::set_access, virtual_.set_access(p, bytes, ordinal_));
    count(driver_call::set_access);
}

void gpu_device::unmap(device_ptr p, std::uint64_t bytes)
{
    const calling c(*this, driver_call::unmap);
    check(driver_call::unmap, virtual_.unmap(p, bytes));
    count(driver_call::unmap);
}

void gpu_device::release(vmm_handle handle)
{
    const calling c(*this, driver_call::release);
    check(driver_call::release, virtual_.release(handle));
    count(driver_call::release);
}

// -- kernels and graphs

/// A read is verified only against contents that this owner wrote; a replayed launch has no owner and writes nothing.
void gpu_device::touch(launch_arguments& a, const kernel_access& access)
{
    if (a.n_blocks == most_blocks || access.is_replayed()) return;
    touched_block b;
    b.words = static_cast<std::uint64_t*>(pointer(access.pointer));
    b.count = access.bytes / sizeof(std::uint64_t);
    b.write = access.write;
    if (keeper_) {
        auto& s = keeper_->state(access.block);
        if (access.write) {
            ++s.generation;
            s.written = true;
        } else {
            b.verify = s.written;
        }
        b.key = pattern_key(access.block, s.generation);
    }
    a.blocks[a.n_blocks++] = b;
}

/// About what verifying takes, so that it can begin that much before the stated time is over.
std::uint64_t gpu_device::verifying_ns(const launch_arguments& a) const
{
    std::uint64_t words = 0;
    for (int n = 0; n < a.n_blocks; ++n)
        if (a.blocks[n].verify) words += a.blocks[n].count / a.stride;
    if (words == 0) return 0;
    constexpr std::uint64_t start_ns = 2000;    // the first words to arrive, with some reserve
    // Reading alone, with a stride, gets about half of what a copy reads and writes.
    return start_ns + static_cast<std::uint64_t>(16e9 * static_cast<double>(words) / static_cast<double>(info_.bytes_per_second));
}

void gpu_device::launch(stream_id stream, std::int64_t picoseconds, std::span<const kernel_access> accesses)
{
    const calling c(*this, driver_call::launch);
    launch_arguments a = empty_launch();
    for (const auto& access : accesses) touch(a, access);
    a.stride = options_.check == integrity_check::full ? 1 : sample_stride;
    const auto stated = static_cast<std::uint64_t>(picoseconds / 1000);
    a.hold_ns = stated - std::min(stated, stamp_cost_ns_);
    a.verify_at_ns = a.hold_ns - std::min<std::uint64_t>(a.hold_ns, verifying_ns(a));
    a.launch = launches_;
    if (a.n_blocks > 0 && a.hold_ns > 0) ++stated_;
    if (options_.stamps) {
        a.stamp = stamps_ + launches_ % stamp_slots;
        launched_ps_[launches_ % stamp_slots] = clock_.now_ps();
    }
    ++launches_;
    check(driver_call::launch, launch_work(streams_[stream], properties_.multiprocessors, a));
    count(driver_call::launch);
}

void gpu_device::capture_begin(stream_id stream) { check(driver_call::graph_launch, VRAMBENCH_VENDOR::capture_begin(streams_[stream])); }

void gpu_device::capture_end(stream_id stream, graph_id graph)
{
    graph_t g{};
    check(driver_call::graph_launch, VRAMBENCH_VENDOR::capture_end(streams_[stream], &g));
    if (graphs_.size() <= graph) graphs_.resize(graph + 1, graph_exec_t{});
    if (graphs_[graph]) graph_exec_destroy(graphs_[graph]);
    check(driver_call::graph_launch, graph_instantiate(&graphs_[graph], g));
    check(driver_call::graph_launch, graph_destroy(g));
}

void gpu_device::graph_launch(graph_id graph, stream_id stream)
{
    const calling c(*this, driver_call::graph_launch);
    replayed_ = true;
    check(driver_call::graph_launch, VRAMBENCH_VENDOR::graph_launch(graphs_.at(graph), streams_[stream]));
    count(driver_call::graph_launch);
}

void gpu_device::copy(device_ptr to, device_ptr from, std::uint64_t bytes)
{
    check(driver_call::sync, device_sync());
    check(driver_call::launch, copy_within(pointer(to), pointer(from), bytes));
    check(driver_call::sync, device_sync());
}

peer_trial gpu_device::try_peer(int to, int from, std::uint64_t bytes)
{
    const struct back_to_own {
        int ordinal;
        ~back_to_own() { select_device(ordinal); }
    } back{ordinal_};
    return VRAMBENCH_VENDOR::try_peer(to, from, bytes);
}

// -- measurement

void gpu_device::reset_activity()
{
    check(driver_call::sync, device_sync());
    match_timers();
    check(driver_call::sync, fill(stamps_, 0xff, stamp_slots * sizeof(launch_stamp)));
    check(driver_call::sync, device_sync());
    launches_ = stated_ = logged_ = 0;
    log_.reset();
    replayed_ = false;
    overruns_before_ = overruns();
    activity_began_ps_ = clock_.now_ps();
}

/// Matches the kernels' timer to the host's: an empty kernel runs somewhere between its launch and the end of the
/// synchronisation behind it; the tightest of a few tries counts.
void gpu_device::match_timers()
{
    std::int64_t tightest = INT64_MAX;
    for (int i = 0; i < 8; ++i) {
        check(driver_call::sync, fill(stamps_, 0xff, sizeof(launch_stamp)));
        check(driver_call::sync, device_sync());
        launch_arguments a = empty_launch();
        a.stamp = stamps_;
        const std::int64_t begin = clock_.now_ps();
        check(driver_call::launch, launch_work(streams_[0], properties_.multiprocessors, a));
        check(driver_call::sync, device_sync());
        const std::int64_t end = clock_.now_ps();
        launch_stamp s{};
        check(driver_call::memory_info, copy_out(&s, stamps_, sizeof s));
        if (end - begin >= tightest) continue;
        tightest = end - begin;
        const auto half = static_cast<std::int64_t>((~s.inverted_end - s.start) / 2) * 1000;
        launch_latency_ps_ = (end - begin) / 2 - half;
        matched_ns_ = s.start;
        matched_ps_ = begin + launch_latency_ps_;
    }
}

/// Reads the stamps, once for any number of launches, and puts them on the host's clock.
const launch_log& gpu_device::log()
{
    if (log_ && logged_ == launches_) return *log_;
    std::vector<launch_stamp> stamps(launches_);
    check(driver_call::memory_info, copy_out(stamps.data(), stamps_, launches_ * sizeof(launch_stamp)));
    const auto on_host = [&](unsigned long long ns) { return static_cast<std::int64_t>(ns - matched_ns_) * 1000 + matched_ps_; };
    std::vector<launch_times> times;
    times.reserve(launches_);
    for (std::uint64_t i = 0; i < launches_; ++i) {
        if (stamps[i].start == ~0ull) continue;    // captured, not executed
        times.push_back({launched_ps_[i] + launch_latency_ps_, on_host(stamps[i].start), on_host(~stamps[i].inverted_end)});
    }
    logged_ = launches_;
    return log_.emplace(std::move(times));
}

std::int64_t gpu_device::busy_within_ps(std::int64_t begin, std::int64_t end)
{
    return is_logged() ? log().busy_within_ps(begin, end) : -1;
}

/// Kernels that outlasted their time, since the device was opened.
std::uint64_t gpu_device::overruns() const
{
    mismatch_report r{};
    check(driver_call::memory_info, copy_out(&r, report_, sizeof r));
    return r.overruns;
}

device_activity gpu_device::activity()
{
    device_activity a;
    a.span_ps = clock_.now_ps() - activity_began_ps_;
    a.empty_queue_ps = a.busy_ps = -1;
    if (!replayed_) {
        a.stated_kernels = static_cast<std::int64_t>(stated_);
        a.overrun_kernels = static_cast<std::int64_t>(overruns() - overruns_before_);
    }
    if (!is_logged()) return a;    // the first stamps were overwritten
    a.busy_ps = log().busy_ps();
    a.empty_queue_ps = a.span_ps - log().waiting_ps();
    return a;
}

/// Read while a kernel runs, since a card that idles says nothing of the clocks that it would run at. A card that is broken
/// by now is asked too, and its errors are left to the calls that matter.
std::optional<card_condition> gpu_device::condition()
{
    if (!management_.is_loaded()) return std::nullopt;
    launch_arguments a = empty_launch();
    a.hold_ns = 20'000'000;
    launch_work(streams_[0], properties_.multiprocessors, a);
    clock_reading r{};
    const bool known = management_.read(&r);
    device_sync();
    take_last_error();
    if (!known) return std::nullopt;
    card_condition c{r.sm_mhz, r.memory_mhz, r.temperature_c, r.power_mw, {}};
    for (const auto& h : clock_holders)
        if (r.held_by & h.bit) c.held_by.emplace_back(h.name);
    return c;
}

std::optional<card_rates> gpu_device::measure_rates()
{
    return VRAMBENCH_VENDOR::measure_rates(streams_[0], properties_.multiprocessors, clock_);
}

}  // namespace

std::unique_ptr<device> open(int ordinal, const std::string& spec, const device_options& options, volatile std::uint8_t* current_call)
{
    return std::make_unique<gpu_device>(ordinal, spec, options, current_call);
}

}  // namespace vrambench::gpu
