#include "tests/defects/defective_device.hpp"

#include "spec/errors.hpp"
#include "spec/spec.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <csignal>
#include <map>
#include <set>

#include <unistd.h>

namespace vrambench::test {

namespace {

constexpr const char* names[] = {
    "none", "first-pool-call-hangs", "first-pool-call-crashes", "pools-refuse", "threshold-ignored", "never-releases",
    "trim-ignored", "trim-takes-pending", "growth-waits", "free-async-waits", "narrow-window", "reuse-without-order",
    "reuse-by-allocating-stream", "reuse-after-earlier-event", "pool-memory-zeroed", "copies-lost", "fresh-memory-zeroed",
    "pool-destroy-keeps", "free-keeps", "failed-request-keeps", "error-sticks", "granularity-lies", "tail-access-refused",
    "tail-access-missing", "reservations-clash", "handles-refused", "unmap-breaks-neighbours", "kept-handle-is-stale",
    "unmap-keeps", "step-attribute-wrong"};
static_assert(std::size(names) == static_cast<std::size_t>(defect::count));

/// Address ranges, each with its length.
class ranges {
public:
    void add(device_ptr p, std::uint64_t bytes) { at_[p] = bytes; }
    void cut(device_ptr p, std::uint64_t bytes)
    {
        std::erase_if(at_, [&](const auto& r) { return r.first < p + bytes && p < r.first + r.second; });
    }
    bool touches(device_ptr p, std::uint64_t bytes) const
    {
        return std::any_of(at_.begin(), at_.end(), [&](const auto& r) { return r.first < p + bytes && p < r.first + r.second; });
    }
    const std::map<device_ptr, std::uint64_t>& all() const { return at_; }

private:
    std::map<device_ptr, std::uint64_t> at_;
};

/// The inner device's checks, and reads of memory that lost its contents.
class loss_observer final : public block_observer {
public:
    explicit loss_observer(block_observer* inner) : inner_(inner) {}
    void at_event(std::uint64_t index) override
    {
        if (inner_) inner_->at_event(index);
    }
    void allocated(std::uint32_t block, std::uint64_t p, std::uint64_t bytes, std::uint64_t granted, std::uint32_t alignment,
                   std::uint32_t stream) override
    {
        if (inner_) inner_->allocated(block, p, bytes, granted, alignment, stream);
    }
    void freed(std::uint32_t block, std::uint64_t p, std::uint64_t granted, std::uint32_t stream) override
    {
        if (inner_) inner_->freed(block, p, granted, stream);
    }
    void moved(std::uint32_t block, std::uint64_t p, std::uint64_t bytes, std::uint64_t granted, std::uint32_t alignment,
               std::uint32_t stream) override
    {
        if (inner_) inner_->moved(block, p, bytes, granted, alignment, stream);
    }
    const std::vector<hazard>& hazards() const override { return lost_.empty() && inner_ ? inner_->hazards() : lost_; }
    std::uint64_t hazard_count() const override { return lost_.size() + (inner_ ? inner_->hazard_count() : 0); }

    void read_lost(std::uint32_t block)
    {
        lost_.push_back({"pattern-mismatch", 0, UINT64_MAX, "block " + std::to_string(block) + " reads as zeros"});
    }

private:
    block_observer* inner_;
    std::vector<hazard> lost_;
};

class defective_device final : public forwarding_device {
public:
    defective_device(std::unique_ptr<device> below, defect d)
        : forwarding_device(std::move(below)), defect_(d), info_(inner().info()), observer_(inner().observer())
    {
        if (is(defect::granularity_lies)) info_.vmm_granularity = info_.vmm_smallest = 4 * KiB;
    }

    const device_info& info() const override { return info_; }
    block_observer* observer() override { return is(defect::none) ? inner().observer() : &observer_; }

    void record(event_id event, stream_id stream) override
    {
        inner().record(event, stream);
        recorded_on_[event] = stream;
    }
    void wait(event_id event, stream_id stream) override
    {
        inner().wait(event, stream);
        if (recorded_on_.count(event)) waits_for_.insert({stream, recorded_on_[event]});
    }
    void sync_stream(stream_id stream) override
    {
        check_alive();
        inner().sync_stream(stream);
        after_sync();
    }
    void sync_device() override
    {
        check_alive();
        inner().sync_device();
        after_sync();
    }

    device_ptr malloc(std::uint64_t bytes) override
    {
        check_alive();
        const device_ptr p = inner().malloc(bytes);
        if (!p && is(defect::error_sticks)) dead_ = true;
        if (p && is(defect::fresh_memory_zeroed)) losing_.add(p, bytes);
        return p;
    }
    void free(device_ptr p) override
    {
        if (is(defect::free_keeps)) return;
        losing_.cut(p, 1);
        inner().free(p);
    }

