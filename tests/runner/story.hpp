#pragma once
// A trace written out event by event, with names for the events that a test speaks of: story.at("use") is the index of
// the event before which label("use") stood.

#include "workloads/trace.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace vrambench::test {

class story final : public trace {
public:
    using ids = std::vector<std::uint32_t>;

    explicit story(std::uint32_t streams = 1)
    {
        header_.name = header_.spec = "story";
        header_.streams = streams;
        header_.tags = {"first", "second"};
        header_.phases = {"prefill", "decode"};
    }

    // -- events

    story& alloc(std::uint32_t id, std::uint64_t bytes, std::uint16_t stream = 0, std::uint32_t alignment = 128, std::uint16_t tag = 0)
    {
        return add({.kind = event_kind::alloc, .tag = tag, .stream = stream, .id = id, .alignment = alignment, .bytes = bytes});
    }
    story& free(std::uint32_t id, std::uint16_t stream = 0)
    {
        return add({.kind = event_kind::free, .stream = stream, .id = id});
    }
    story& kernel(std::uint16_t stream, std::int64_t nanoseconds, const ids& reads = {}, const ids& writes = {})
    {
        return add({.kind = event_kind::kernel, .stream = stream, .nanoseconds = nanoseconds}, reads, writes);
    }
    /// A kernel whose duration follows from its arithmetic and its memory traffic.
    story& roofline(std::uint16_t stream, std::uint64_t flops, std::uint64_t bytes)
    {
        return add({.kind = event_kind::kernel, .stream = stream, .bytes = bytes, .flops = flops});
    }
    story& writes(std::uint32_t id, std::uint16_t stream = 0) { return kernel(stream, 100'000, {}, {id}); }
    story& reads(std::uint32_t id, std::uint16_t stream = 0) { return kernel(stream, 100'000, {id}, {}); }
    story& record(std::uint32_t id, std::uint16_t stream) { return add({.kind = event_kind::record, .stream = stream, .id = id}); }
    story& wait(std::uint32_t id, std::uint16_t stream) { return add({.kind = event_kind::wait, .stream = stream, .id = id}); }
    story& sync_stream(std::uint16_t stream) { return add({.kind = event_kind::sync_stream, .stream = stream}); }
    story& sync() { return add({.kind = event_kind::sync_device}); }
    story& external_alloc(std::uint32_t id, std::uint64_t bytes, std::uint16_t tag = 0)
    {
        return add({.kind = event_kind::external_alloc, .tag = tag, .id = id, .bytes = bytes});
    }
    story& external_free(std::uint32_t id) { return add({.kind = event_kind::external_free, .id = id}); }
    story& step(std::uint8_t phase = 0, std::uint64_t tokens = 0)
    {
        return add({.kind = event_kind::step, .phase = phase, .tokens = tokens});
    }
    story& graph_begin(std::uint32_t id, std::uint16_t stream = 0)
    {
        return add({.kind = event_kind::graph_begin, .stream = stream, .id = id});
    }
    story& graph_end(std::uint32_t id) { return add({.kind = event_kind::graph_end, .id = id}); }
    story& graph_launch(std::uint32_t id, std::uint16_t stream = 0)
    {
        return add({.kind = event_kind::graph_launch, .stream = stream, .id = id});
    }

    // -- names

    story& label(const std::string& name)
    {
        labels_[name] = lines_.size();
        return *this;
    }
    std::uint64_t at(const std::string& name) const { return labels_.at(name); }

    /// The same without the event of that name; the names of later events move with them.
    story without(const std::string& name) const
    {
        story s = *this;
        const std::uint64_t gone = at(name);
        s.lines_.erase(s.lines_.begin() + static_cast<std::ptrdiff_t>(gone));
        for (auto& [label, index] : s.labels_)
            if (index > gone) --index;
        return s;
    }
    /// The same with the event of that name on another stream.
    story on_stream(const std::string& name, std::uint16_t stream) const
    {
        story s = *this;
        s.lines_[at(name)].e.stream = stream;
        return s;
    }
    /// The same with the event of that name moved to stand before another.
    story moved(const std::string& name, const std::string& before) const
    {
        if (at(name) <= at(before)) throw std::logic_error("only backwards");
        story s = *this;
        const auto from = static_cast<std::ptrdiff_t>(at(name)), to = static_cast<std::ptrdiff_t>(at(before));
        std::rotate(s.lines_.begin() + to, s.lines_.begin() + from, s.lines_.begin() + from + 1);
        for (auto& [label, index] : s.labels_) {
            if (index == at(name)) index = at(before);
            else if (index >= at(before) && index < at(name)) ++index;
        }
        return s;
    }

    // -- trace

    const trace_header& header() const override { return header_; }
    std::unique_ptr<trace_source> open() const override { return std::make_unique<reader>(*this); }

private:
    struct line {
        event e;
        ids operands;
    };

    class reader final : public trace_source {
    public:
        explicit reader(const story& s) : story_(s) {}
        bool fill(event_batch& batch) override
        {
            batch.clear();
            for (; at_ < story_.lines_.size() && batch.events.size() < batch_events; ++at_) {
                const line& l = story_.lines_[at_];
                batch.events.push_back(l.e);
                batch.events.back().first_operand = static_cast<std::uint32_t>(batch.operands.size());
                batch.operands.insert(batch.operands.end(), l.operands.begin(), l.operands.end());
            }
            return !batch.events.empty();
        }

    private:
        const story& story_;
        std::size_t at_ = 0;
    };

    story& add(event e, const ids& reads = {}, const ids& writes = {})
    {
        e.n_reads = static_cast<std::uint16_t>(reads.size());
        e.n_writes = static_cast<std::uint16_t>(writes.size());
        lines_.push_back({e, reads});
        lines_.back().operands.insert(lines_.back().operands.end(), writes.begin(), writes.end());
        return *this;
    }

    trace_header header_;
    std::vector<line> lines_;
    std::map<std::string, std::uint64_t> labels_;
};

}  // namespace vrambench::test
