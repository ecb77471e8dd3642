#pragma once
// A device for tests: no time, no kernels. It writes every call down, keeps count of what it has lent out, notes misuse,
// and can be made to fail at any call.
//
// Memory is exact to the byte: an allocator's reserved bytes are the device's lent bytes. Pools reuse whatever is free in
// them, whatever the stream.

#include "device/device.hpp"
#include "device/sim/physical_memory.hpp"
#include "device/sim/virtual_memory.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace vrambench::test {

/// How a call fails. A call that cannot answer "out of memory" throws device_error with that name.
enum class fault { out_of_memory, error };

class scripted_device final : public device {
public:
    static constexpr std::uint64_t granularity = 2 * MiB;
    static constexpr device_ptr raw_base = device_ptr{1} << 50;
    static constexpr device_ptr virtual_base = device_ptr{2} << 50;
    static constexpr device_ptr pool_base = device_ptr{4} << 50;

    explicit scripted_device(std::uint64_t capacity = std::uint64_t{1} << 50, std::uint64_t address_space = 1024 * GiB)
        : capacity_(capacity), memory_(capacity), virtual_(memory_, granularity, 0, address_space, virtual_base)
    {
        info_.kind = info_.name = info_.spec = "scripted";
        info_.total_bytes = capacity;
        info_.vmm_granularity = granularity;
        info_.physical_block = 1;
    }

    // -- what a test asks for and looks at

    /// The n-th call from the start (1 is the first) fails; later ones may be added.
    void fail_call(std::uint64_t n, fault how) { faults_[n] = how; }
    std::uint64_t calls_made() const { return n_; }
    /// What the n-th call was, as in the log.
    const std::string& call_at(std::uint64_t n) const { return log.at(n - 1); }

    std::vector<std::string> log;        ///< one line a call; refused ones end in " -> oom" or " -> error"
    std::vector<std::string> misuse;     ///< calls that no driver would forgive: double frees and the like

    std::uint64_t lent_bytes() const { return capacity_ - memory_.free_bytes(); }
    std::uint64_t reservations() const { return reservations_; }
    std::uint64_t own_pools() const { return pools_.size() - (default_pool_ ? 1 : 0); }

    /// Questions that a test asks on its own account neither count nor fail.
    class off_the_record {
    public:
        explicit off_the_record(scripted_device& d) : device_(d) { ++device_.muted_; }
        ~off_the_record() { --device_.muted_; }
        off_the_record(const off_the_record&) = delete;
        off_the_record& operator=(const off_the_record&) = delete;

    private:
        scripted_device& device_;
    };

    /// The log from line `first` on, joined by ", ".
    std::string log_since(std::size_t first) const
    {
        std::string all;
        for (std::size_t i = first; i < log.size(); ++i) all += (i == first ? "" : ", ") + log[i];
        return all;
    }

    // -- the device

    const device_info& info() const override { return info_; }
    void set_no_pools() { info_.has_pools = false; }
    void set_failed(const failed_features& f)
    {
        info_.why_no_pools = f.pools;
        info_.why_no_virtual_memory = f.virtual_memory;
    }
    void set_granularity(std::uint64_t bytes) { info_.vmm_granularity = bytes; }

    void set_streams(std::uint32_t) override {}
    void record(event_id, stream_id) override { begin(driver_call::record, "record"); }
    void wait(event_id, stream_id) override { begin(driver_call::wait, "wait"); }
    void sync_stream(stream_id s) override
    {
        begin(driver_call::sync, "sync stream " + std::to_string(s));
        for (auto& [id, p] : pools_) shrink(p, p.threshold);
    }
    void sync_device() override
    {
        begin(driver_call::sync, "sync device");
        for (auto& [id, p] : pools_) shrink(p, p.threshold);
    }

