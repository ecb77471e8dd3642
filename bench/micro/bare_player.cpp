#include "bench/micro/bare_player.hpp"

#include "spec/errors.hpp"

namespace vrambench::micro {

bare_player::bare_player(const trace& t, const trace_summary& summary, device& dev, allocator& alloc)
    : trace_(t), device_(dev), allocator_(alloc), kernels_(dev.info(), {}), needs_accesses_(!dev.info().simulated),
      blocks_(summary.block_ids)
{
    if (summary.graph_ids != 0 || summary.external_ids != 0)
        throw input_error("--workload: a trace with graphs or external allocations cannot be played bare; name another");
}

void bare_player::play()
{
    const auto source = trace_.open();
    event_batch batch;
    while (source->fill(batch))
        for (const auto& e : batch.events) execute(e, batch);
    device_.sync_device();
    for (auto& b : blocks_) {    // that the trace never freed
        if (b.pointer) allocator_.deallocate(b.pointer, b.granted, 0);
        b.pointer = 0;
    }
}

void bare_player::execute(const event& e, const event_batch& batch)
{
    switch (e.kind) {
    case event_kind::alloc: return allocate(e);
    case event_kind::free:
        allocator_.deallocate(blocks_[e.id].pointer, blocks_[e.id].granted, e.stream);
        blocks_[e.id].pointer = 0;
        return;
    case event_kind::kernel: return launch(e, batch);
    case event_kind::record: return device_.record(e.id, e.stream);
    case event_kind::wait: return device_.wait(e.id, e.stream);
    case event_kind::sync_stream:
        device_.sync_stream(e.stream);
        return allocator_.notify(notification::safe_point);
    case event_kind::sync_device:
        device_.sync_device();
        return allocator_.notify(notification::safe_point);
    case event_kind::step: return allocator_.notify(notification::step);
    default: return;    // refused by the constructor
    }
}

void bare_player::allocate(const event& e)
{
    const allocation a = allocator_.allocate(e.bytes, e.alignment, e.stream);
    if (!a.pointer) throw input_error("the allocator ran out of memory; name a smaller --workload");
    blocks_[e.id] = {a.pointer, a.granted_bytes, e.bytes};
}

void bare_player::launch(const event& e, const event_batch& batch)
{
    accesses_.clear();
    if (needs_accesses_) {
        for (const auto id : batch.reads(e)) accesses_.push_back({blocks_[id].pointer, blocks_[id].bytes, id, false});
        for (const auto id : batch.writes(e)) accesses_.push_back({blocks_[id].pointer, blocks_[id].bytes, id, true});
    }
    device_.launch(e.stream, kernels_.duration_ps(e), accesses_);
}

}  // namespace vrambench::micro