    pool_id create_pool(const pool_settings& settings) override
    {
        pool_settings s = settings;
        if (is(defect::never_releases)) s.threshold = UINT64_MAX;
        const pool_id id = inner().create_pool(s);
        pools_[id].settings = s;
        return id;
    }
    void destroy_pool(pool_id pool) override
    {
        give_deferred();
        if (is(defect::pool_destroy_keeps)) return;
        for (const pool_id more : pools_[pool].more) inner().destroy_pool(more);
        pools_.erase(pool);
        inner().destroy_pool(pool);
    }
    void trim_pool(pool_id pool, std::uint64_t keep) override;
    pool_usage usage(pool_id pool) override
    {
        pool_usage u = inner().usage(pool);
        for (const pool_id more : pools_[pool].more) u.reserved += inner().usage(more).reserved;
        if (is(defect::step_attribute_wrong)) u.reserved /= 2;
        return u;
    }
    device_ptr malloc_async(std::uint64_t bytes, pool_id pool, stream_id stream) override;
    void free_async(device_ptr p, stream_id stream) override;

    device_ptr reserve(std::uint64_t bytes) override
    {
        const bool clashes = is(defect::reservations_clash) && !reserved_.all().empty();
        const device_ptr p = clashes ? reserved_.all().begin()->first : inner().reserve(bytes);
        if (p && !clashes) reserved_.add(p, bytes);
        return p;
    }
    void unreserve(device_ptr p, std::uint64_t bytes) override
    {
        reserved_.cut(p, 1);
        inner().unreserve(p, bytes);
    }
    vmm_handle create(std::uint64_t bytes) override
    {
        if (is(defect::handles_refused) && ++handles_ > 12) return 0;
        return inner().create(bytes);
    }
    void map(device_ptr p, std::uint64_t bytes, vmm_handle handle) override
    {
        inner().map(p, bytes, handle);
        mapped_.add(p, bytes);
        if (is(defect::kept_handle_is_stale) && !was_mapped_.insert(handle).second) losing_.add(p, bytes);
    }
    void set_access(device_ptr p, std::uint64_t bytes) override
    {
        const bool is_tail = !reserved_.all().count(p);
        if (is(defect::tail_access_refused) && is_tail && reserved_.all().size() > 1)
            throw device_error(driver_call::set_access, 1, "invalid value", "the newly mapped tail");
        if (is(defect::tail_access_missing) && is_tail) closed_.add(p, bytes);
        inner().set_access(p, bytes);
    }
    void unmap(device_ptr p, std::uint64_t bytes) override
    {
        mapped_.cut(p, bytes), closed_.cut(p, bytes), losing_.cut(p, bytes);
        if (is(defect::unmap_breaks_neighbours) && inner().busy_until_ps() > clock_.now_ps())
            for (const auto& [other, length] : mapped_.all())
                if (other + length == p || p + bytes == other) losing_.add(other, length);
        inner().unmap(p, bytes);
        if (is(defect::unmap_keeps)) inner().malloc(bytes);
    }

    void copy(device_ptr to, device_ptr from, std::uint64_t bytes) override
    {
        inner().copy(to, from, bytes);
        if (is(defect::copies_lost)) losing_.add(to, bytes);
    }
    void launch(stream_id stream, std::int64_t ps, std::span<const kernel_access> accesses) override
    {
        check_alive();
        for (const auto& a : accesses) {
            if (closed_.touches(a.pointer, a.bytes)) dead_ = true;
            if (!a.write && losing_.touches(a.pointer, a.bytes)) observer_.read_lost(a.block);
        }
        check_alive();
        inner().launch(stream, ps, accesses);
    }

private:
    struct block {
        std::uint64_t bytes = 0;
        pool_id pool = 0;
        stream_id allocated_on = 0;
    };
    struct pool_state {
        pool_settings settings;
        std::set<stream_id> streams;
        std::vector<pool_id> more;           ///< pools that serve what this one would not reuse memory for
        std::map<device_ptr, std::uint64_t> freed;
    };
    struct deferred_free {
        device_ptr pointer;
        block was;
        stream_id freed_on;
    };

    bool is(defect d) const { return defect_ == d; }
    bool defers_frees() const
    {
        return is(defect::reuse_without_order) || is(defect::reuse_by_allocating_stream) || is(defect::reuse_after_earlier_event);
    }
    void check_alive() const
    {
        if (dead_) throw device_error(driver_call::launch, 700, "illegal address", "the context is dead");
    }
    void give_deferred();
    void after_sync();
    void fail_first_pool_call();
    device_ptr reuse_deferred(std::uint64_t bytes, stream_id stream);
    pool_id pool_for(std::uint64_t bytes, pool_id pool);

