#include "tests/fake_runtime/fake_gpu.hpp"

#include "device/registry.hpp"
#include "spec/units.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <thread>
#include <utility>

namespace vrambench::fake {

namespace {

constexpr std::uint32_t most_streams = 33;
constexpr device_ptr pool_spacing = device_ptr{1} << 44;         // the simulator's distance between pools

template <class Ids> std::uint32_t lend(Ids& used, std::uint32_t from)
{
    for (std::uint32_t i = from; i < used.size(); ++i)
        if (!used[i]) return used[i] = true, i;
    used.push_back(true);
    return static_cast<std::uint32_t>(used.size() - 1);
}

device_options unchecked()
{
    device_options o;
    o.check = integrity_check::off;
    return o;
}

void zero(std::uint64_t p, std::uint64_t bytes) { std::memset(reinterpret_cast<void*>(p), 0, bytes); }

}  // namespace

card::card(const switches& how, std::vector<std::string>& log)
    : how_(how), log_(log), device_(open_device(choose_device(how.device), unchecked()))
{
    device_->set_streams(most_streams);
    const std::int64_t before = device_->clock().now_ps();
    device_->charge(1);
    tick_ps_ = device_->clock().now_ps() - before;
    virtual_began_ps_ = device_->clock().now_ps();
    real_began_ = std::chrono::steady_clock::now();
    streams_.assign(1, true);
    stream_ends_.assign(most_streams, 0);
}

std::uint64_t card::stated_granularity(bool smallest) const
{
    (void)smallest;    // the simulated card has one
    return how_.has("granularity-4k") ? 4 * KiB : info().vmm_granularity;
}

// -- time

void card::catch_up()
{
    if (!how_.pace || tick_ps_ <= 0) return;
    const std::int64_t real_ps = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - real_began_).count() * 1000;
    const std::int64_t behind = real_ps - (device_->clock().now_ps() - virtual_began_ps_);
    if (behind > 0) device_->charge(static_cast<std::uint64_t>(behind / tick_ps_));
}

void card::last_as_long()
{
    if (!how_.pace) return;
    const auto end = real_began_ + std::chrono::nanoseconds((device_->clock().now_ps() - virtual_began_ps_) / 1000);
    constexpr std::chrono::milliseconds oversleeping{2};    // what a busy machine adds to a sleep
    std::this_thread::sleep_until(end - oversleeping);
    while (std::chrono::steady_clock::now() < end) {
    }
}

// -- streams and events

stream_id card::create_stream()
{
    const stream_id s = lend(streams_, 1);
    if (s >= most_streams) throw refused{out_of_memory};
    return s;
}

void card::destroy_stream(stream_id s) { streams_.at(s) = false; }

void card::sync_stream(stream_id s)
{
    device_->sync_stream(s);
    zero_pools();
    note(driver_call::sync, 0);
}

void card::sync_device()
{
    device_->sync_device();
    zero_pools();
    note(driver_call::sync, 0);
}

event_id card::create_event()
{
    const event_id e = lend(events_, 0);
    event_times_.resize(events_.size());
    return e;
}

void card::destroy_event(event_id e) { events_.at(e) = false; }

void card::record(event_id e, stream_id s)
{
    device_->record(e, s);
    event_times_.at(e) = stream_ends_[s];
    note(driver_call::record, 0);
}

void card::wait(event_id e, stream_id s)
{
    device_->wait(e, s);
    stream_ends_[s] = std::max(stream_ends_[s], event_times_.at(e));
    note(driver_call::wait, 0);
}

// -- raw memory

std::uint64_t card::malloc(std::uint64_t bytes)
{
    if (how_.has("malloc-waits")) wait_for_all();
    const device_ptr p = device_->malloc(bytes);
    note(driver_call::malloc, bytes);
    if (!p) return 0;
    host_range memory(bytes, true);
    const std::uint64_t at = memory.base();
    accessible_.add(at, bytes);
    raw_.emplace(at, raw_block{std::move(memory), p});
    return at;
}

void card::free(std::uint64_t p)
{
    const auto it = raw_.find(p);
    if (it == raw_.end()) throw refused{invalid_value};
    if (how_.has("free-keeps-memory"))
        wait_for_all();
    else
        device_->free(it->second.simulated);
    note(driver_call::free, 0);
    accessible_.remove(p, 1);
    raw_.erase(it);
}

memory_info card::query()
{
    note(driver_call::memory_info, 0);
    return device_->query_memory();
}

// -- pools

void card::pool_call()
{
    if (how_.has("pool-crashes")) std::raise(SIGSEGV);
    while (how_.has("pool-hangs")) std::this_thread::sleep_for(std::chrono::seconds(1));
}

pool_id card::create_pool()
{
    pool_call();
    const pool_id p = device_->create_pool({.threshold = 0});
    note(driver_call::pool_create, 0);
    pools_[p].memory = host_range(4 * info().total_bytes, true);
    accessible_.add(pools_[p].memory.base(), pools_[p].memory.bytes());
    return p;
}