    device_ptr malloc(std::uint64_t bytes) override
    {
        const bool refused = begin_or_refuse(driver_call::malloc, "malloc " + std::to_string(bytes));
        if (refused || !lend(bytes)) return 0;
        const device_ptr p = next_raw_;
        next_raw_ += round_up(bytes, 512);
        raw_[p] = bytes;
        return p;
    }
    void free(device_ptr pointer) override
    {
        const auto it = raw_.find(pointer);
        if (it == raw_.end()) return wrong("free of an address that is not allocated");
        begin(driver_call::free, "free " + std::to_string(it->second));
        memory_.give(it->second);
        raw_.erase(it);
    }
    memory_info query_memory() override
    {
        begin(driver_call::memory_info, "memory_info");
        return {memory_.free_bytes(), capacity_};
    }

    pool_id create_pool(const pool_settings& s) override
    {
        begin(driver_call::pool_create, "pool_create " + threshold_text(s.threshold));
        return add_pool(s.threshold);
    }
    void destroy_pool(pool_id id) override
    {
        begin(driver_call::pool_destroy, "pool_destroy");
        if (pools_.at(id).used != 0) wrong("pool_destroy with blocks in use");
        memory_.give(pools_.at(id).reserved);
        pools_.erase(id);
    }
    pool_id default_pool() override
    {
        begin(driver_call::pool_create, "default_pool");
        if (!default_pool_) default_pool_ = add_pool(0);
        return *default_pool_;
    }
    void set_threshold(pool_id id, std::uint64_t bytes) override
    {
        begin(driver_call::pool_create, "set_threshold " + threshold_text(bytes));
        pools_.at(id).threshold = bytes;
    }
    void trim_pool(pool_id id, std::uint64_t keep_bytes) override
    {
        begin(driver_call::pool_trim, "trim_pool " + std::to_string(keep_bytes));
        shrink(pools_.at(id), keep_bytes);
    }
    pool_usage usage(pool_id id) override
    {
        begin(driver_call::memory_info, "usage");
        const pool& p = pools_.at(id);
        return {p.reserved, p.reserved_high, p.used, p.used_high, 0};
    }
    device_ptr malloc_async(std::uint64_t bytes, pool_id id, stream_id s) override
    {
        const std::string text = "malloc_async " + std::to_string(bytes) + " stream " + std::to_string(s);
        if (begin_or_refuse(driver_call::malloc_async, text)) return 0;
        pool& p = pools_.at(id);
        if (p.used + bytes > p.reserved) {
            if (!lend(p.used + bytes - p.reserved)) return 0;
            p.reserved = p.used + bytes;
        }
        p.used += bytes;
        p.reserved_high = std::max(p.reserved_high, p.reserved);
        p.used_high = std::max(p.used_high, p.used);
        const device_ptr pointer = next_pooled_;
        next_pooled_ += round_up(bytes, 512);
        pooled_[pointer] = {id, bytes};
        return pointer;
    }
    void free_async(device_ptr pointer, stream_id s) override
    {
        const auto it = pooled_.find(pointer);
        if (it == pooled_.end()) return wrong("free_async of an address that is not allocated");
        begin(driver_call::free_async, "free_async " + std::to_string(it->second.second) + " stream " + std::to_string(s));
        pools_.at(it->second.first).used -= it->second.second;
        pooled_.erase(it);
    }

    device_ptr reserve(std::uint64_t bytes) override
    {
        if (begin_or_refuse(driver_call::reserve, "reserve " + std::to_string(bytes))) return 0;
        const device_ptr p = virtual_.reserve(bytes);
        if (!p) return refuse();
        ++reservations_;
        last_reservation_ = p;
        return p;
    }
    void unreserve(device_ptr pointer, std::uint64_t bytes) override
    {
        begin(driver_call::unreserve, "unreserve " + std::to_string(bytes));
        guarded([&] { virtual_.unreserve(pointer, bytes); });
        --reservations_;
    }
    vmm_handle create(std::uint64_t bytes) override
    {
        if (begin_or_refuse(driver_call::create, "create " + std::to_string(bytes))) return 0;
        const vmm_handle h = virtual_.create(bytes);
        return h ? h : refuse();
    }
    void map(device_ptr pointer, std::uint64_t bytes, vmm_handle handle) override
    {
        begin(driver_call::map, "map " + range_text(pointer, bytes));
        guarded([&] { virtual_.map(pointer, bytes, handle); });
    }
    void set_access(device_ptr pointer, std::uint64_t bytes) override
    {
        begin(driver_call::set_access, "set_access " + range_text(pointer, bytes));
        guarded([&] { virtual_.set_access(pointer, bytes); });
    }
    void unmap(device_ptr pointer, std::uint64_t bytes) override
    {
        begin(driver_call::unmap, "unmap " + range_text(pointer, bytes));
        guarded([&] { virtual_.unmap(pointer, bytes); });
    }
    void release(vmm_handle handle) override
    {
        begin(driver_call::release, "release");
        guarded([&] { virtual_.release(handle); });
    }