    defect defect_;
    device_info info_;
    loss_observer observer_;
    bool dead_ = false;
    bool pools_used_ = false;
    int handles_ = 0;
    std::map<event_id, stream_id> recorded_on_;
    std::set<std::pair<stream_id, stream_id>> waits_for_;    ///< a stream, and one whose event it waited for
    std::map<pool_id, pool_state> pools_;
    std::map<device_ptr, block> blocks_;
    std::vector<deferred_free> deferred_;
    ranges reserved_, mapped_;
    ranges closed_;                          ///< mapped, but no kernel may touch it
    ranges losing_;                          ///< what is written there is lost
    std::set<vmm_handle> was_mapped_;
};

void defective_device::give_deferred()
{
    for (const auto& d : deferred_) inner().free_async(d.pointer, d.freed_on);
    deferred_.clear();
}

void defective_device::after_sync()
{
    if (!deferred_.empty()) {
        give_deferred();
        inner().sync_device();
    }
    if (is(defect::threshold_ignored))
        for (const auto& [id, p] : pools_) inner().trim_pool(id, 0);
}

void defective_device::trim_pool(pool_id pool, std::uint64_t keep)
{
    if (is(defect::trim_ignored)) return;
    if (is(defect::trim_takes_pending)) {    // seen from outside: all is given back, and a kernel runs on
        const std::int64_t until = inner().busy_until_ps();
        inner().sync_device();
        inner().trim_pool(pool, keep);
        if (until > 0) inner().launch(0, 20'000'000'000, {});
        return;
    }
    inner().trim_pool(pool, keep);
}

void defective_device::fail_first_pool_call()
{
    if (pools_used_) return;
    pools_used_ = true;
    if (is(defect::first_pool_call_hangs))
        for (;;) ::pause();
    if (is(defect::first_pool_call_crashes)) std::raise(SIGSEGV);
}

/// A block whose free the device holds back, where the defect lets `stream` have it.
device_ptr defective_device::reuse_deferred(std::uint64_t bytes, stream_id stream)
{
    const auto fits = [&](const deferred_free& d) {
        if (d.was.bytes < bytes) return false;
        if (is(defect::reuse_without_order)) return true;
        if (is(defect::reuse_by_allocating_stream)) return d.was.allocated_on == stream;
        return waits_for_.count({stream, d.freed_on}) > 0;
    };
    const auto it = std::find_if(deferred_.begin(), deferred_.end(), fits);
    if (it == deferred_.end()) return 0;
    const device_ptr p = it->pointer;
    blocks_[p] = it->was;
    deferred_.erase(it);
    return p;
}

/// Another pool, where none of the freed blocks is close enough in size.
pool_id defective_device::pool_for(std::uint64_t bytes, pool_id pool)
{
    auto& p = pools_[pool];
    if (!is(defect::narrow_window) || p.freed.empty()) return pool;
    for (auto it = p.freed.begin(); it != p.freed.end(); ++it)
        if (it->second >= bytes && it->second <= bytes / 8 * 9) {
            p.freed.erase(it);
            return pool;
        }
    p.more.push_back(inner().create_pool(p.settings));
    return p.more.back();
}

device_ptr defective_device::malloc_async(std::uint64_t bytes, pool_id pool, stream_id stream)
{
    check_alive();
    fail_first_pool_call();
    if (is(defect::pools_refuse)) return 0;
    if (const device_ptr p = reuse_deferred(bytes, stream)) return p;
    if (is(defect::growth_waits) && inner().usage(pool).reserved < inner().usage(pool).used + bytes) inner().sync_device();
    const device_ptr p = inner().malloc_async(bytes, pool_for(bytes, pool), stream);
    if (!p && is(defect::failed_request_keeps)) inner().malloc(inner().query_memory().free_bytes / 2);
    if (!p) return 0;
    blocks_[p] = {bytes, pool, stream};
    pools_[pool].streams.insert(stream);
    losing_.cut(p, bytes);
    if (is(defect::pool_memory_zeroed) && pools_[pool].settings.threshold == 0 && pools_[pool].streams.size() > 1)
        losing_.add(p, bytes);
    return p;
}

void defective_device::free_async(device_ptr p, stream_id stream)
{
    const auto it = blocks_.find(p);
    if (is(defect::free_async_waits)) inner().sync_device();
    if (it == blocks_.end()) return inner().free_async(p, stream);
    const block was = it->second;
    blocks_.erase(it);
    pools_[was.pool].freed[p] = was.bytes;
    if (defers_frees()) deferred_.push_back({p, was, stream});
    else inner().free_async(p, stream);
}

}  // namespace

const char* to_string(defect d) { return names[static_cast<std::size_t>(d)]; }

std::vector<defect> all_defects()
{
    std::vector<defect> all;
    for (std::size_t i = 1; i < static_cast<std::size_t>(defect::count); ++i) all.push_back(static_cast<defect>(i));
    return all;
}

defect defect_named(std::string_view name)
{
    const auto it = std::find(std::begin(names), std::end(names), name);
    if (it == std::end(names))
        throw input_error("no defect " + in_quotes(name) + did_you_mean(name, {std::begin(names), std::end(names)}));
    return static_cast<defect>(it - std::begin(names));
}

std::unique_ptr<device> with_defect(std::unique_ptr<device> inner, defect d)
{
    return std::make_unique<defective_device>(std::move(inner), d);
}

}  // namespace vrambench::test