void card::destroy_pool(pool_id p)
{
    device_->destroy_pool(p);
    note(driver_call::pool_destroy, 0);
    accessible_.remove(pools_.at(p).memory.base(), 1);
    pools_.erase(p);
}

pool_id card::default_pool()
{
    pool_call();
    if (!default_pool_) {
        default_pool_ = device_->default_pool();
        pools_[*default_pool_].memory = host_range(4 * info().total_bytes, true);
        accessible_.add(pools_[*default_pool_].memory.base(), pools_[*default_pool_].memory.bytes());
    }
    return *default_pool_;
}

void card::set_threshold(pool_id p, std::uint64_t bytes)
{
    if (how_.has("threshold-ignored")) return;
    device_->set_threshold(p, bytes);
    pools_.at(p).threshold = bytes;
}

pool_usage card::usage(pool_id p) { return device_->usage(p); }

void card::trim(pool_id p, std::uint64_t keep)
{
    if (!how_.has("trim-ignored")) device_->trim_pool(p, keep);
    note(driver_call::pool_trim, keep);
}

std::uint64_t card::malloc_async(std::uint64_t bytes, pool_id p, stream_id s)
{
    pool_call();
    if (how_.has("malloc-async-waits")) wait_for_all();
    pool_state& pool = pools_.at(p);
    const device_ptr at = device_->malloc_async(bytes, p, s);
    note(driver_call::malloc_async, bytes);
    if (!at) {
        if (how_.has("failure-keeps-memory")) lose_what_is_free(bytes);
        return 0;
    }
    if (!pool.simulated) pool.simulated = at / pool_spacing * pool_spacing;
    const std::uint64_t host = pool.memory.base() + (at - pool.simulated);
    pool.blocks[host] = bytes;
    return host;
}

void card::free_async(std::uint64_t p, stream_id s)
{
    if (how_.has("free-async-waits")) wait_for_all();
    for (auto& [id, pool] : pools_) {
        if (pool.blocks.erase(p) == 0) continue;
        device_->free_async(pool.simulated + (p - pool.memory.base()), s);
        note(driver_call::free_async, 0);
        return;
    }
    throw refused{invalid_value};
}

/// Takes what is left for the request, piece by piece, and forgets it.
void card::lose_what_is_free(std::uint64_t wanted)
{
    for (std::uint64_t piece = GiB; piece >= 32 * MiB; piece /= 2)
        while (wanted >= piece && device_->malloc(piece)) wanted -= piece;
}

void card::zero_pools()
{
    if (!how_.has("zeros") || std::count(streams_.begin(), streams_.end(), true) < 3) return;    // the null stream and two more
    for (auto& [id, pool] : pools_)
        if (pool.threshold == 0)
            for (const auto& [at, bytes] : pool.blocks) zero(at, bytes);
}

// -- virtual memory

std::map<std::uint64_t, card::reservation>::iterator card::reservation_of(std::uint64_t p)
{
    auto it = reservations_.upper_bound(p);
    if (it == reservations_.begin()) throw refused{invalid_value};
    --it;
    if (p >= it->first + it->second.memory.bytes()) throw refused{invalid_value};
    return it;
}

device_ptr card::simulated(std::uint64_t p)
{
    const auto it = reservation_of(p);
    return it->second.simulated + (p - it->first);
}

std::uint64_t card::reserve(std::uint64_t bytes)
{
    const device_ptr p = device_->reserve(bytes);
    note(driver_call::reserve, bytes);
    if (!p) return 0;
    // Ranges lie two granules apart, so that no kernel runs from one into the next.
    host_range memory(bytes + 2 * info().vmm_granularity, false);
    if (!memory.base()) {
        device_->unreserve(p, bytes);
        return 0;
    }
    const std::uint64_t granule = info().vmm_granularity, at = (memory.base() + granule - 1) / granule * granule;
    reservations_.emplace(at, reservation{std::move(memory), p});
    return at;
}

void card::unreserve(std::uint64_t p, std::uint64_t bytes)
{
    const auto it = reservations_.find(p);
    if (it == reservations_.end()) throw refused{invalid_value};
    device_->unreserve(it->second.simulated, bytes);
    note(driver_call::unreserve, bytes);
    reservations_.erase(it);
}

/// The simulator has whole granules only; a card that states less is given more.
std::uint64_t whole_granules(const device_info& info, std::uint64_t bytes) { return round_up(bytes, info.vmm_granularity); }

vmm_handle card::create(std::uint64_t bytes)
{
    if (bytes % stated_granularity(true) != 0) throw refused{invalid_value};
    const vmm_handle h = device_->create(whole_granules(info(), bytes));
    note(driver_call::create, bytes);
    if (h) handles_[h] = {store_.place(bytes), bytes};
    return h;
}