    void launch(stream_id, std::int64_t, std::span<const kernel_access>) override {}
    void capture_begin(stream_id) override {}
    void capture_end(stream_id, graph_id) override {}
    void graph_launch(graph_id, stream_id) override {}
    device_activity activity() override { return {}; }
    void reset_activity() override {}

private:
    struct pool {
        std::uint64_t threshold = 0;
        std::uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
    };

    static std::string threshold_text(std::uint64_t bytes) { return bytes == UINT64_MAX ? "max" : std::to_string(bytes); }
    std::string range_text(device_ptr pointer, std::uint64_t bytes) const
    {
        return "+" + std::to_string(pointer - last_reservation_) + " " + std::to_string(bytes);
    }

    std::optional<fault> fault_now(const std::string& text)
    {
        if (muted_) return {};
        log.push_back(text);
        const auto it = faults_.find(++n_);
        return it == faults_.end() ? std::nullopt : std::optional(it->second);
    }
    void begin(driver_call call, const std::string& text)
    {
        const auto f = fault_now(text);
        if (!f) return;
        log.back() += " -> error";
        throw device_error(call, *f == fault::out_of_memory ? 2 : 719, *f == fault::out_of_memory ? "out of memory" : "broken",
                           "injected at call " + std::to_string(n_));
    }
    /// For calls that can answer "out of memory": true if they must.
    bool begin_or_refuse(driver_call call, const std::string& text)
    {
        const auto f = fault_now(text);
        if (!f) return false;
        log.back() += *f == fault::error ? " -> error" : " -> oom";
        if (*f == fault::error) throw device_error(call, 719, "broken", "injected at call " + std::to_string(n_));
        return true;
    }
    std::uint64_t refuse()
    {
        log.back() += " -> oom";
        return 0;
    }
    bool lend(std::uint64_t bytes)
    {
        if (memory_.take(bytes)) return true;
        refuse();
        return false;
    }

    pool_id add_pool(std::uint64_t threshold)
    {
        pools_[++last_pool_] = {.threshold = threshold};
        return last_pool_;
    }
    void shrink(pool& p, std::uint64_t keep_bytes)
    {
        const std::uint64_t goal = std::max(p.used, keep_bytes);
        if (p.reserved <= goal) return;
        memory_.give(p.reserved - goal);
        p.reserved = goal;
    }

    void wrong(const std::string& what) { misuse.push_back(what); }
    template <class F> void guarded(F f)
    {
        try {
            f();
        } catch (const device_error& e) {
            wrong(e.what());
            throw;
        }
    }

    device_info info_;
    std::uint64_t capacity_;
    sim::physical_memory memory_;
    sim::virtual_memory virtual_;
    std::map<std::uint64_t, fault> faults_;
    std::uint64_t n_ = 0;
    int muted_ = 0;
    device_ptr next_raw_ = raw_base, next_pooled_ = pool_base, last_reservation_ = 0;
    std::map<device_ptr, std::uint64_t> raw_;
    std::map<device_ptr, std::pair<pool_id, std::uint64_t>> pooled_;
    std::map<pool_id, pool> pools_;
    pool_id last_pool_ = 0;
    std::optional<pool_id> default_pool_;
    std::uint64_t reservations_ = 0;
};

}  // namespace vrambench::test
