#include "bench/check/trace_position.hpp"

#include <algorithm>
#include <optional>

namespace vrambench::checking {

namespace {

struct graph_launches {
    std::uint64_t all = 0, touching = 0;
};

class walker {
public:
    walker(const trace_header& header, const trace_summary& summary)
        : blocks_(summary.block_ids), externals_(summary.external_ids), graphs_(summary.graph_ids)
    {
        at_.phases.resize(header.phases.size());
    }

    trace_position before(const event& next) const
    {
        trace_position p = at_;
        p.at_end = false;
        p.next = next;
        return p;
    }
    const trace_position& end() const { return at_; }

    void pass(const event& e)
    {
        switch (e.kind) {
        case event_kind::alloc: return allocate(e);
        case event_kind::free: return free(e);
        case event_kind::kernel: return launch(e);
        case event_kind::record: ++at_.records; return;
        case event_kind::wait: ++at_.waits; return;
        case event_kind::sync_stream:
        case event_kind::sync_device: ++at_.syncs; return;
        case event_kind::external_alloc: at_.external_bytes += externals_[e.id] = e.bytes; return;
        case event_kind::external_free: at_.external_bytes -= externals_[e.id]; return;
        case event_kind::step: return step(e);
        case event_kind::graph_begin: graphs_[e.id] = {}, capturing_ = e.id; return;
        case event_kind::graph_end: capturing_.reset(); return;
        case event_kind::graph_launch:
            at_.launches += graphs_[e.id].all;
            at_.touching_launches += graphs_[e.id].touching;
            return;
        }
    }

private:
    void allocate(const event& e)
    {
        ++at_.allocs;
        at_.live_bytes += blocks_[e.id] = e.bytes;
        at_.peak_live_bytes = std::max(at_.peak_live_bytes, at_.live_bytes);
    }
    void free(const event& e)
    {
        ++at_.frees;
        at_.live_bytes -= blocks_[e.id];
    }
    void launch(const event& e)
    {
        std::uint64_t& all = capturing_ ? graphs_[*capturing_].all : at_.launches;
        std::uint64_t& touching = capturing_ ? graphs_[*capturing_].touching : at_.touching_launches;
        ++all;
        touching += e.n_reads + e.n_writes != 0;
    }
    void step(const event& e)
    {
        ++at_.steps;
        at_.phase = e.phase;
        ++at_.phases[e.phase].steps;
        at_.phases[e.phase].tokens += e.tokens;
    }

    trace_position at_;
    std::vector<std::uint64_t> blocks_, externals_;    // bytes
    std::vector<graph_launches> graphs_;
    std::optional<std::uint32_t> capturing_;
};

}  // namespace

std::map<std::uint64_t, trace_position> positions_in(const trace& t, const trace_summary& summary, const std::set<std::uint64_t>& indices)
{
    std::map<std::uint64_t, trace_position> found;
    walker w(t.header(), summary);
    const auto source = t.open();
    event_batch batch;
    std::uint64_t index = 0;
    auto next = indices.begin();
    while (next != indices.end() && source->fill(batch))
        for (const event& e : batch.events) {
            if (next != indices.end() && *next == index) found.emplace(*next++, w.before(e));
            w.pass(e);
            ++index;
        }
    for (; next != indices.end(); ++next) found.emplace(*next, w.end());
    return found;
}

}  // namespace vrambench::checking