void card::map(std::uint64_t p, std::uint64_t bytes, vmm_handle h)
{
    if (how_.has("map-waits")) wait_for_all();
    auto& handle = handles_.at(h);
    if (handle.bytes != bytes) throw refused{invalid_value};
    const bool whole = bytes % info().vmm_granularity == 0 && p % info().vmm_granularity == 0;
    if (whole) device_->map(simulated(p), bytes, h);
    note(driver_call::map, bytes);
    store_.map(p, bytes, handle.offset);
    ++handle.mappings;
    mappings_[p] = {bytes, h};
}

void card::set_access(std::uint64_t p, std::uint64_t bytes)
{
    const auto in = reservation_of(p);
    const std::uint64_t granule = info().vmm_granularity;
    if (how_.has("granularity-4k") && (p % granule != 0 || bytes % granule != 0)) throw refused{invalid_value};
    if (how_.has("tail-access-refused") && reservations_.size() > 1 && p != in->first) throw refused{invalid_value};
    device_->set_access(simulated(p), bytes);
    note(driver_call::set_access, bytes);
    store_.open(p, bytes);
    accessible_.add(p, bytes);
}

void card::unmap(std::uint64_t p, std::uint64_t bytes)
{
    if (how_.has("unmap-waits")) wait_for_all();
    if (bytes % info().vmm_granularity == 0) device_->unmap(simulated(p), bytes);
    note(driver_call::unmap, bytes);
    accessible_.remove(p, bytes);
    for (auto it = mappings_.lower_bound(p); it != mappings_.end() && it->first < p + bytes; it = mappings_.erase(it)) {
        auto& handle = handles_.at(it->second.handle);
        handle_store::unmap(it->first, it->second.bytes);
        if (how_.has("handle-forgets")) store_.forget(handle.offset, handle.bytes);
        --handle.mappings;
        drop_if_unused(it->second.handle);
    }
    if (how_.has("unmap-hits-neighbour") && accessible_.covers(p + bytes, info().vmm_granularity)) zero(p + bytes, info().vmm_granularity);
}

void card::release(vmm_handle h)
{
    auto& handle = handles_.at(h);
    if (handle.released) throw refused{invalid_value};
    if (!how_.has("release-leaks")) device_->release(h);
    note(driver_call::release, 0);
    handle.released = true;
    drop_if_unused(h);
}

void card::drop_if_unused(vmm_handle h)
{
    const auto it = handles_.find(h);
    if (!it->second.released || it->second.mappings > 0) return;
    store_.forget(it->second.offset, it->second.bytes);
    handles_.erase(it);
}

// -- kernels and graphs

/// Runs it at once: what it writes is there before the next call, when the simulated card says that it ran is another matter.
void card::execute(const host_kernel& k, stream_id s)
{
    for (const auto& [at, bytes] : k.touches())
        if (!accessible_.covers(at, bytes)) {
            broken_ = illegal_access;
            return;
        }
    const std::int64_t begin = std::max(stream_ends_[s], device_->clock().now_ps());
    stream_ends_[s] = begin + k.picoseconds();
    k.run(static_cast<std::uint64_t>(begin / 1000), static_cast<std::uint64_t>(stream_ends_[s] / 1000));
}

void card::launch(std::unique_ptr<host_kernel> k, stream_id s)
{
    device_->launch(s, k->picoseconds(), {});
    if (capturing_ == s) {
        captured_.push_back(std::move(k));
        return;
    }
    execute(*k, s);
    note(driver_call::launch, 0);
}

void card::capture_begin(stream_id s)
{
    device_->capture_begin(s);
    capturing_ = s;
    captured_.clear();
}

graph_id card::capture_end(stream_id s)
{
    const graph_id g = next_graph_++;
    device_->capture_end(s, g);
    capturing_.reset();
    graphs_[g].kernels = std::exchange(captured_, {});
    return g;
}

void card::graph_launch(graph_id g, stream_id s)
{
    device_->graph_launch(g, s);
    for (const auto& k : graphs_.at(g).kernels) execute(*k, s);
    note(driver_call::graph_launch, 0);
}

void card::drop_graph(graph_id g)
{
    if (--graphs_.at(g).holders == 0) graphs_.erase(g);
}

std::string card::alive() const
{
    std::string words;
    const auto add = [&](std::size_t n, const char* what) {
        if (n) words += (words.empty() ? "" : " ") + std::to_string(n) + "-" + what;
    };
    std::size_t blocks = 0;
    for (const auto& [id, pool] : pools_) blocks += pool.blocks.size();
    add(raw_.size(), "raw");
    add(blocks, "pool-blocks");
    add(pools_.size() - (default_pool_ ? 1 : 0), "pools");
    add(reservations_.size(), "reservations");
    add(handles_.size(), "handles");
    add(static_cast<std::size_t>(std::count(streams_.begin(), streams_.end(), true)) - 1, "streams");
    add(static_cast<std::size_t>(std::count(events_.begin(), events_.end(), true)), "events");
    add(graphs_.size(), "graphs");
    return words;
}

}  // namespace vrambench::fake
