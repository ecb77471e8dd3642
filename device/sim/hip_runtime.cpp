#include "device/sim/hip_runtime.hpp"

#include "device/sim/hip_pool.hpp"

#include <algorithm>

namespace vrambench::sim {

hip_runtime::hip_runtime(settings s, physical_memory& memory, stream_order& order, std::int64_t& now_ps)
    : settings_(std::move(s)), heap_(memory, settings_.block, settings_.first), order_(order), now_ps_(now_ps)
{
}

bool hip_runtime::is_too_large(std::uint64_t bytes) const
{
    const std::uint64_t total = settings_.total_bytes, percent = rules().largest_percent;
    return bytes > total / 100 * percent + total % 100 * percent / 100;
}

void hip_runtime::press_all()
{
    for (hip_pool* p : pools_) p->relieve_pressure();
}

void hip_runtime::press_up_to(const hip_pool& pool)
{
    for (hip_pool* p : pools_) {
        p->relieve_pressure();
        if (p == &pool) return;
    }
}

void hip_runtime::synced(std::uint32_t stream)
{
    if (surely_done_.size() <= stream) surely_done_.resize(stream + 1);
    surely_done_[stream] = order_.clock(stream);
}

void hip_runtime::synced_device()
{
    for (std::uint32_t s = 0; s < order_.streams(); ++s) synced(s);
}

void hip_runtime::waited(std::uint32_t stream, std::uint32_t source)
{
    if (!rules().event_dependencies) return;
    for (hip_pool* p : pools_) p->follow(stream, source);
}

free_marker hip_runtime::mark_free(std::uint32_t stream)
{
    const mark at = order_.pool_op(stream);
    return {stream, at, order_.end_ps(stream), calls_, false};
}

bool hip_runtime::is_done(const free_marker& m) const
{
    if (m.surely_done || (m.stream < surely_done_.size() && m.at <= surely_done_[m.stream])) return true;
    return m.end_ps <= now_ps_ && calls_ - m.call > (settings_.late_markers ? 1u : 0u);
}

bool hip_runtime::wait_for(free_marker& m)
{
    if (is_done(m)) return false;
    now_ps_ = std::max(now_ps_, m.end_ps);
    m.surely_done = true;
    ++host_waits_;
    return true;
}

bool hip_runtime::wait_after_map()
{
    if (!rules().map_waits) return false;
    std::int64_t end = 0;
    for (std::uint32_t s = 0; s < order_.streams(); ++s) end = std::max(end, order_.end_ps(s));
    synced_device();
    if (end <= now_ps_) return false;
    now_ps_ = end;
    ++host_waits_;
    return true;
}

}  // namespace vrambench::sim
