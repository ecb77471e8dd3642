#pragma once
// Traces in memory and ways to look at traces, for tests.

#include "spec/errors.hpp"
#include "workloads/event_fields.hpp"
#include "workloads/trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace vrambench::test {

using ids = std::vector<std::uint32_t>;

/// The message of the input_error that `f` throws; empty, and a failure, where it throws none.
inline std::string error_of(const std::function<void()>& f)
{
    try {
        f();
    } catch (const input_error& e) {
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
        return e.what();
    }
    ADD_FAILURE() << "no input_error";
    return {};
}

/// An event with its operands, so that events of differently cut batches can be compared.
struct full_event {
    event e;
    ids reads, writes;

    bool operator==(const full_event& o) const
    {
        const auto key = [](const event& x) {
            return std::tuple(x.kind, x.phase, x.tag, x.stream, x.n_reads, x.n_writes, x.id, x.alignment, x.bytes, x.flops,
                              x.nanoseconds, x.tokens);
        };
        return key(e) == key(o.e) && reads == o.reads && writes == o.writes;
    }
};

class memory_trace final : public trace {
public:
    trace_header head;
    std::vector<full_event> events;
    std::size_t cut = batch_events;   ///< events of a batch

    memory_trace()
    {
        head.name = "test";
        head.spec = "test";
        head.tags = {"step", "tag"};
        head.phases = {"phase"};
    }
    memory_trace& add(event e, ids reads = {}, ids writes = {})
    {
        e.n_reads = static_cast<std::uint16_t>(reads.size());
        e.n_writes = static_cast<std::uint16_t>(writes.size());
        events.push_back({e, std::move(reads), std::move(writes)});
        return *this;
    }
    memory_trace& alloc(std::uint32_t id, std::uint64_t bytes, std::uint16_t stream = 0)
    {
        return add({.kind = event_kind::alloc, .tag = 1, .stream = stream, .id = id, .bytes = bytes});
    }
    memory_trace& free(std::uint32_t id, std::uint16_t stream = 0)
    {
        return add({.kind = event_kind::free, .stream = stream, .id = id});
    }
    memory_trace& kernel(ids reads, ids writes, std::int64_t ns = -1)
    {
        return add({.kind = event_kind::kernel, .tag = 1, .nanoseconds = ns}, std::move(reads), std::move(writes));
    }

    const trace_header& header() const override { return head; }
    std::unique_ptr<trace_source> open() const override { return std::make_unique<source>(*this); }

private:
    class source final : public trace_source {
    public:
        explicit source(const memory_trace& t) : trace_(t) {}
        bool fill(event_batch& b) override
        {
            b.clear();
            for (; at_ < trace_.events.size() && b.events.size() < trace_.cut; ++at_) {
                const full_event& f = trace_.events[at_];
                b.events.push_back(f.e);
                b.events.back().first_operand = static_cast<std::uint32_t>(b.operands.size());
                b.operands.insert(b.operands.end(), f.reads.begin(), f.reads.end());
                b.operands.insert(b.operands.end(), f.writes.begin(), f.writes.end());
            }
            return !b.events.empty();
        }

    private:
        const memory_trace& trace_;
        std::size_t at_ = 0;
    };
};

/// All events of a trace. Checks what every source promises: batches of bounded size, empty at the end and from then on.
inline std::vector<full_event> events_of(const trace& t, std::size_t most = SIZE_MAX)
{
    std::vector<full_event> out;
    const auto source = t.open();
    event_batch b;
    while (source->fill(b)) {
        EXPECT_FALSE(b.events.empty());
        EXPECT_LE(b.events.size(), batch_events);
        for (const event& e : b.events) {
            out.push_back({e, {b.reads(e).begin(), b.reads(e).end()}, {b.writes(e).begin(), b.writes(e).end()}});
            if (out.size() == most) return out;
        }
    }
    EXPECT_TRUE(b.events.empty() && b.operands.empty());
    EXPECT_FALSE(source->fill(b));
    return out;
}

/// FNV-1a of all that events hold.
inline std::uint64_t hash_of(const std::vector<full_event>& events)
{
    std::uint64_t hash = 0xcbf29ce484222325u;
    const auto mix = [&](std::uint64_t value) {
        for (int i = 0; i < 8; ++i) hash = (hash ^ (value >> (8 * i) & 0xff)) * 0x100000001b3u;
    };
    for (const auto& f : events) {
        const event& e = f.e;
        for (const std::uint64_t v : {std::uint64_t(e.kind), std::uint64_t{e.phase}, std::uint64_t{e.tag},
                std::uint64_t{e.stream},
                                      std::uint64_t{e.id}, e.bytes, e.flops, std::uint64_t(e.nanoseconds), e.tokens})
            mix(v);
        for (const auto id : f.reads) mix(id);
        mix(~std::uint64_t{0});
        for (const auto id : f.writes) mix(id);
    }
    return hash;
}

}  // namespace vrambench::test
